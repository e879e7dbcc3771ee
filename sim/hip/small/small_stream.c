/* Streams and events. All work is done when a call returns, so a stream is a handle and an event a time. */
#include <stdlib.h>
#include <time.h>

#include "small_state.h"

/* ---- Streams ---- */

static hipError_t make_stream(hipStream_t *stream, unsigned flags) {
  if (stream == NULL) return hip_fail(hipErrorInvalidValue, "hipStreamCreate: stream = NULL: must be an address");
  if (flags > hipStreamNonBlocking)
    return hip_fail(hipErrorInvalidValue, "hipStreamCreate: flags = %u: must be 0 or %d", flags, hipStreamNonBlocking);
  *stream = handle_open(HANDLE_STREAM, NULL);
  return *stream != NULL ? hipSuccess : hip_fail(hipErrorOutOfMemory, "hipStreamCreate: no memory");
}

hipError_t hipStreamCreate(hipStream_t *stream) { return hipStreamCreateWithFlags(stream, hipStreamDefault); }

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  return hip_leave(hip_enter() ? make_stream(stream, flags) : hipErrorNoDevice);
}

hipError_t hip_check_stream(const char *call, hipStream_t stream) {
  return stream == NULL || handle_find(HANDLE_STREAM, stream, NULL)
             ? hipSuccess
             : hip_fail(hipErrorInvalidHandle, "%s: stream = %p: must be NULL or a live stream", call, (void *)stream);
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  if (!hip_enter()) return hip_leave(hipErrorNoDevice);
  if (!handle_find(HANDLE_STREAM, stream, NULL))
    return hip_leave(hip_fail(hipErrorInvalidHandle, "hipStreamDestroy: stream = %p: must be a live stream", (void *)stream));
  handle_close(stream);
  return hip_leave(hipSuccess);
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return hip_leave(hip_enter() ? hip_check_stream("hipStreamSynchronize", stream) : hipErrorNoDevice);
}

hipError_t hipStreamQuery(hipStream_t stream) {
  return hip_leave(hip_enter() ? hip_check_stream("hipStreamQuery", stream) : hipErrorNoDevice);
}

static hipError_t device_of(hipStream_t stream, int *number) {
  if (number == NULL) return hip_fail(hipErrorInvalidValue, "hipStreamGetDevice: device = NULL: must be an address");
  hipError_t error = hip_check_stream("hipStreamGetDevice", stream);
  if (error == hipSuccess) *number = 0;
  return error;
}

hipError_t hipStreamGetDevice(hipStream_t stream, int *number) {
  return hip_leave(hip_enter() ? device_of(stream, number) : hipErrorNoDevice);
}

/* No stream captures: there are no graphs. */
static hipError_t is_capturing(hipStream_t stream, hipStreamCaptureStatus *status) {
  if (status == NULL) return hip_fail(hipErrorInvalidValue, "hipStreamIsCapturing: status = NULL: must be an address");
  hipError_t error = hip_check_stream("hipStreamIsCapturing", stream);
  if (error == hipSuccess) *status = hipStreamCaptureStatusNone;
  return error;
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status) {
  return hip_leave(hip_enter() ? is_capturing(stream, status) : hipErrorNoDevice);
}

/* ---- Events ---- */

typedef struct event {
  unsigned flags;
  bool recorded;
  struct timespec when;
} event;

static hipError_t make_event(hipEvent_t *to, unsigned flags) {
  const unsigned known = hipEventBlockingSync | hipEventDisableTiming;
  if (to == NULL) return hip_fail(hipErrorInvalidValue, "hipEventCreate: event = NULL: must be an address");
  if ((flags & ~known) != 0)
    return hip_fail(hipErrorInvalidValue, "hipEventCreate: flags = 0x%x: must be of 0x%x", flags, known);
  event *e = calloc(1, sizeof *e);
  *to = e != NULL ? handle_open(HANDLE_EVENT, e) : NULL;
  if (*to == NULL) {
    free(e);
    return hip_fail(hipErrorOutOfMemory, "hipEventCreate: no memory");
  }
  e->flags = flags;
  return hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t *to) { return hipEventCreateWithFlags(to, hipEventDefault); }

hipError_t hipEventCreateWithFlags(hipEvent_t *to, unsigned flags) {
  return hip_leave(hip_enter() ? make_event(to, flags) : hipErrorNoDevice);
}

/* NULL (and an error: hipErrorInvalidHandle) where there is none. */
static event *find_event(const char *call, hipEvent_t handle) {
  void *object = NULL;
  if (!handle_find(HANDLE_EVENT, handle, &object))
    hip_fail(hipErrorInvalidHandle, "%s: event = %p: must be a live event", call, (void *)handle);
  return object;
}

hipError_t hipEventDestroy(hipEvent_t handle) {
  if (!hip_enter()) return hip_leave(hipErrorNoDevice);
  if (find_event("hipEventDestroy", handle) == NULL) return hip_leave(hipErrorInvalidHandle);
  handle_close(handle);
  return hip_leave(hipSuccess);
}

static hipError_t record(hipEvent_t handle, hipStream_t stream) {
  event *e = find_event("hipEventRecord", handle);
  if (e == NULL) return hipErrorInvalidHandle;
  hipError_t error = hip_check_stream("hipEventRecord", stream);
  if (error != hipSuccess) return error;
  e->recorded = true;
  clock_gettime(CLOCK_MONOTONIC, &e->when);
  return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t handle, hipStream_t stream) {
  return hip_leave(hip_enter() ? record(handle, stream) : hipErrorNoDevice);
}

static hipError_t check_event(const char *call, hipEvent_t handle) {
  return find_event(call, handle) != NULL ? hipSuccess : hipErrorInvalidHandle;
}

hipError_t hipEventSynchronize(hipEvent_t handle) {
  return hip_leave(hip_enter() ? check_event("hipEventSynchronize", handle) : hipErrorNoDevice);
}

hipError_t hipEventQuery(hipEvent_t handle) {
  return hip_leave(hip_enter() ? check_event("hipEventQuery", handle) : hipErrorNoDevice);
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t handle, unsigned flags) {
  if (!hip_enter()) return hip_leave(hipErrorNoDevice);
  if (flags != 0) return hip_leave(hip_fail(hipErrorInvalidValue, "hipStreamWaitEvent: flags = %u: must be 0", flags));
  hipError_t error = hip_check_stream("hipStreamWaitEvent", stream);
  return hip_leave(error == hipSuccess ? check_event("hipStreamWaitEvent", handle) : error);
}

static hipError_t elapsed(float *milliseconds, hipEvent_t first, hipEvent_t last) {
  if (milliseconds == NULL) return hip_fail(hipErrorInvalidValue, "hipEventElapsedTime: ms = NULL: must be an address");
  const event *start = find_event("hipEventElapsedTime", first);
  const event *stop = start != NULL ? find_event("hipEventElapsedTime", last) : NULL;
  if (stop == NULL) return hipErrorInvalidHandle;
  if (!start->recorded || !stop->recorded || ((start->flags | stop->flags) & hipEventDisableTiming) != 0)
    return hip_fail(hipErrorInvalidHandle, "hipEventElapsedTime: both events must have been recorded and measure time");
  *milliseconds = (float)((double)(stop->when.tv_sec - start->when.tv_sec) * 1e3 +
                          (double)(stop->when.tv_nsec - start->when.tv_nsec) * 1e-6);
  return hipSuccess;
}

hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop) {
  return hip_leave(hip_enter() ? elapsed(milliseconds, start, stop) : hipErrorNoDevice);
}
