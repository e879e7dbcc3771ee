/* Streams of the API, and events. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dispatch.h"

/* ---- For runs and copies ---- */

tdm_status tdm_stream_check(const char *function, const tdm_context *context, const tdm_stream *stream) {
  if (stream == NULL || stream->context == context) return TDM_OK;
  return tdm_fail(TDM_ERROR_ARGUMENT, "%s: stream = %p: belongs to another context", function, (const void *)stream);
}

tdm_status tdm_stream_catch_up(const tdm_context *context, const char *what, const tdm_stream *stream) {
  if (stream == NULL || !stream->wrapped || context->backend->catch_up == NULL) return TDM_OK;
  return context->backend->catch_up(context, what, stream->handle);
}

tdm_status tdm_stream_captures(const tdm_context *context, const char *what, const tdm_stream *stream, bool *yes) {
  *yes = false;
  if (context->backend->captures == NULL) return TDM_OK;
  return context->backend->captures(context, what, tdm_stream_handle(stream), yes);
}

tdm_status tdm_stream_waits(const tdm_context *context, const char *what, const tdm_stream *stream) {
  bool captures;
  TDM_TRY(tdm_stream_captures(context, what, stream, &captures));
  if (!captures) return TDM_OK;
  return tdm_fail(TDM_ERROR_UNSUPPORTED, "%s: stream = %p: captures a graph, so nothing can wait for its work", what,
                  (const void *)stream);
}

/* ---- Streams ---- */

static tdm_status check_new(const char *function, const tdm_context *context, const void *to) {
  TDM_TRY(tdm_context_check(function, context));
  if (to == NULL) return tdm_fail(TDM_ERROR_ARGUMENT, "%s: stream = NULL: must point to a tdm_stream *", function);
  return TDM_OK;
}

static tdm_status make_stream(const char *function, tdm_context *context, tdm_stream **made) {
  *made = malloc(sizeof **made);
  if (*made == NULL) return tdm_fail(TDM_ERROR_MEMORY, "%s: no memory for a stream of %zu bytes", function, sizeof **made);
  **made = (tdm_stream){.context = context};
  return TDM_OK;
}

/* Keeps a stream that could be opened. */
static tdm_status keep_stream(tdm_stream *made, tdm_status status, tdm_stream **stream) {
  if (status == TDM_OK)
    *stream = made;
  else
    free(made);
  return status;
}

tdm_status tdm_stream_open(tdm_context *context, tdm_stream **stream) {
  tdm_stream *made;
  TDM_TRY(check_new("stream_open", context, stream));
  TDM_TRY(make_stream("stream_open", context, &made));
  return keep_stream(made, context->backend->stream_open(context, &made->handle), stream);
}

tdm_status tdm_stream_wrap(tdm_context *context, void *native, tdm_stream **stream) {
  tdm_stream *made;
  TDM_TRY(check_new("stream_wrap", context, stream));
  if (context->backend->wrap == NULL || tdm_context_is_host(context))
    return tdm_fail(TDM_ERROR_UNSUPPORTED, "stream_wrap: device %s has no streams: use NULL or tdm_stream_open",
                    context->device);
  TDM_TRY(make_stream("stream_wrap", context, &made));
  made->handle = native;
  made->wrapped = true;
  return keep_stream(made, context->backend->wrap(context, native), stream);
}

void *tdm_stream_native(const tdm_stream *stream) { return tdm_stream_handle(stream); }

tdm_status tdm_stream_sync(tdm_context *context, tdm_stream *stream) {
  static const char what[] = "stream_sync";
  TDM_TRY(tdm_context_check(what, context));
  TDM_TRY(tdm_stream_check(what, context, stream));
  TDM_TRY(tdm_stream_waits(context, what, stream));
  TDM_TRY(tdm_stream_catch_up(context, what, stream));
  return tdm_may_have_written(context->backend->sync(context, tdm_stream_handle(stream)));
}

tdm_status tdm_stream_close(tdm_stream *stream) {
  if (stream == NULL) return TDM_OK;
  const tdm_context *context = stream->context;
  bool leave = stream->wrapped || tdm_context_lost(context);
  tdm_status status = leave ? TDM_OK : context->backend->stream_close(context, stream->handle);
  free(stream);
  return status;
}

/* ---- Events ---- */

