/* Streams of the hip backend, events, and the order of the runs of a plan. Memory, streams and events know their device: they
 * can be released whichever device is current. */
#include "stream.h"

#include <stdlib.h>

#include "calls.h"

/* ---- Streams ---- */

/* Without the flag, a stream would wait for the default stream of everything else in the process. */
tdm_status tdm_hip_stream_open(const tdm_context *context, void **stream) {
  static const char what[] = "stream_open";
  const tdm_hip_device *d = context->hip;
  hipStream_t made = NULL;
  int before;
  TDM_TRY(tdm_hip_enter(d, what, &before));
  tdm_status status =
      tdm_hip_check(d, what, "StreamCreateWithFlags", d->library->StreamCreateWithFlags(&made, hipStreamNonBlocking));
  bool created = status == TDM_OK;
  status = tdm_hip_leave(d, what, before, status);
  if (status != TDM_OK && created) TDM_CLEAN_UP(tdm_hip_check(d, what, "StreamDestroy", d->library->StreamDestroy(made)));
  if (status == TDM_OK) *stream = made;
  return status;
}

tdm_status tdm_hip_stream_close(const tdm_context *context, void *stream) {
  return tdm_hip_check(context->hip, "stream_close", "StreamDestroy", context->hip->library->StreamDestroy(stream));
}

tdm_status tdm_hip_stream_sync(const tdm_context *context, void *stream) {
  const tdm_hip_device *d = context->hip;
  int before;
  TDM_TRY(tdm_hip_enter(d, "stream_sync", &before));
  tdm_status status = tdm_hip_check(d, "stream_sync", "StreamSynchronize", d->library->StreamSynchronize(stream));
  return tdm_hip_leave(d, "stream_sync", before, status);
}

/* The default stream, and hipStreamPerThread, are of the device that is current. */
tdm_status tdm_hip_stream_wrap(const tdm_context *context, void *native) {
  static const char what[] = "stream_wrap";
  const tdm_hip_device *d = context->hip;
  int number = d->number, before;
  if (native == NULL) return TDM_OK;
  TDM_TRY(tdm_hip_enter(d, what, &before));
  tdm_status status = tdm_hip_check(d, what, "StreamGetDevice", d->library->StreamGetDevice(native, &number));
  TDM_TRY(tdm_hip_leave(d, what, before, status));
  if (number == d->number) return TDM_OK;
  return tdm_fail(TDM_ERROR_ARGUMENT, "%s: native = %p: is a stream of HIP's device %d: must be of %s", what, native, number,
                  d->name);
}

tdm_status tdm_hip_stream_captures(const tdm_context *context, const char *what, void *stream, bool *yes) {
  const tdm_hip_device *d = context->hip;
  hipStreamCaptureStatus captures = hipStreamCaptureStatusNone;
  int before;
  TDM_TRY(tdm_hip_enter(d, what, &before));
  tdm_status status = tdm_hip_check(d, what, "StreamIsCapturing", d->library->StreamIsCapturing(stream, &captures));
  *yes = captures != hipStreamCaptureStatusNone;
  return tdm_hip_leave(d, what, before, status);
}

/* ---- Events ---- */

static tdm_status make_event(const tdm_hip_device *d, const char *what, unsigned flags, hipEvent_t *event) {
  int before;
  TDM_TRY(tdm_hip_enter(d, what, &before));
  tdm_status status = tdm_hip_check(d, what, "EventCreateWithFlags", d->library->EventCreateWithFlags(event, flags));
  bool created = status == TDM_OK;
  status = tdm_hip_leave(d, what, before, status);
  if (status != TDM_OK && created) TDM_CLEAN_UP(tdm_hip_check(d, what, "EventDestroy", d->library->EventDestroy(*event)));
  return status;
}

static tdm_status open_event(const tdm_context *context, void **event) {
  hipEvent_t made = NULL;
  TDM_TRY(make_event(context->hip, "event_open", hipEventDefault, &made));
  *event = made;
  return TDM_OK;
}

static tdm_status close_event(const tdm_context *context, void *event) {
  return tdm_hip_check(context->hip, "event_close", "EventDestroy", context->hip->library->EventDestroy(event));
}

static tdm_status record_event(const tdm_context *context, void *event, void *stream) {
  static const char what[] = "event_record";
  const tdm_hip_device *d = context->hip;
  int before;
  TDM_TRY(tdm_hip_enter(d, what, &before));
  tdm_status status = tdm_hip_check(d, what, "EventRecord", d->library->EventRecord(event, stream));
  return tdm_hip_leave(d, what, before, status);
}

