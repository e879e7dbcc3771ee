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

typedef struct tdm_backend {
  const char *name;
  /* Offload devices of the machine, without the host. NULL: the backend numbers none. */
  int (*count)(void);
  /* Appends the devices that it can open now, each after a space. NULL: it has `count` of them. */
  void (*list)(char *text, size_t size);
  /* Opens "hip:N", whose number is also given, or "sim:CHIP". On failure it writes the reason, without the device's name. */
  tdm_status (*open)(tdm_context *context, const char *name, int number, char *reason, size_t size);
  tdm_status (*close)(tdm_context *context);
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
  /* The backend's own stream; NULL is its default one. */
  tdm_status (*stream_open)(const tdm_context *context, void **stream);
  tdm_status (*stream_close)(const tdm_context *context, void *stream);
  tdm_status (*sync)(const tdm_context *context, void *stream);
  const tdm_serializer *serializer; /* NULL: a run is done when it returns */
} tdm_backend;

struct tdm_stream {
  tdm_context *context;
  void *handle; /* the backend's */
};

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
  char device[48];       /* "host", "omp:0", "hip:0", "sim:gfx950" */
  int omp_device;        /* number for device(), -1: the host */
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

/* A run's stream must belong to the plan's context. */
tdm_status tdm_stream_check(const char *function, const tdm_context *context, const tdm_stream *stream);

#endif
