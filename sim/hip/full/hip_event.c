/* Events: a record is work of a stream, which notes the host's time. */
#include <stdlib.h>
#include <time.h>

#include "hip_state.h"

struct event {
  unsigned flags;
  int device;              /* of the stream that recorded it last */
  uint64_t asked, reached; /* records that were issued, and that were done */
  struct timespec when;
  int uses; /* the program's, and one for each work that names it */
  struct event *next;
};
static event *events; /* those that the program may name; under `world` */

/* The caller has `world`. NULL (and an error: hipErrorInvalidHandle) where there is none. */
static event *find(const char *call, hipEvent_t handle) {
  event *e = events;
  while (e != NULL && (hipEvent_t)(void *)e != handle) e = e->next;
  if (e == NULL) hip_fail(hipErrorInvalidHandle, "%s: event = %p: must be a live event", call, (void *)handle);
  return e;
}

static void drop(event *e) {
  if (--e->uses == 0) free(e);
}

static hipError_t create(hipEvent_t *handle, unsigned flags) {
  const unsigned known = hipEventBlockingSync | hipEventDisableTiming | HIP_EVENT_FENCES;
  if (handle == NULL) return hip_fail(hipErrorInvalidValue, "hipEventCreate: event = NULL: must be an address");
  if ((flags & hipEventInterprocess) != 0) return hip_unserved("hipEventCreateWithFlags: hipEventInterprocess");
  if ((flags & ~known) != 0)
    return hip_fail(hipErrorInvalidValue, "hipEventCreate: flags = 0x%x: must be of 0x%x", flags, known);
  event *e = calloc(1, sizeof *e);
  if (e == NULL) return hip_fail(hipErrorOutOfMemory, "hipEventCreate: no memory");
  e->flags = flags;
  e->uses = 1;
  pthread_mutex_lock(&world);
  e->next = events;
  events = e;
  pthread_mutex_unlock(&world);
  *handle = (hipEvent_t)(void *)e;
  return hipSuccess;
}

HIP_API hipError_t hipEventCreate(hipEvent_t *handle) { HIP_CALL(create(handle, hipEventDefault)); }
HIP_API hipError_t hipEventCreateWithFlags(hipEvent_t *handle, unsigned flags) { HIP_CALL(create(handle, flags)); }

static hipError_t destroy(hipEvent_t handle) {
  pthread_mutex_lock(&world);
  event *e = find("hipEventDestroy", handle);
  for (event **at = &events; e != NULL && *at != NULL; at = &(*at)->next)
    if (*at == e) {
      *at = e->next;
      break;
    }
  if (e != NULL) drop(e);
  pthread_mutex_unlock(&world);
  return e != NULL ? hipSuccess : hipErrorInvalidHandle;
}

HIP_API hipError_t hipEventDestroy(hipEvent_t handle) { HIP_CALL(destroy(handle)); }

/* ---- Records and waits, as work ---- */

typedef struct event_work {
  work base;
  event *event;
  uint64_t count; /* the record that is waited for */
} event_work;

static void record_done(work *w, hipError_t error) {
  (void)error;
  event_work *r = (event_work *)w;
  r->event->reached++;
  clock_gettime(CLOCK_MONOTONIC, &r->event->when);
  drop(r->event);
}

static bool wait_ready(const work *w) {
  const event_work *r = (const event_work *)w;
  return r->event->reached >= r->count;
}

static void wait_done(work *w, hipError_t error) {
  (void)error;
  drop(((event_work *)w)->event);
}

/* Adds work that names the event; its counts change back where the stream does not take it. */
static hipError_t submit(const char *call, hipEvent_t handle, stream *s, bool record) {
  event_work *w = calloc(1, sizeof *w);
  if (w == NULL) return hip_fail(hipErrorOutOfMemory, "%s: no memory", call);
  pthread_mutex_lock(&world);
  event *e = find(call, handle);
  if (e != NULL) {
    e->uses++;
    if (record) {
      e->asked++;
      e->device = s->device->number;
    }
    *w = (event_work){{.ready = record ? NULL : wait_ready, .done = record ? record_done : wait_done}, e, e->asked};
  }
  pthread_mutex_unlock(&world);
  if (e == NULL) {
    free(w);
    return hipErrorInvalidHandle;
  }
  hipError_t error = hip_submit(s, &w->base);
  if (error == hipSuccess) return hipSuccess;
  pthread_mutex_lock(&world);
  if (record) e->asked--;
  drop(e);
  pthread_mutex_unlock(&world);
  return error;
}

