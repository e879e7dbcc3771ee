/* gfxsim: executes AMD code objects (gfx942, gfx950) on the host, instruction by instruction.
 *
 * Functions that can fail return a gfxsim_status; gfxsim_last_error() (one per thread) says what was wrong. Nothing here
 * prints or exits. One device may be used by one thread at a time; different devices by different threads. */
#ifndef GFXSIM_H
#define GFXSIM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GFXSIM_API __attribute__((visibility("default")))

typedef enum gfxsim_status {
  GFXSIM_OK = 0,
  GFXSIM_INVALID = -1,       /* an argument, or a file that breaks its format */
  GFXSIM_NO_MEMORY = -2,     /* of the host */
  GFXSIM_UNIMPLEMENTED = -3, /* an instruction or modifier that the simulator lacks */
  GFXSIM_FAULT = -4,         /* the kernel did something wrong: see the reports */
} gfxsim_status;

GFXSIM_API const char *gfxsim_last_error(void);
/* For libraries in front of this one: makes gfxsim_last_error() say this, and returns the status. */
GFXSIM_API gfxsim_status gfxsim_fail(gfxsim_status status, const char *text);

/* ---- Device ---- */

typedef struct gfxsim_device gfxsim_device;

typedef enum gfxsim_kind {
  GFXSIM_UNIMPLEMENTED_INSTRUCTION,
  GFXSIM_BAD_PC,        /* execution left the code object's text */
  GFXSIM_OUT_OF_BOUNDS, /* of an allocation, of LDS, or of scratch */
  GFXSIM_AFTER_FREE,
  GFXSIM_MISALIGNED,
  GFXSIM_TRAP,          /* s_trap: an assertion of the program */
  GFXSIM_BUDGET,        /* more blocks than the budget: most likely an endless loop */
  GFXSIM_UNINITIALISED, /* bits that nothing wrote reach an address, a branch, EXEC or global memory */
  GFXSIM_RACE_LDS,      /* two waves on one LDS address without a barrier between */
  GFXSIM_RACE_GLOBAL,   /* two workgroups on one global address without an atomic */
  GFXSIM_WAIT,          /* a missing or too weak s_waitcnt */
  GFXSIM_BARRIER,       /* one that not all waves reach */
  GFXSIM_HOST_MEMORY,   /* a check needs more than the host has: the launch ends with GFXSIM_NO_MEMORY */
} gfxsim_kind;

/* The memory that an access is to. */
typedef enum gfxsim_space { GFXSIM_SPACE_NONE, GFXSIM_SPACE_GLOBAL, GFXSIM_SPACE_LDS, GFXSIM_SPACE_SCRATCH } gfxsim_space;

/* What is wrong with an access. */
typedef enum gfxsim_access_error {
  GFXSIM_ACCESS_NONE,       /* the finding is about no single access */
  GFXSIM_ACCESS_NOWHERE,    /* no memory is there, or host memory that this device does not reach */
  GFXSIM_ACCESS_BEYOND,     /* it begins before or ends after the allocation, the array, LDS or scratch that it belongs to */
  GFXSIM_ACCESS_GAP,        /* between the rows of an array (gfxsim_reserve) */
  GFXSIM_ACCESS_NO_PEER,    /* memory of another device (gfxsim_peer) */
  GFXSIM_ACCESS_FREED,      /* memory that was freed */
  GFXSIM_ACCESS_READ_ONLY,  /* writes code, constants of the code object, kernel arguments, or what gfxsim_protect names */
  GFXSIM_ACCESS_MISALIGNED, /* the address is no multiple of what the access needs */
} gfxsim_access_error;

/* Checks that can be switched off: bits of gfxsim_options.unchecked. Bounds are always checked. */
typedef enum gfxsim_check {
  GFXSIM_CHECK_ALIGN = 1 << 0, /* addresses of global memory and LDS are multiples of the size, at most of 4 bytes */
  GFXSIM_CHECK_UNINITIALISED = 1 << 1,
  GFXSIM_CHECK_RACE = 1 << 2,
  GFXSIM_CHECK_WAIT = 1 << 3,
  GFXSIM_CHECK_BARRIER = 1 << 4, /* every wave reaches each barrier: off unless gfxsim_options.checked has it */
  GFXSIM_CHECK_ALL = (1 << 5) - 1,
} gfxsim_check;

