/* Streams as the program sees them, callbacks among their work. */
#include <stdlib.h>

#include "hip_state.h"

static _Thread_local stream *of_thread[DOOR_DEVICES_MOST]; /* hipStreamPerThread */

static hipError_t make(device *d, unsigned flags, int priority, stream **made) {
  stream *s = calloc(1, sizeof *s);
  if (s == NULL) return hip_fail(hipErrorOutOfMemory, "hipStreamCreate: no memory");
  *s = (stream){.device = d, .flags = flags, .priority = priority};
  pthread_mutex_lock(&world);
  stream **at = &d->streams->next;
  while (*at != NULL) at = &(*at)->next;
  *at = s;
  pthread_mutex_unlock(&world);
  *made = s;
  return hipSuccess;
}

hipError_t hip_stream(const char *call, hipStream_t handle, stream **found) {
  device *own = hip_device();
  if (handle == NULL || handle == hipStreamLegacy) {
    *found = own->streams;
    return hipSuccess;
  }
  if (handle == hipStreamPerThread) {
    stream **mine = &of_thread[own->number];
    hipError_t error = *mine == NULL ? make(own, hipStreamDefault, 0, mine) : hipSuccess;
    *found = *mine;
    return error;
  }
  *found = NULL;
  pthread_mutex_lock(&world);
  for (int n = 0; n < hip_device_count() && *found == NULL; n++)
    for (stream *s = hip_device_at(n)->streams->next; s != NULL && *found == NULL; s = s->next)
      if ((hipStream_t)(void *)s == handle) *found = s;
  pthread_mutex_unlock(&world);
  return *found != NULL
             ? hipSuccess
             : hip_fail(hipErrorInvalidHandle, "%s: stream = %p: must be NULL or a live stream", call, (void *)handle);
}

static hipError_t create(hipStream_t *handle, unsigned flags, int priority) {
  if (handle == NULL) return hip_fail(hipErrorInvalidValue, "hipStreamCreate: stream = NULL: must be an address");
  if (flags > hipStreamNonBlocking)
    return hip_fail(hipErrorInvalidValue, "hipStreamCreate: flags = %u: must be 0 or %d", flags, hipStreamNonBlocking);
  stream *s = NULL;
  hipError_t error = make(hip_device(), flags, priority, &s);
  *handle = (hipStream_t)(void *)s;
  return error;
}

HIP_API hipError_t hipStreamCreate(hipStream_t *handle) { HIP_CALL(create(handle, 0, 0)); }
HIP_API hipError_t hipStreamCreateWithFlags(hipStream_t *handle, unsigned flags) { HIP_CALL(create(handle, flags, 0)); }
HIP_API hipError_t hipStreamCreateWithPriority(hipStream_t *handle, unsigned flags, int priority) {
  HIP_CALL(create(handle, flags, priority));
}
/* A mask of compute units changes no result. */
HIP_API hipError_t hipExtStreamCreateWithCUMask(hipStream_t *handle, uint32_t words, const uint32_t *mask) {
  (void)words, (void)mask;
  HIP_CALL(create(handle, 0, 0));
}

static hipError_t destroy(hipStream_t handle) {
  stream *s;
  hipError_t error = hip_stream("hipStreamDestroy", handle, &s);
  if (error != hipSuccess) return error;
  if (handle == NULL || handle == hipStreamLegacy || handle == hipStreamPerThread)
    return hip_fail(hipErrorInvalidHandle, "hipStreamDestroy: stream = %p: must be a stream that was created", (void *)handle);
  hip_wait(s); /* its work is done first; an error of it stays with the device */
  pthread_mutex_lock(&world);
  stream **at = &s->device->streams->next;
  while (*at != s) at = &(*at)->next;
  *at = s->next;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&world);
  free(s);
  return hipSuccess;
}

HIP_API hipError_t hipStreamDestroy(hipStream_t handle) { HIP_CALL(destroy(handle)); }

static hipError_t synchronize(hipStream_t handle) {
  stream *s;
  hipError_t error = hip_stream("hipStreamSynchronize", handle, &s);
  if (error != hipSuccess) return error;
  /* The null stream waits for what it would have to wait for itself. */
  return s == s->device->streams ? hip_submit_wait(s, calloc(1, sizeof(work))) : hip_wait(s);
}