static tdm_status wait_event(const tdm_context *context, void *event, void *stream) {
  static const char what[] = "event_wait";
  const tdm_hip_device *d = context->hip;
  int before;
  TDM_TRY(tdm_hip_enter(d, what, &before));
  tdm_status status = tdm_hip_check(d, what, "StreamWaitEvent", d->library->StreamWaitEvent(stream, event, 0));
  return tdm_hip_leave(d, what, before, status);
}

static tdm_status sync_event(const tdm_context *context, void *event) {
  const tdm_hip_device *d = context->hip;
  return tdm_hip_check(d, "event_sync", "EventSynchronize", d->library->EventSynchronize(event));
}

static tdm_status elapsed(const tdm_context *context, void *begin, void *end, double *milliseconds) {
  const tdm_hip_device *d = context->hip;
  float measured;
  TDM_TRY(tdm_hip_check(d, "event_elapsed", "EventElapsedTime", d->library->EventElapsedTime(&measured, begin, end)));
  *milliseconds = (double)measured;
  return TDM_OK;
}

const tdm_marks tdm_hip_marks = {open_event, close_event, record_event, wait_event, sync_event, elapsed};

/* ---- Serializing the runs of a plan: an event is recorded after each run, and the next run waits for it. The device stays
 * current from begin to end, so that between a launch and its event only the recording itself can fail.
 *
 * A stream that captures gets neither: it must not wait for what is not in its graph, and a graph is executed later, and more
 * than once, when an event of the capture says nothing. ---- */

typedef struct run_event {
  hipEvent_t event;
  int before;    /* during a run: the device that was current before it */
  bool captured; /* likewise: its stream captures */
} run_event;

static tdm_status open_serializer(const tdm_context *context, void **serializer) {
  run_event *made = calloc(1, sizeof *made);
  if (made == NULL)
    return tdm_fail(TDM_ERROR_MEMORY, "plan: no memory for the serializer of its runs, %zu bytes", sizeof *made);
  tdm_status status = make_event(context->hip, "plan", hipEventDisableTiming, &made->event);
  if (status == TDM_OK)
    *serializer = made;
  else
    free(made);
  return status;
}

static tdm_status close_serializer(const tdm_context *context, void *serializer) {
  run_event *e = serializer;
  tdm_status status = tdm_hip_check(context->hip, "plan_free", "EventDestroy", context->hip->library->EventDestroy(e->event));
  free(e);
  return status;
}

/* Before the first run the event has not been recorded, and the wait ends immediately. */
static tdm_status wait_for_last(const tdm_hip_device *d, run_event *e, void *stream) {
  hipStreamCaptureStatus captures = hipStreamCaptureStatusNone;
  TDM_TRY(tdm_hip_check(d, "run", "StreamIsCapturing", d->library->StreamIsCapturing(stream, &captures)));
  e->captured = captures != hipStreamCaptureStatusNone;
  if (e->captured) return TDM_OK;
  return tdm_hip_check(d, "run", "StreamWaitEvent", d->library->StreamWaitEvent(stream, e->event, 0));
}

static tdm_status begin_run(const tdm_context *context, void *serializer, void *stream) {
  const tdm_hip_device *d = context->hip;
  run_event *e = serializer;
  TDM_TRY(tdm_hip_enter(d, "run", &e->before));
  tdm_status status = wait_for_last(d, e, stream);
  return status == TDM_OK ? TDM_OK : tdm_hip_leave(d, "run", e->before, status);
}

/* A run that could not record its event must be completed here, because the next run would not wait for it. */
static tdm_status end_run(const tdm_context *context, void *serializer, void *stream) {
  const tdm_hip_device *d = context->hip;
  run_event *e = serializer;
  tdm_status status = TDM_OK;
  if (!e->captured) status = tdm_hip_check(d, "run", "EventRecord", d->library->EventRecord(e->event, stream));
  if (status != TDM_OK) TDM_CLEAN_UP(tdm_hip_check(d, "run", "StreamSynchronize", d->library->StreamSynchronize(stream)));
  return tdm_hip_leave(d, "run", e->before, status);
}

const tdm_serializer tdm_hip_serializer = {open_serializer, close_serializer, begin_run, end_run};