struct tdm_event {
  tdm_context *context;
  void *handle;             /* the backend's, if it has marks */
  _Atomic int64_t recorded; /* the host's time in ns; 0: it has not been recorded */
};

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + 1; /* never 0 */
}

static tdm_status check_event(const char *function, const char *name, const tdm_event *event) {
  if (event == NULL) return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = NULL: must come from tdm_event_open", function, name);
  return tdm_context_check(function, event->context);
}

tdm_status tdm_event_open(tdm_context *context, tdm_event **event) {
  TDM_TRY(tdm_context_check("event_open", context));
  if (event == NULL) return tdm_fail(TDM_ERROR_ARGUMENT, "event_open: event = NULL: must point to a tdm_event *");
  tdm_event *made = calloc(1, sizeof *made);
  if (made == NULL) return tdm_fail(TDM_ERROR_MEMORY, "event_open: no memory for an event of %zu bytes", sizeof *made);
  made->context = context;
  tdm_status status = context->backend->marks == NULL ? TDM_OK : context->backend->marks->open(context, &made->handle);
  if (status == TDM_OK)
    *event = made;
  else
    free(made);
  return status;
}

tdm_status tdm_event_close(tdm_event *event) {
  if (event == NULL) return TDM_OK;
  const tdm_marks *marks = event->context->backend->marks;
  bool leave = marks == NULL || tdm_context_lost(event->context);
  tdm_status status = leave ? TDM_OK : marks->close(event->context, event->handle);
  free(event);
  return status;
}

tdm_status tdm_event_record(tdm_event *event, tdm_stream *stream) {
  static const char what[] = "event_record";
  TDM_TRY(check_event(what, "event", event));
  const tdm_context *context = event->context;
  const tdm_marks *marks = context->backend->marks;
  TDM_TRY(tdm_stream_check(what, context, stream));
  TDM_TRY(tdm_stream_catch_up(context, what, stream));
  if (marks != NULL) TDM_TRY(marks->record(context, event->handle, tdm_stream_handle(stream)));
  atomic_store(&event->recorded, now());
  return TDM_OK;
}

/* Where runs are done when they return, everything before a record is done too. */
tdm_status tdm_event_wait(tdm_event *event, tdm_stream *stream) {
  static const char what[] = "event_wait";
  TDM_TRY(check_event(what, "event", event));
  const tdm_marks *marks = event->context->backend->marks;
  TDM_TRY(tdm_stream_check(what, event->context, stream));
  if (marks == NULL || atomic_load(&event->recorded) == 0) return TDM_OK;
  return marks->wait(event->context, event->handle, tdm_stream_handle(stream));
}

tdm_status tdm_event_sync(tdm_event *event) {
  TDM_TRY(check_event("event_sync", "event", event));
  const tdm_marks *marks = event->context->backend->marks;
  if (marks == NULL || atomic_load(&event->recorded) == 0) return TDM_OK;
  return tdm_may_have_written(marks->sync(event->context, event->handle));
}

static tdm_status check_recorded(const char *name, const tdm_event *event, const tdm_context *context) {
  static const char what[] = "event_elapsed";
  TDM_TRY(check_event(what, name, event));
  if (event->context != context)
    return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %p: belongs to another context than begin", what, name, (const void *)event);
  if (atomic_load(&event->recorded) != 0) return TDM_OK;
  return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %p: has not been recorded", what, name, (const void *)event);
}

tdm_status tdm_event_elapsed(tdm_event *begin, tdm_event *end, double *milliseconds) {
  TDM_TRY(check_event("event_elapsed", "begin", begin));
  const tdm_context *context = begin->context;
  TDM_TRY(check_recorded("begin", begin, context));
  TDM_TRY(check_recorded("end", end, context));
  if (milliseconds == NULL) return tdm_fail(TDM_ERROR_ARGUMENT, "event_elapsed: milliseconds = NULL: must point to a double");
  TDM_TRY(tdm_event_sync(begin));
  TDM_TRY(tdm_event_sync(end));
  if (context->backend->marks != NULL)
    return context->backend->marks->elapsed(context, begin->handle, end->handle, milliseconds);
  *milliseconds = 1e-6 * (double)(atomic_load(&end->recorded) - atomic_load(&begin->recorded));
  return TDM_OK;
}
