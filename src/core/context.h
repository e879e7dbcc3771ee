/* A context: its device, its backend, and its allocations. */
#ifndef TANDEM_CORE_CONTEXT_H
#define TANDEM_CORE_CONTEXT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* ---- Backends: the memory of a device, and the completion of work. A second backend is a second table. ---- */

/* For plans whose runs share a workspace: serializes their work on the device. A run waits, on its own stream, for the run
 * before. */
typedef struct tdm_serializer {
  tdm_status (*open)(const tdm_context *context, void **serializer);
  tdm_status (*close)(const tdm_context *context, void *serializer);
  tdm_status (*begin)(const tdm_context *context, void *serializer, void *stream);
  tdm_status (*end)(const tdm_context *context, void *serializer, void *stream);
} tdm_serializer;

/* Marks in the order of a stream's work. A stream's handle is the backend's own, as everywhere in these tables. */
typedef struct tdm_marks {
  tdm_status (*open)(const tdm_context *context, void **event);
  tdm_status (*close)(const tdm_context *context, void *event);
  tdm_status (*record)(const tdm_context *context, void *event, void *stream);
  tdm_status (*wait)(const tdm_context *context, void *event, void *stream); /* work that the stream gets later waits */
  tdm_status (*sync)(const tdm_context *context, void *event);
  /* After sync of both. */
  tdm_status (*elapsed)(const tdm_context *context, void *begin, void *end, double *milliseconds);
} tdm_marks;

typedef struct tdm_backend {
  const char *name;
  /* Offload devices of the machine, without the host. NULL: the backend numbers none. */
  int (*count)(void);
  /* Appends the devices that it can open now, each after a space. NULL: it has `count` of them. */
  void (*list)(char *text, size_t size);
  /* Opens "omp:N" or "hip:N", whose number is also given, or "sim:CHIP". On failure it writes the reason, without the device's
   * name. NULL: a number is all that there is to know. */
  tdm_status (*open)(tdm_context *context, const char *name, int number, char *reason, size_t size);
  tdm_status (*close)(tdm_context *context);
  /* Around everything that may change what is current in the calling thread, such as CUDA's context: enter keeps it, and
   * leave brings it back. leave returns status, or its own failure if status is TDM_OK. context is NULL in tdm_open and
   * tdm_devices. NULL: the backend's other functions leave it as they find it. */
  tdm_status (*enter)(const tdm_context *context, const char *what, void **before);
  tdm_status (*leave)(const tdm_context *context, const char *what, void *before, tdm_status status);
  /* Sets how threads wait for the end of a run on the context's device: "spin", "block", or NULL for the driver's own way,
   * unless an earlier call named one. UNSUPPORTED: it is not an NVIDIA GPU; DEVICE: its driver can't do that; the reason
   * continues a line that begins with the device's name. NULL: there is no choice. */
  tdm_status (*wait)(const tdm_context *context, const char *wait, char *reason, size_t size);
  /* The tuned table that is built in for the context's chip, with its length; NULL if there is none. */
  const char *(*tuned)(const tdm_context *context, size_t *bytes);
  tdm_status (*alloc)(const tdm_context *context, size_t bytes, void **pointer);
  tdm_status (*free)(const tdm_context *context, void *pointer);
  tdm_status (*copy)(const tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                     void *stream);
  /* Can the device reach the memory at this address? ARGUMENT: it can't, and the reason continues a line that ends with the
   * pointer. Other failures have a message, which begins with `what`. NULL: nothing can be asked. */
  tdm_status (*reaches)(const tdm_context *context, const char *what, const void *pointer, char *reason, size_t size);
  /* The backend's own stream; NULL is its default one. */
  tdm_status (*stream_open)(const tdm_context *context, void **stream);
  tdm_status (*stream_close)(const tdm_context *context, void *stream);
  tdm_status (*sync)(const tdm_context *context, void *stream);
  /* Refuses what is not a stream of the context's device, made with the device's own API. NULL: the backend has none. */
  tdm_status (*wrap)(const tdm_context *context, void *native);
  /* Waits for the work of a wrapped stream, before a run that is not launched on it; refuses a stream that captures. NULL:
   * runs are launched on the stream. */
  tdm_status (*catch_up)(const tdm_context *context, const char *what, void *native);
  /* Is the work of the stream captured into a graph instead of being executed? NULL: catch_up asks. */
  tdm_status (*captures)(const tdm_context *context, const char *what, void *stream, bool *yes);
  const tdm_serializer *serializer; /* NULL: a run is done when it returns */
  const tdm_marks *marks;           /* NULL: likewise, so an event is a time of the host */
} tdm_backend;

struct tdm_stream {
  tdm_context *context;
  void *handle; /* the backend's, or the caller's */
  bool wrapped; /* it is the caller's */
};
/* The handle for a backend; NULL without a stream. */
static inline void *tdm_stream_handle(const tdm_stream *stream) { return stream == NULL ? NULL : stream->handle; }