hipError_t hip_record(const char *call, hipEvent_t handle, stream *s) {
  return handle != NULL ? submit(call, handle, s, true) : hipSuccess;
}

static hipError_t record(hipEvent_t handle, hipStream_t on) {
  stream *s;
  hipError_t error = hip_stream("hipEventRecord", on, &s);
  return error == hipSuccess ? submit("hipEventRecord", handle, s, true) : error;
}

HIP_API hipError_t hipEventRecord(hipEvent_t handle, hipStream_t on) { HIP_CALL(record(handle, on)); }
HIP_API hipError_t hipEventRecordWithFlags(hipEvent_t handle, hipStream_t on, unsigned flags) {
  (void)flags;
  HIP_CALL(record(handle, on));
}

static hipError_t wait_event(hipStream_t on, hipEvent_t handle) {
  stream *s;
  hipError_t error = hip_stream("hipStreamWaitEvent", on, &s);
  return error == hipSuccess ? submit("hipStreamWaitEvent", handle, s, false) : error;
}

HIP_API hipError_t hipStreamWaitEvent(hipStream_t on, hipEvent_t handle, unsigned flags) {
  (void)flags;
  HIP_CALL(wait_event(on, handle));
}

/* ---- The host asks ---- */

static hipError_t state(const char *call, hipEvent_t handle, bool wait) {
  pthread_mutex_lock(&world);
  event *e = find(call, handle);
  hipError_t error = hipErrorInvalidHandle;
  if (e != NULL) {
    uint64_t until = e->asked;
    e->uses++;
    while (wait && e->reached < until) pthread_cond_wait(&changed, &world);
    error = e->reached < until ? hipErrorNotReady : until > 0 ? hip_device_at(e->device)->failed : hipSuccess;
    drop(e);
  }
  pthread_mutex_unlock(&world);
  return error;
}

HIP_API hipError_t hipEventSynchronize(hipEvent_t handle) { HIP_CALL(state("hipEventSynchronize", handle, true)); }
HIP_API hipError_t hipEventQuery(hipEvent_t handle) { HIP_CALL(state("hipEventQuery", handle, false)); }

/* The caller has `world`. */
static hipError_t elapsed_between(float *milliseconds, const event *start, const event *stop) {
  if (start->asked == 0 || stop->asked == 0 || ((start->flags | stop->flags) & hipEventDisableTiming) != 0)
    return hip_fail(hipErrorInvalidHandle, "hipEventElapsedTime: both events must have been recorded and measure time");
  if (start->reached < start->asked || stop->reached < stop->asked) return hipErrorNotReady;
  *milliseconds = (float)((double)(stop->when.tv_sec - start->when.tv_sec) * 1e3 +
                          (double)(stop->when.tv_nsec - start->when.tv_nsec) * 1e-6);
  return hipSuccess;
}

static hipError_t elapsed(float *milliseconds, hipEvent_t first, hipEvent_t last) {
  if (milliseconds == NULL) return hip_fail(hipErrorInvalidValue, "hipEventElapsedTime: ms = NULL: must be an address");
  pthread_mutex_lock(&world);
  const event *start = find("hipEventElapsedTime", first);
  const event *stop = start != NULL ? find("hipEventElapsedTime", last) : NULL;
  hipError_t error = stop != NULL ? elapsed_between(milliseconds, start, stop) : hipErrorInvalidHandle;
  pthread_mutex_unlock(&world);
  return error;
}

HIP_API hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop) {
  HIP_CALL(elapsed(milliseconds, start, stop));
}