/* What was found, and where it was first seen. Strings live until the callback returns; lane is -1 where it means
 * nothing, address where has_address is false. A source is "file:line", with the lines that inlined it after " in "; ""
 * without debug information. */
typedef struct gfxsim_report {
  gfxsim_kind kind;
  const char *kernel, *instruction, *source, *message;
  uint64_t pc;                                  /* byte offset from the start of the ELF image, as llvm-objdump prints it */
  const char *other_instruction, *other_source; /* of a race or a wait: what this one collides with; "" where there is none */
  uint64_t other_pc;
  uint32_t workgroup[3];
  int wave, lane;
  uint64_t address;
  uint64_t count;                        /* times that this kind was found at this pc */
  const char *function, *other_function; /* of the symbol table; "" where it has none there */
  bool fatal;                            /* it ended the launch */
  bool has_address;
  /* The access that was out of bounds, to freed memory or misaligned; none and 0 for other findings. */
  gfxsim_access_error access_error;
  gfxsim_space space;
  bool writes;
  uint32_t bytes; /* of one lane */
} gfxsim_report;

GFXSIM_API const char *gfxsim_kind_name(gfxsim_kind kind);
/* The name of one bit ("race"), as the command line takes it; NULL for what is none. */
GFXSIM_API const char *gfxsim_check_name(gfxsim_check check);

/* All zero (or a NULL options) is the default. */
typedef struct gfxsim_options {
  int threads;        /* host threads a launch; 0: one per processor. With 1 the order of workgroups is fixed */
  uint64_t budget;    /* basic blocks a wave may run; 0: 2^32 */
  bool loose_bounds;  /* accept what hardware accepts: up to the end of the last 4 KiB page of an allocation */
  uint32_t unchecked; /* checks that are switched off: bits of gfxsim_check */
  /* Rules that hardware does not have: GFXSIM_CHECK_BARRIER. HIP demands that all threads reach a barrier, but hardware waits
   * for the surviving waves alone, and compiled kernels rely on that. */
  uint32_t checked;
  uint32_t reports; /* of a launch that reach the callback at most; 0: 20. gfxsim_last_error tells how many more there are */
  bool no_preload;  /* firmware that can't preload kernel arguments: start at the entry itself */
  uint32_t stack_bytes; /* scratch of a lane in addition to the fixed part, for kernels whose stack size is unknown; 0: 16384 */
  /* Called at the end of a launch, by its thread: once for each kind and pc, what ended the launch last. */
  void (*report)(const gfxsim_report *report, void *user);
  void *user;
  /* Called before `report` for each finding that did not end the launch: true suppresses it. NULL: none is suppressed. */
  bool (*suppress)(const gfxsim_report *report, void *user);
  uint32_t number; /* 0 to 15: devices with different numbers have no address in common */
  /* The waves of a workgroup take turns of so many instructions; 0: 16. All of them advance at the same rate, as on a GPU.
   * A seed other than 0 changes the order of the waves from round to round, and each turn has 1 to 2 * turn - 1 instructions:
   * results that depend on it come from a race. The same seed gives the same order, whatever the number of threads. */
  uint32_t turn;
  uint64_t seed;
} gfxsim_options;

/* chip: a name, with overrides of its table after commas: "gfx950" or "gfx950,cus_per_xcd=4,lds_bytes=65536". */
GFXSIM_API gfxsim_status gfxsim_open(const char *chip, const gfxsim_options *options, gfxsim_device **device);
GFXSIM_API void gfxsim_close(gfxsim_device *device); /* and all of its objects and memory; NULL is allowed */

typedef struct gfxsim_device_info {
  const char *chip; /* "gfx950" */
  uint32_t xcds, compute_units, waves_per_cu, lds_bytes, max_workgroup;
  uint32_t vgprs;    /* of 32 bits and 64 lanes, of one CU */
  uint32_t l2_bytes; /* of one XCD */
  uint32_t clock_mhz;
  uint64_t memory_bytes, memory_used;
  uint32_t isa;        /* 10 * major + minor version of the instruction set: gfx942 is 94 */
  uint32_t pci_device; /* the number that PCI and HSA know the chip by */
} gfxsim_device_info;

GFXSIM_API void gfxsim_device_describe(const gfxsim_device *device, gfxsim_device_info *info);

