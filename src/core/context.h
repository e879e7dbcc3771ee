/* A context: its device, the backend that serves it, and what it has allocated. */
#ifndef TANDEM_CORE_CONTEXT_H
#define TANDEM_CORE_CONTEXT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* ---- Backends: a device's memory and the completion of work. A second backend is a second table. ---- */

/* For plans whose runs share a workspace: a run waits, on its own stream, for the run before. */
typedef struct tdm_turns {
  tdm_status (*open)(const tdm_context *context, void **turns);
  tdm_status (*close)(const tdm_context *context, void *turns);
  tdm_status (*begin)(const tdm_context *context, void *turns, void *stream);
  tdm_status (*end)(const tdm_context *context, void *turns, void *stream);
} tdm_turns;

typedef struct tdm_backend {
  const char *name;
  tdm_status (*alloc)(const tdm_context *context, size_t bytes, void **pointer);
  tdm_status (*free)(const tdm_context *context, void *pointer);
  tdm_status (*copy)(const tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                     void *stream);
  /* The backend's own stream; NULL is its default one. */
  tdm_status (*stream_open)(const tdm_context *context, void **stream);
  tdm_status (*stream_close)(const tdm_context *context, void *stream);
  tdm_status (*sync)(const tdm_context *context, void *stream);
  const tdm_turns *turns; /* NULL: a run is done when it returns */
} tdm_backend;

struct tdm_stream {
  tdm_context *context;
  void *handle; /* the backend's */
};

/* offload/device/device.c: OpenMP target devices, and the host. */
extern const tdm_backend tdm_backend_omp;
int tdm_omp_device_count(void); /* offload devices, without the host; 0 in a build without offload */
int tdm_omp_host_threads(void); /* threads that a parallel region gets on the host */
int tdm_omp_mandatory(void);    /* OMP_TARGET_OFFLOAD=MANDATORY is set: the host must not run target regions */
/* offload/device/wait.c: how threads wait for the end of a run on the context's offload device: "spin", "block", or NULL: the
 * driver's own way, unless a call before named one. UNSUPPORTED: it is no NVIDIA GPU; DEVICE: its driver can't do that; reason
 * goes on behind the device's name. */
tdm_status tdm_omp_wait(const tdm_context *context, const char *wait, char *reason, size_t size);

/* hip/host/backend.c, in builds with -Dtdm_backend=hip: GPUs through HIP's runtime, and the simulator. */
typedef struct tdm_hip_device tdm_hip_device;
extern const tdm_backend tdm_backend_hip;
/* Opens "hip:N", whose number is also given, or "sim:CHIP"; on failure says why, without the device's name. */
tdm_status tdm_hip_open(const char *name, int number, tdm_hip_device **device, char *reason, size_t size);
tdm_status tdm_hip_close(tdm_hip_device *device); /* NULL is allowed */
/* Appends the devices that it would open here, each with a space in front. */
void tdm_hip_list(char *text, size_t size);

/* registry.c: the addresses of a context's allocations, so that tdm_free can refuse any other. */
typedef struct tdm_registry {
  pthread_mutex_t lock;
  uintptr_t *slots; /* NULL until the first allocation */
  size_t size;      /* a power of two */
  size_t count;     /* slots that are used or reserved: at most half of them */
} tdm_registry;

tdm_status tdm_registry_open(tdm_registry *registry);
void tdm_registry_close(tdm_registry *registry);
/* Room for one more, before the allocation; tdm_registry_add fills it, or gives it back with NULL. */
tdm_status tdm_registry_reserve(tdm_registry *registry);
void tdm_registry_add(tdm_registry *registry, const void *pointer);
/* Takes an allocation, to free it. false: there is none at this address, or another thread frees it. */
bool tdm_registry_take(tdm_registry *registry, const void *pointer);
/* Ends tdm_registry_take: one that could not be freed stays. */
void tdm_registry_settle(tdm_registry *registry, const void *pointer, bool freed);

struct tdm_context {
  const tdm_backend *backend;
  char device[48];       /* "host", "omp:0", "hip:0", "sim:gfx950" */
  int omp_device;        /* number for device(), -1: the host */
  tdm_hip_device *hip;   /* NULL: not a device of the hip backend */
  bool automatic;        /* the device was chosen, not named */
  char passed_over[320]; /* automatic: the devices that come before and why they were not taken, a line */
  char no_wait[128];     /* why how threads wait for the offload device is left to its runtime; "": it is not */
  bool strict, verbose, verify;
  int teams, threads; /* overrides, 0: none */
  int host_threads;
  char *kernel;               /* TANDEM_KERNEL or options.kernel, NULL: the dispatcher chooses */
  struct tdm_tuned *tuned[2]; /* of TANDEM_TUNED or options.tuned; built in for the chip (tuned.h). NULL: none */
  tdm_log_fn log;
  void *log_user;
  tdm_registry registry;
};

/* A run's stream must belong to the plan's context. */
tdm_status tdm_stream_check(const char *function, const tdm_context *context, const tdm_stream *stream);

#endif