/* An NVIDIA GPU of the omp backend (offload/device/cuda.h). */
typedef struct tdm_cuda {
  const struct cuda_driver *driver; /* NULL: it is none, or its driver is older than CUDA 12.1 */
  void *context;                    /* CUcontext */
  int number;                       /* CUdevice */
  bool reads_host;                  /* any memory of the host, without its being registered */
} tdm_cuda;

typedef struct tdm_hip_device tdm_hip_device; /* hip/host/hip.h */

/* registry.c: the addresses of a context's allocations, so that tdm_free can refuse all others. */
typedef struct tdm_registry {
  pthread_mutex_t lock;
  uintptr_t *slots; /* NULL until the first allocation */
  size_t size;      /* a power of two */
  size_t count;     /* slots that are used or reserved: at most half of them */
} tdm_registry;

tdm_status tdm_registry_open(tdm_registry *registry);
void tdm_registry_close(tdm_registry *registry);
/* Reserves a slot before an allocation. tdm_registry_add fills it, or returns it with NULL. */
tdm_status tdm_registry_reserve(tdm_registry *registry);
void tdm_registry_add(tdm_registry *registry, const void *pointer);
/* Takes an allocation, to free it. false: there is none at this address, or another thread is freeing it. */
bool tdm_registry_take(tdm_registry *registry, const void *pointer);
/* Ends tdm_registry_take. An allocation that could not be freed stays. */
void tdm_registry_settle(tdm_registry *registry, const void *pointer, bool freed);

struct tdm_context {
  const tdm_backend *backend;
  char device[48]; /* "host", "omp:0", "hip:0", "sim:gfx950" */
  int omp_device;  /* number for device(), -1: the host */
  bool on_gpu;     /* "omp:N" or "hip:N": of no use in the child of a fork */
  tdm_cuda cuda;
  tdm_hip_device *hip;   /* NULL: not a device of the hip backend */
  char chip[16];         /* in tuned tables: "gfx950", "host", "omp" */
  int xcds;              /* override of the device's number of XCDs, 0: none */
  bool automatic;        /* the device was chosen, not named */
  char passed_over[320]; /* automatic: the better devices and why they were not chosen, one line */
  char no_wait[128];     /* why the offload runtime's own way of waiting was kept; "": it was not kept */
  bool strict, verbose, verify;
  int teams, threads; /* overrides, 0: none */
  int host_threads;
  unsigned cpu;               /* instruction sets that kernels may use (cpu.h): the machine's, or fewer by TANDEM_CPU */
  char *kernel;               /* TANDEM_KERNEL or options.kernel, NULL: the dispatcher chooses */
  struct tdm_tuned *tuned[2]; /* [0] of TANDEM_TUNED or options.tuned, [1] built in for the chip (tuned.h); NULL: none */
  tdm_log_fn log;
  void *log_user;
  tdm_registry registry;
};

/* Do runs of the context execute on the host? */
static inline bool tdm_context_is_host(const tdm_context *context) { return context->hip == NULL && context->omp_device < 0; }

/* fork.c. tdm_gpu_opened: the context is of a GPU, and the process knows of its forks from now on. tdm_gpu_lost: this process
 * was forked after a GPU was opened. */
tdm_status tdm_gpu_opened(tdm_context *context);
bool tdm_gpu_lost(void);
tdm_status tdm_fail_lost(const char *what, const char *device);
/* Is the context of a GPU that only the parent can use? */
static inline bool tdm_context_lost(const tdm_context *context) { return context->on_gpu && tdm_gpu_lost(); }
/* Refuses NULL, and a context that is lost; `what` begins the message. */
tdm_status tdm_context_check(const char *what, const tdm_context *context);

/* tdm_backend.enter and leave, where the backend has them. */
static inline tdm_status tdm_enter(const tdm_context *context, const char *what, void **before) {
  return context->backend->enter == NULL ? TDM_OK : context->backend->enter(context, what, before);
}
static inline tdm_status tdm_leave(const tdm_context *context, const char *what, void *before, tdm_status status) {
  return context->backend->leave == NULL ? status : context->backend->leave(context, what, before, status);
}

/* A run's stream must belong to the plan's context. */
tdm_status tdm_stream_check(const char *function, const tdm_context *context, const tdm_stream *stream);
/* Before a run or copy: waits for a wrapped stream's work, where the run is not launched on it. */
tdm_status tdm_stream_catch_up(const tdm_context *context, const char *what, const tdm_stream *stream);
/* Is the stream's work captured into a graph? */
tdm_status tdm_stream_captures(const tdm_context *context, const char *what, const tdm_stream *stream, bool *yes);
/* Before a call that waits for the stream: refuses one that captures. */
tdm_status tdm_stream_waits(const tdm_context *context, const char *what, const tdm_stream *stream);

#endif