/* ---- Memory: device addresses are not host pointers ---- */

GFXSIM_API gfxsim_status gfxsim_alloc(gfxsim_device *device, size_t bytes, uint64_t *address);
GFXSIM_API gfxsim_status gfxsim_free(gfxsim_device *device, uint64_t address);
GFXSIM_API gfxsim_status gfxsim_write(gfxsim_device *device, uint64_t address, const void *host, size_t bytes);
GFXSIM_API gfxsim_status gfxsim_read(gfxsim_device *device, uint64_t address, void *host, size_t bytes);
GFXSIM_API gfxsim_status gfxsim_fill(gfxsim_device *device, uint64_t address, uint8_t value, size_t bytes);
/* For programs that check kernels: an array of exact bounds that may have gaps. gfxsim_reserve keeps addresses for `bytes`, and
 * gfxsim_map allocates a part, exactly from its first to its last byte: a kernel's access to anything else is out of bounds,
 * and the report names the array. So strides beyond 2^32 elements cost only the memory of the rows. The array begins `offset`
 * bytes after a multiple of 4096; 64 KiB on both sides of it stay free, or 16 GiB if it is larger than 1 GiB. */
GFXSIM_API gfxsim_status gfxsim_reserve(gfxsim_device *device, const char *name, uint64_t offset, uint64_t bytes,
                                        uint64_t *address);
GFXSIM_API gfxsim_status gfxsim_map(gfxsim_device *device, uint64_t address, uint64_t bytes);
/* Whether kernels may only read the allocation, or the part of an array, that begins here. A write is then a finding. */
GFXSIM_API gfxsim_status gfxsim_protect(gfxsim_device *device, uint64_t address, bool read_only);
/* Frees the array with all of its parts. */
GFXSIM_API gfxsim_status gfxsim_unreserve(gfxsim_device *device, uint64_t address);
/* Whether the address lies in the range that this device has handed out so far, freed memory and gaps included. */
GFXSIM_API bool gfxsim_owns(const gfxsim_device *device, uint64_t address);

/* Host memory that kernels access at the host's own address, as a GPU does whose driver has mapped it. Its bytes count as
 * written. Ranges that overlap are allowed; each is unmapped by its start. */
GFXSIM_API gfxsim_status gfxsim_map_host(gfxsim_device *device, void *host, size_t bytes);
GFXSIM_API gfxsim_status gfxsim_unmap_host(gfxsim_device *device, void *host);
/* Unified shared memory: whether kernels may access all memory of this process without gfxsim_map_host, and whether the process
 * can use at its address what gfxsim_alloc gives from now on, which then counts as written. */
GFXSIM_API gfxsim_status gfxsim_share_host(gfxsim_device *device, bool share);

/* Whether kernels on the device may access the other's memory. Their launches then touch both devices: the caller keeps the
 * other one idle during such a launch. Both devices need different numbers. */
GFXSIM_API gfxsim_status gfxsim_peer(gfxsim_device *device, const gfxsim_device *other, bool access);

/* The live allocation that holds the address; false where there is none. */
GFXSIM_API bool gfxsim_allocation_of(const gfxsim_device *device, uint64_t address, uint64_t *base, size_t *bytes);

/* ---- Code objects ---- */

typedef struct gfxsim_object gfxsim_object;
typedef struct gfxsim_kernel gfxsim_kernel;

typedef struct gfxsim_arg {
  const char *name, *kind; /* name: "" where the compiler left none; kind: the metadata's .value_kind */
  uint32_t offset, size;
  bool hidden; /* filled by the runtime */
} gfxsim_arg;

typedef struct gfxsim_kernel_info {
  const char *name;
  uint32_t sgprs, vgprs, agprs;      /* as the metadata counts them; vgprs is the sum with agprs */
  uint32_t sgpr_spills, vgpr_spills; /* that the compiler had no register for: to lanes of a VGPR, and to scratch */
  uint32_t lds_bytes, scratch_bytes, kernarg_bytes, max_workgroup;
  uint32_t preload_dwords;
  bool dynamic_stack; /* it calls what the compiler could not follow: the launch says how much scratch there is */
  int arg_count;
  const gfxsim_arg *args;
} gfxsim_kernel_info;

