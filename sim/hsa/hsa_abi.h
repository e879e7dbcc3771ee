/* What the door declares of HSA: types, constants and functions with the values of the specifications.
 * Sources: HSA Runtime Programmer's Reference Manual 1.2 (chapter 2 and the listings of its appendix), HSA Platform System
 * Architecture Specification 1.2 (2.9, packets), and for names with AMD the extension's public interface of ROCm 6.
 * The test hsa-abi compares them with the system's header where one is installed. */
#ifndef GFXSIM_HSA_ABI_H
#define GFXSIM_HSA_ABI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HSA_DOOR __attribute__((visibility("default")))

typedef enum hsa_status {
  HSA_SUCCESS = 0,
  HSA_INFO_BREAK = 1, /* a callback ends the iteration */
  HSA_ERROR = 0x1000,
  HSA_INVALID_ARGUMENT = 0x1001,
  HSA_INVALID_QUEUE_CREATION = 0x1002,
  HSA_INVALID_ALLOCATION = 0x1003,
  HSA_INVALID_AGENT = 0x1004,
  HSA_INVALID_SIGNAL = 0x1006,
  HSA_INVALID_QUEUE = 0x1007,
  HSA_OUT_OF_RESOURCES = 0x1008,
  HSA_INVALID_PACKET_FORMAT = 0x1009,
  HSA_NOT_INITIALIZED = 0x100b,
  HSA_INVALID_ISA = 0x100f,
  HSA_INVALID_CODE_OBJECT = 0x1010,
  HSA_INVALID_EXECUTABLE = 0x1011,
  HSA_FROZEN_EXECUTABLE = 0x1012,
  HSA_INVALID_SYMBOL_NAME = 0x1013,
  HSA_EXCEPTION = 0x1016,
  HSA_INVALID_EXECUTABLE_SYMBOL = 0x1019,
  HSA_INVALID_RUNTIME_STATE = 0x1025,
} hsa_status;

#define HSA_HANDLE(name) \
  typedef struct name {  \
    uint64_t handle;     \
  } name
HSA_HANDLE(hsa_agent);
HSA_HANDLE(hsa_isa);
HSA_HANDLE(hsa_pool);
HSA_HANDLE(hsa_signal);
HSA_HANDLE(hsa_code_object);
HSA_HANDLE(hsa_reader);
HSA_HANDLE(hsa_executable);
HSA_HANDLE(hsa_symbol);
HSA_HANDLE(hsa_loaded);

/* ---- Attributes ---- */

enum { /* hsa_system_get_info */
       HSA_SYSTEM_VERSION_MAJOR = 0,
       HSA_SYSTEM_VERSION_MINOR = 1,
       HSA_SYSTEM_TIMESTAMP = 2,
       HSA_SYSTEM_TIMESTAMP_FREQUENCY = 3,
       HSA_SYSTEM_SIGNAL_MAX_WAIT = 4,
       HSA_SYSTEM_ENDIANNESS = 5,
       HSA_SYSTEM_MACHINE_MODEL = 6,
       HSA_SYSTEM_SVM_SUPPORTED = 0x201,
       HSA_SYSTEM_SVM_BY_DEFAULT = 0x202,
       HSA_SYSTEM_XNACK = 0x206,
};

enum { /* hsa_agent_get_info */
       HSA_AGENT_NAME = 0,
       HSA_AGENT_VENDOR = 1,
       HSA_AGENT_FEATURE = 2,
       HSA_AGENT_MACHINE_MODEL = 3,
       HSA_AGENT_PROFILE = 4,
       HSA_AGENT_ROUNDING = 5,
       HSA_AGENT_WAVEFRONT = 6,
       HSA_AGENT_WORKGROUP_DIM = 7,
       HSA_AGENT_WORKGROUP_SIZE = 8,
       HSA_AGENT_GRID_DIM = 9,
       HSA_AGENT_GRID_SIZE = 10,
       HSA_AGENT_QUEUES_MAX = 12,
       HSA_AGENT_QUEUE_MIN = 13,
       HSA_AGENT_QUEUE_MAX = 14,
       HSA_AGENT_QUEUE_TYPE = 15,
       HSA_AGENT_NODE = 16,
       HSA_AGENT_DEVICE = 17,
       HSA_AGENT_CACHES = 18,
       HSA_AGENT_ISA = 19,
       HSA_AGENT_VERSION_MAJOR = 21,
       HSA_AGENT_VERSION_MINOR = 22,
       HSA_AGENT_FAST_F16 = 24,
       HSA_AGENT_CHIP_ID = 0xa000,
       HSA_AGENT_CACHELINE = 0xa001,
       HSA_AGENT_COMPUTE_UNITS = 0xa002,
       HSA_AGENT_CLOCK = 0xa003,
       HSA_AGENT_DRIVER_NODE = 0xa004,
       HSA_AGENT_BDFID = 0xa006,
       HSA_AGENT_PRODUCT = 0xa009,
       HSA_AGENT_WAVES_PER_CU = 0xa00a,
       HSA_AGENT_SIMDS_PER_CU = 0xa00b,
       HSA_AGENT_DOMAIN = 0xa00f,
       HSA_AGENT_UUID = 0xa011,
       HSA_AGENT_DIRECT_HOST = 0xa013,
       HSA_AGENT_MEMORY_AVAIL = 0xa015,
       HSA_AGENT_TIMESTAMP_FREQUENCY = 0xa016,
};