HIP_API hipError_t hipStreamSynchronize(hipStream_t handle) { HIP_CALL(synchronize(handle)); }

static hipError_t query(hipStream_t handle) {
  stream *s;
  hipError_t error = hip_stream("hipStreamQuery", handle, &s);
  if (error != hipSuccess) return error;
  pthread_mutex_lock(&world);
  error = s->device->failed != hipSuccess ? s->device->failed : hip_stream_idle(s) ? hipSuccess : hipErrorNotReady;
  pthread_mutex_unlock(&world);
  return error;
}

HIP_API hipError_t hipStreamQuery(hipStream_t handle) { HIP_CALL(query(handle)); }

/* ---- What a stream is ---- */

typedef enum fact { FACT_FLAGS, FACT_PRIORITY, FACT_DEVICE } fact;

static hipError_t get(const char *call, hipStream_t handle, fact which, int *value) {
  stream *s;
  if (value == NULL) return hip_fail(hipErrorInvalidValue, "%s: value = NULL: must be an address", call);
  hipError_t error = hip_stream(call, handle, &s);
  if (error != hipSuccess) return error;
  *value = which == FACT_FLAGS ? (int)s->flags : which == FACT_PRIORITY ? s->priority : s->device->number;
  return hipSuccess;
}

HIP_API hipError_t hipStreamGetFlags(hipStream_t handle, unsigned *flags) {
  HIP_CALL(get("hipStreamGetFlags", handle, FACT_FLAGS, (int *)flags));
}
HIP_API hipError_t hipStreamGetPriority(hipStream_t handle, int *priority) {
  HIP_CALL(get("hipStreamGetPriority", handle, FACT_PRIORITY, priority));
}
HIP_API hipError_t hipStreamGetDevice(hipStream_t handle, int *number) {
  HIP_CALL(get("hipStreamGetDevice", handle, FACT_DEVICE, number));
}
HIP_API int hipGetStreamDeviceId(hipStream_t handle) {
  int number = -1;
  if (hip_begin()) get("hipGetStreamDeviceId", handle, FACT_DEVICE, &number);
  return number;
}
HIP_API hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  if (least != NULL) *least = 1;
  if (greatest != NULL) *greatest = -1;
  return hip_end(hipSuccess);
}
HIP_API hipError_t hipStreamIsCapturing(hipStream_t handle, hipStreamCaptureStatus *status) {
  (void)handle;
  if (status == NULL) return hip_end(hipErrorInvalidValue);
  *status = hipStreamCaptureStatusNone; /* capturing is not served */
  return hip_end(hipSuccess);
}

/* ---- Functions of the host ---- */

typedef struct call_work {
  work base;
  hipHostFn_t call;
  hipStreamCallback_t callback;
  hipStream_t handle;
  void *data;
} call_work;

static hipError_t run_call(work *w, device *d) {
  (void)d;
  call_work *c = (call_work *)w;
  if (c->call != NULL)
    c->call(c->data);
  else
    c->callback(c->handle, hipSuccess, c->data);
  return hipSuccess;
}

static hipError_t add_call(const char *name, hipStream_t handle, hipHostFn_t call, hipStreamCallback_t callback, void *data) {
  stream *s;
  hipError_t error = hip_stream(name, handle, &s);
  if (error != hipSuccess) return error;
  if (call == NULL && callback == NULL) return hip_fail(hipErrorInvalidValue, "%s: function = NULL: must be an address", name);
  call_work *c = malloc(sizeof *c);
  if (c == NULL) return hip_fail(hipErrorOutOfMemory, "%s: no memory", name);
  *c = (call_work){{.run = run_call}, call, callback, handle, data};
  return hip_submit(s, &c->base);
}

HIP_API hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t call, void *data) {
  HIP_CALL(add_call("hipLaunchHostFunc", handle, call, NULL, data));
}
HIP_API hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t callback, void *data, unsigned flags) {
  (void)flags;
  HIP_CALL(add_call("hipStreamAddCallback", handle, NULL, callback, data));
}