/* Loads a copy of an ELF code object; refuses one of another chip. */
GFXSIM_API gfxsim_status gfxsim_load(gfxsim_device *device, const void *data, size_t bytes, gfxsim_object **object);
GFXSIM_API void gfxsim_unload(gfxsim_object *object); /* NULL is allowed */
GFXSIM_API int gfxsim_kernel_count(const gfxsim_object *object);
GFXSIM_API gfxsim_kernel *gfxsim_kernel_at(gfxsim_object *object, int index);
GFXSIM_API gfxsim_status gfxsim_kernel_find(gfxsim_object *object, const char *name, gfxsim_kernel **kernel);
GFXSIM_API void gfxsim_kernel_describe(const gfxsim_kernel *kernel, gfxsim_kernel_info *info);
/* printf's formats in the kernel's code object, "0:0:HASH,FORMAT" each as its metadata have them; NULL after the last. */
GFXSIM_API const char *gfxsim_kernel_format(const gfxsim_kernel *kernel, int index);
/* How many workgroups of this kernel a compute unit holds at once: the least that waves, registers and LDS allow; 0: none. */
GFXSIM_API uint32_t gfxsim_kernel_occupancy(const gfxsim_kernel *kernel, uint32_t work_items, uint32_t dynamic_lds);
/* Address and size of a variable of the code object (__device__, __constant__). */
GFXSIM_API gfxsim_status gfxsim_variable_find(const gfxsim_object *object, const char *name, uint64_t *address, size_t *bytes);
/* The name of variable number `index`, 0 upwards; NULL after the last. */
GFXSIM_API const char *gfxsim_variable_at(const gfxsim_object *object, int index, uint64_t *address, size_t *bytes);
/* The chip that a code object names ("gfx950"), without a device; NULL (and an error) where the file is none of ours. */
GFXSIM_API const char *gfxsim_object_chip(const void *data, size_t bytes);

/* ---- Launch ---- */

typedef struct gfxsim_counters gfxsim_counters; /* gfxsim_counters.h */
typedef struct gfxsim_timing gfxsim_timing;     /* gfxsim_time.h */
enum { GFXSIM_COOPERATIVE_MOST = 4096 };

/* A hidden argument that the caller gives a value, by the metadata's .value_kind, as "hidden_hostcall_buffer". */
typedef struct gfxsim_hidden {
  const char *kind;
  uint64_t value;
} gfxsim_hidden;

typedef struct gfxsim_launch {
  uint32_t grid[3], block[3]; /* grid in workgroups; every one at least 1 */
  uint32_t dynamic_lds;       /* bytes after the kernel's own */
  const void *args;           /* the explicit part of the kernarg segment, laid out by the args' offsets */
  size_t arg_bytes;
  /* Runs a part of the workgroups, by their numbers x + X * (y + Y * z): "64" is so many, spread over the grid in runs of one
   * per XCD; "0-7,100-107" is just those. NULL: all. Memory then holds the results of those alone. */
  const char *workgroups;
  /* The address of a complete kernarg segment in memory of the device or mapped memory, hidden arguments included, as AQL
   * packets have it. 0: args. */
  uint64_t kernarg;
  uint32_t scratch_bytes; /* of a lane, for kernels with a dynamic stack; 0: the fixed part plus the options' stack_bytes */
  const gfxsim_hidden *hidden; /* for `args`: hidden arguments that the simulator has no value for; those not given are 0 */
  int hidden_count;
  /* All workgroups run at once, each on a host thread of its own, so that they may wait for each other: at most
   * GFXSIM_COOPERATIVE_MOST. */
  bool cooperative;
  /* Where ROCm's __ockl_grid_sync counts the workgroups of a cooperative launch; 0: nowhere. It waits by loads that no
   * buffer_inv follows; gfxsim takes its barrier for a full one all the same, as every program does. */
  uint64_t grid_sync;
  gfxsim_counters *counters; /* NULL: nothing is counted. Otherwise filled when the launch has ended well */
  /* NULL: no time. Otherwise waves run in the order of the model's time, on one host thread, and it is filled when the launch
   * has ended well. Needs counters. */
  gfxsim_timing *timing;
} gfxsim_launch;

GFXSIM_API gfxsim_status gfxsim_run(gfxsim_kernel *kernel, const gfxsim_launch *launch); /* returns when it is done */

#ifdef __cplusplus
}
#endif
#endif