enum { HSA_DEVICE_CPU = 0, HSA_DEVICE_GPU = 1 };
enum { HSA_ISA_NAME_LENGTH = 0, HSA_ISA_NAME = 1 };

enum { /* hsa_amd_memory_pool_get_info */
       HSA_POOL_SEGMENT = 0,
       HSA_POOL_FLAGS = 1,
       HSA_POOL_SIZE = 2,
       HSA_POOL_ALLOC_ALLOWED = 5,
       HSA_POOL_GRANULE = 6,
       HSA_POOL_ALIGNMENT = 7,
       HSA_POOL_ACCESSIBLE_BY_ALL = 15,
       HSA_POOL_ALLOC_MAX = 16,
};
enum { HSA_SEGMENT_GLOBAL = 0 };
enum { HSA_POOL_KERNARG = 1, HSA_POOL_FINE = 2, HSA_POOL_COARSE = 4 };
enum { HSA_ACCESS_NEVER = 0, HSA_ACCESS_DEFAULT = 1, HSA_ACCESS_ON_REQUEST = 2 };
enum { HSA_POOL_OF_AGENT_ACCESS = 0 };

enum { /* hsa_executable_symbol_get_info */
       HSA_SYMBOL_TYPE = 0,
       HSA_SYMBOL_NAME_LENGTH = 1,
       HSA_SYMBOL_NAME = 2,
       HSA_SYMBOL_LINKAGE = 5,
       HSA_SYMBOL_VARIABLE_SIZE = 9,
       HSA_SYMBOL_KERNARG_SIZE = 11,
       HSA_SYMBOL_KERNARG_ALIGNMENT = 12,
       HSA_SYMBOL_GROUP_SIZE = 13,
       HSA_SYMBOL_PRIVATE_SIZE = 14,
       HSA_SYMBOL_DYNAMIC_STACK = 15,
       HSA_SYMBOL_IS_DEFINITION = 17,
       HSA_SYMBOL_AGENT = 20,
       HSA_SYMBOL_VARIABLE_ADDRESS = 21,
       HSA_SYMBOL_KERNEL_OBJECT = 22,
};
enum { HSA_SYMBOL_VARIABLE = 0, HSA_SYMBOL_KERNEL = 1 };

/* ---- Queues and packets ---- */

typedef struct hsa_queue {
  uint32_t type, features;
  void *base_address;
  hsa_signal doorbell_signal;
  uint32_t size, reserved1;
  uint64_t id;
} hsa_queue;

enum {
  HSA_PACKET_VENDOR = 0,
  HSA_PACKET_INVALID = 1,
  HSA_PACKET_DISPATCH = 2,
  HSA_PACKET_BARRIER_AND = 3,
  HSA_PACKET_AGENT = 4,
  HSA_PACKET_BARRIER_OR = 5,
};

typedef struct hsa_dispatch {
  uint16_t header, setup;
  uint16_t workgroup[3], reserved0;
  uint32_t grid[3]; /* in work items */
  uint32_t private_bytes, group_bytes;
  uint64_t kernel_object, kernarg, reserved2;
  hsa_signal completion;
} hsa_dispatch;

enum { HSA_BARRIER_SIGNALS = 5 };
typedef struct hsa_barrier {
  uint16_t header, reserved0;
  uint32_t reserved1;
  hsa_signal dependency[HSA_BARRIER_SIGNALS];
  uint64_t reserved2;
  hsa_signal completion;
} hsa_barrier;

_Static_assert(sizeof(hsa_dispatch) == 64 && sizeof(hsa_barrier) == 64, "an AQL packet has 64 bytes");

/* ---- Signals ---- */

enum { HSA_EQ = 0, HSA_NE = 1, HSA_LT = 2, HSA_GTE = 3 };
typedef bool hsa_signal_handler(int64_t value, void *argument);

/* ---- Events, pointers ---- */

enum { HSA_EVENT_MEMORY_FAULT = 0 };
enum { HSA_FAULT_PAGE_NOT_PRESENT = 1, HSA_FAULT_READ_ONLY = 2 };
typedef struct hsa_event {
  uint32_t type;
  hsa_agent agent;
  uint64_t address;
  uint32_t reasons;
} hsa_event;
typedef hsa_status hsa_event_handler(const hsa_event *event, void *data);

enum { HSA_POINTER_UNKNOWN = 0, HSA_POINTER_HSA = 1, HSA_POINTER_LOCKED = 2 };
typedef struct hsa_pointer_info {
  uint32_t size, type;
  void *agent_base, *host_base;
  size_t bytes;
  void *user;
  hsa_agent owner;
  uint32_t flags;
} hsa_pointer_info;

#endif
