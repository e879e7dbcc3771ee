/* What the parts of the HIP door share. One mutex, `world`, guards streams, events and the list of devices' work; `changed` is
 * signalled whenever work comes or ends. Each device has a thread that does the work of its streams, one after the other; a
 * thread of the program that waits does it too, which saves two changes of threads. */
#ifndef GFXSIM_HIP_DOOR_STATE_H
#define GFXSIM_HIP_DOOR_STATE_H
#include <pthread.h>
#include <stdbool.h>

#include "hip_abi_full.h"
#include "sim/door/tell.h"
#include "sim/include/gfxsim.h"

typedef struct stream stream;
typedef struct event event;

typedef struct device {
  gfxsim_device *sim;
  int number;
  pthread_mutex_t lock; /* libgfxsim takes one thread at a time: copies and launches of a device are serialized */
  uint32_t peers;       /* a bit for each device whose memory its kernels may use */
  stream *streams;      /* [0]: the null stream; under `world`, as all that follows */
  hipError_t failed;    /* a kernel ended with it: work is refused until hipDeviceReset */
  unsigned flags;
  bool works, busy;       /* its thread was started; some thread does work of it */
  const stream *last;     /* whose work was done last; it may be gone */
  gfxsim_kind fatal_kind; /* of the launch that runs */
  bool fatal, found;
} device;

extern pthread_mutex_t world;
extern pthread_cond_t changed;

/* ---- hip_state.c ---- */

/* Opens the devices where none are open. False: there are none, or this is a forked child. */
bool hip_begin(void);
/* Keeps an error as the thread's last one and returns it. */
hipError_t hip_end(hipError_t error);
/* An exported function is one line: HIP_CALL(work(...)). */
#define HIP_CALL(work) return hip_end(hip_begin() ? (work) : hipErrorNoDevice)
/* The error, whose text is kept for the end of the program. */
__attribute__((format(printf, 2, 3))) hipError_t hip_fail(hipError_t error, const char *format, ...);
/* The error that a status of the simulator means, with its text. */
hipError_t hip_status(const char *call, gfxsim_status status);
hipError_t hip_unserved(const char *what);
int hip_device_count(void);
device *hip_device_at(int number); /* NULL: no such device */
device *hip_device(void);          /* of the calling thread */
void hip_set_device(int number);
unsigned long hip_profile(void);
int hip_major(void); /* of the library's name that the program asked for: 5, 6 or 7 */

static inline uint64_t hip_number(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }
device *hip_owner(const void *pointer); /* NULL: host memory */

/* ---- hip_work.c: what is done in the order of a stream ---- */

typedef struct work {
  struct work *next;
  uint64_t order;
  bool (*ready)(const struct work *w);            /* NULL: always. Under `world` */
  hipError_t (*run)(struct work *w, device *d);   /* NULL: nothing; left out once the device has failed */
  void (*done)(struct work *w, hipError_t error); /* NULL: nothing. Under `world`; error: hipSuccess also where not run */
  hipError_t *result;                             /* where a caller that waits wants its error; NULL: nowhere */
} work;

struct stream {
  device *device;
  stream *next;
  work *first, *last;
  uint64_t issued, ended;
  unsigned flags;
  int priority;
};

/* NULL: the null stream. hipErrorInvalidHandle (with its text) where it is none. */
hipError_t hip_stream(const char *call, hipStream_t handle, stream **found);
/* Puts work at the end of a stream; it is freed even on failure. NULL: hipErrorOutOfMemory. */
hipError_t hip_submit(stream *s, work *w);
/* Until all work that the stream has now is done; the device's error. */
hipError_t hip_wait(stream *s);
hipError_t hip_wait_device(device *d);
/* Both of them, for calls that return when it is done; the work's own error first. */
hipError_t hip_submit_wait(stream *s, work *w);
bool hip_stream_idle(const stream *s); /* under `world` */

/* ---- hip_event.c ---- */

/* Records the event, or does nothing for NULL: of hipExtLaunchKernel. */
hipError_t hip_record(const char *call, hipEvent_t handle, stream *s);

/* ---- hip_host.c: host memory that kernels may use ---- */

typedef enum host_kind { HOST_PINNED, HOST_REGISTERED, HOST_MANAGED } host_kind;
typedef struct host_range {
  void *start;
  size_t bytes;
  host_kind kind;
  unsigned flags;
  int device; /* current when it was made */
  struct host_range *next;
} host_range;

hipError_t hip_host_alloc(const char *call, void **pointer, size_t bytes, host_kind kind, unsigned flags);
hipError_t hip_host_free(const char *call, void *pointer);
bool hip_host_find(const void *pointer, host_range *found); /* a copy; false: pageable */

/* ---- hip_managed.c ---- */

void hip_managed_forget(const void *start, size_t bytes); /* it was freed */

/* ---- hip_copy.c ---- */

/* Rows of bytes; height and depth: 1 for plain copies. A slice is a row of rows. */
typedef struct copy_plan {
  const char *call;
  void *to;
  const void *from;
  size_t width, height, depth, to_pitch, from_pitch, to_slice, from_slice;
  hipMemcpyKind kind;
} copy_plan;

/* In the order of a stream. Returns when it is done, unless `async` and all host memory is pinned. */
hipError_t hip_copy(const copy_plan *plan, stream *s, bool async);
hipError_t hip_copy_on(const copy_plan *plan, hipStream_t handle, bool async);

/* ---- hip_module.c, hip_register.c ---- */

typedef struct function {
  gfxsim_kernel *kernel;
  gfxsim_kernel_info info;
  uint32_t arg_bytes; /* of the explicit arguments */
  device *device;
  struct function *next;
} function;

/* Loads the device's image of a bundle, compressed bundle or ELF file. */
hipError_t hip_load(const char *call, device *d, const void *image, size_t bytes, gfxsim_object **object);
void hip_function_make(function *f, device *d, gfxsim_kernel *kernel);
/* The kernel that a host function stands for, or a handle of hipModuleGetFunction; hipErrorInvalidDeviceFunction. */
hipError_t hip_function_of(const char *call, const void *host, device *d, function **found);
function *hip_module_function(const void *handle); /* NULL: none */
/* The device's copy of a host variable; hipErrorInvalidSymbol. */
hipError_t hip_symbol(const char *call, const void *host, device *d, uint64_t *address, size_t *bytes);

/* ---- hip_launch.c ---- */

typedef struct launch_request {
  const char *call;
  function *function;
  dim3 grid, block;
  size_t dynamic_lds;
  stream *stream;
  void **params, **extra;
  hipEvent_t start, stop;
  bool cooperative;
} launch_request;

hipError_t hip_launch(const launch_request *r);

/* ---- hip_hostcall.c: what kernels ask of the host ---- */

enum { HIDDEN_MOST = 8 };
typedef struct hidden_list {
  gfxsim_hidden row[HIDDEN_MOST];
  int count;
  uint64_t grid_sync;
  bool calls, prints; /* the kernel may call the host while it runs; it may leave text in printf's buffer */
} hidden_list;

/* Values of the hidden arguments that this kernel has. */
hipError_t hip_hidden_make(hidden_list *list, device *d, const function *f, const launch_request *r);
/* Before and after the launch: calls are served while it runs, and text is printed at its end. */
hipError_t hip_hostcalls_begin(device *d, const hidden_list *list);
void hip_hostcalls_end(device *d, const function *f, const hidden_list *list);
/* Why a race at this address is the device library's own; NULL: it is not. */
const char *hip_hostcall_memory(const device *d, uint64_t address);

#endif
