/* The life of a plan: made by its op's plan function, run, freed. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dispatch.h"
#include "shadow.h"

tdm_status tdm_plan_begin(tdm_context *context, tdm_op op, const void *desc, tdm_plan **out, tdm_plan **plan) {
  const char *name = tdm_op_names[op];
  TDM_TRY(tdm_context_check(name, context));
  if (desc == NULL) return tdm_fail(TDM_ERROR_ARGUMENT, "%s: desc = NULL: must point to a description", name);
  if (out == NULL) return tdm_fail(TDM_ERROR_ARGUMENT, "%s: plan = NULL: must point to a tdm_plan *", name);
  tdm_plan *made = calloc(1, sizeof *made);
  if (made == NULL) return tdm_fail(TDM_ERROR_MEMORY, "%s: no memory for a plan of %zu bytes", name, sizeof *made);
  if (pthread_mutex_init(&made->lock, NULL) != 0) {
    free(made);
    return tdm_fail(TDM_ERROR_MEMORY, "%s: no memory for a plan's lock", name);
  }
  made->op = op;
  made->made = made;
  made->context = context;
  *plan = made;
  return TDM_OK;
}

static tdm_status finish(tdm_plan *plan) {
  TDM_TRY(tdm_plan_choose(plan));
  plan->fallback = plan->kernel->fallback;
  TDM_TRY(plan->kernel->prepare(plan));
  tdm_plan_say_fallback(plan);
  const tdm_backend *backend = plan->context->backend;
  if (plan->context->verify) TDM_TRY(tdm_shadow_open(plan));
  if (plan->workspace_bytes == 0) return TDM_OK;
  TDM_TRY(backend->alloc(plan->context, plan->workspace_bytes, &plan->workspace));
  return backend->serializer == NULL ? TDM_OK : backend->serializer->open(plan->context, &plan->serializer);
}

tdm_status tdm_plan_end(tdm_plan *plan, tdm_status status, tdm_plan **out) {
  void *before = NULL;
  if (status == TDM_OK) status = tdm_enter(plan->context, plan->title, &before);
  if (status == TDM_OK) status = tdm_leave(plan->context, plan->title, before, finish(plan));
  if (status == TDM_OK)
    *out = plan;
  else
    TDM_CLEAN_UP(tdm_plan_free(plan));
  return status;
}

/* What the device has of a plan. */
static tdm_status release(tdm_plan *plan) {
  const tdm_context *context = plan->context;
  const tdm_backend *backend = context->backend;
  void *before = NULL;
  tdm_status entered = tdm_enter(context, "plan_free", &before), status = entered;
  if (plan->serializer != NULL) TDM_FIRST(status, backend->serializer->close(context, plan->serializer));
  if (plan->workspace != NULL) TDM_FIRST(status, backend->free(context, plan->workspace));
  if (plan->table != NULL) TDM_FIRST(status, backend->free(context, plan->table));
  return entered == TDM_OK ? tdm_leave(context, "plan_free", before, status) : status;
}

tdm_status tdm_plan_free(tdm_plan *plan) {
  if (plan == NULL) return TDM_OK;
  tdm_shadow_close(plan);
  tdm_status status = tdm_context_lost(plan->context) ? TDM_OK : release(plan);
  pthread_mutex_destroy(&plan->lock);
  free(plan);
  return status;
}

const char *tdm_plan_explain(const tdm_plan *plan) { return plan == NULL ? "no plan" : plan->explain; }

const char *tdm_plan_kernel(const tdm_plan *plan) { return plan == NULL ? "no plan" : plan->kernel->name; }

void tdm_plan_title(tdm_plan *plan, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(plan->title, sizeof plan->title, format, args);
  va_end(args);
}

void tdm_plan_buffer(tdm_plan *plan, const char *name, tdm_role role, size_t bytes, size_t align) {
  plan->buffers[plan->buffer_count++] = (tdm_buffer){.name = name, .role = role, .bytes = bytes, .align = align, .used = true};
}

void tdm_plan_no_buffer(tdm_plan *plan, const char *name) {
  plan->buffers[plan->buffer_count++] = (tdm_buffer){.name = name, .align = 1};
}

/* ---- Running ---- */

static bool overlap(const tdm_buffer *a, uintptr_t at_a, const tdm_buffer *b, uintptr_t at_b) {
  return at_a < at_b + b->bytes && at_b < at_a + a->bytes;
}

/* An output must not overlap another array, except the one that it may replace. */
static tdm_status check_overlap(const tdm_plan *plan, const void *const *pointers, int out) {
  const tdm_buffer *a = &plan->buffers[out];
  for (int i = 0; i < plan->buffer_count; i++) {
    const tdm_buffer *b = &plan->buffers[i];
    bool same_allowed = (a->in_place >> i & 1) && pointers[out] == pointers[i];
    bool seen = b->role != TDM_IN && i < out; /* each pair of outputs comes up twice */
    if (i == out || b->bytes == 0 || same_allowed || seen) continue;
    if (overlap(a, (uintptr_t)pointers[out], b, (uintptr_t)pointers[i]))
      return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %p (%zu bytes) overlaps %s = %p (%zu bytes): must not%s",
                      tdm_op_names[plan->op], a->name, pointers[out], a->bytes, b->name, pointers[i], b->bytes,
                      a->in_place >> i & 1 ? ", except as the same pointer" : "");
  }
  return TDM_OK;
}

/* Where the runtime can tell, an array that the device can't reach is an argument, and not a fault of the device. */
static tdm_status check_reach(const tdm_plan *plan, const void *const *pointers) {
  const tdm_context *context = plan->context;
  char reason[160];
  if (context->backend->reaches == NULL) return TDM_OK;
  for (int i = 0; i < plan->buffer_count; i++) {
    if (plan->buffers[i].bytes == 0) continue;
    tdm_status status = context->backend->reaches(context, plan->title, pointers[i], reason, sizeof reason);
    if (status == TDM_ERROR_ARGUMENT)
      return tdm_fail(status, "%s: %s = %p: %s", tdm_op_names[plan->op], plan->buffers[i].name, pointers[i], reason);
    TDM_TRY(status);
  }
  return TDM_OK;
}

static tdm_status check_pointers(const tdm_plan *plan, const void *const *pointers) {
  const char *op = tdm_op_names[plan->op];
  for (int i = 0; i < plan->buffer_count; i++) {
    const tdm_buffer *buffer = &plan->buffers[i];
    if (!buffer->used && pointers[i] != NULL)
      return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %p: must be NULL, the plan was made without it", op, buffer->name,
                      pointers[i]);
    if (buffer->bytes == 0) continue;
    if (pointers[i] == NULL)
      return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = NULL: must point to %zu bytes", op, buffer->name, buffer->bytes);
    if ((uintptr_t)pointers[i] % buffer->align != 0)
      return tdm_fail(TDM_ERROR_ARGUMENT, "%s: %s = %p: must be aligned to its element of %zu bytes", op, buffer->name,
                      pointers[i], buffer->align);
  }
  for (int i = 0; i < plan->buffer_count; i++)
    if (plan->buffers[i].bytes > 0 && plan->buffers[i].role != TDM_IN) TDM_TRY(check_overlap(plan, pointers, i));
  return check_reach(plan, pointers);
}

/* Serializes runs that share a workspace: the lock serializes their launches, and the backend's serializer their work on
 * the device. */
static tdm_status launch_serialized(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  const tdm_serializer *serializer = plan->context->backend->serializer;
  void *handle = tdm_stream_handle(stream);
  if (serializer == NULL) return plan->kernel->launch(plan, buffers, stream);
  TDM_TRY(serializer->begin(plan->context, plan->serializer, handle));
  tdm_status status = plan->kernel->launch(plan, buffers, stream);
  /* A launch that failed may have left work on the device, which the next run must wait for too. */
  TDM_FIRST(status, tdm_may_have_written(serializer->end(plan->context, plan->serializer, handle)));
  return status;
}

/* Kernels only read what the plan calls TDM_IN, so one array of plain pointers is enough. */
static void plain_pointers(const tdm_plan *plan, const void *const *pointers, void *buffers[TDM_MAX_BUFFERS]) {
  for (int i = 0; i < plan->buffer_count; i++) buffers[i] = (void *)(uintptr_t)pointers[i];
}

tdm_status tdm_plan_ready(const tdm_plan *plan) {
  const tdm_context *context = plan->context;
  if (!tdm_context_is_host(context)) return TDM_OK;
  return tdm_host_region(plan->title, (int64_t)plan->launch.teams * plan->launch.threads);
}

static tdm_status launch(const tdm_plan *plan, const void *const *pointers, tdm_stream *stream) {
  void *buffers[TDM_MAX_BUFFERS] = {0};
  TDM_TRY(tdm_plan_ready(plan));
  plain_pointers(plan, pointers, buffers);
  if (plan->workspace == NULL) return plan->kernel->launch(plan, buffers, stream);
  pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&plan->made->lock;
  pthread_mutex_lock(lock);
  tdm_status status = launch_serialized(plan, buffers, stream);
  pthread_mutex_unlock(lock);
  return status;
}

static tdm_status launch_verified(const tdm_plan *plan, const void *const *pointers, tdm_stream *stream) {
  return plan->shadow == NULL ? launch(plan, pointers, stream) : tdm_shadow_run(plan, pointers, stream, launch);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ", with a copy of a and b," */
static void say_copies(const tdm_plan *plan, unsigned copies, char *text, size_t size) {
  const char *before = ", with a copy of ";
  for (int i = 0; i < plan->buffer_count; i++) {
    if ((copies >> i & 1) == 0) continue;
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", before, plan->buffers[i].name);
    before = " and ";
  }
  size_t used = strlen(text);
  if (copies != 0) snprintf(text + used, size - used, ",");
}

/* "hip_256x256:window=4 (tuned)", and the fallback if these pointers need it, or what they make the run copy. */
static void say_kernel(const tdm_plan *plan, const void *const *pointers, char *text, size_t size) {
  static const char *const sources[] = {[TDM_NAMED] = "named", [TDM_TUNED] = "tuned", [TDM_HEURISTIC] = "heuristic"};
  const tdm_fallback *fallback = &plan->fallback;
  char parameters[96];
  void *buffers[TDM_MAX_BUFFERS] = {0};
  plain_pointers(plan, pointers, buffers);
  tdm_tuning_print(&plan->tuning, parameters, sizeof parameters);
  int used = snprintf(text, size, "%s%s (%s)", plan->kernel->name, parameters, sources[plan->source]);
  if (tdm_plan_falls_back(plan, buffers) && used < (int)size)
    snprintf(text + used, size - (size_t)used, ", by %s as pointers are not aligned to %d bytes,", fallback->kernel->name,
             fallback->align);
  say_copies(plan, tdm_plan_copies(plan, buffers), text, size);
}

tdm_status tdm_plan_check(const tdm_plan *plan, tdm_op op) {
  if (plan == NULL)
    return tdm_fail(TDM_ERROR_ARGUMENT, "%s: plan = NULL: must come from tdm_%s_plan", tdm_op_names[op], tdm_op_names[op]);
  if (plan->op == op) return TDM_OK;
  return tdm_fail(TDM_ERROR_ARGUMENT, "%s: plan = %p: is a plan of %s", tdm_op_names[op], (const void *)plan,
                  tdm_op_names[plan->op]);
}

tdm_status tdm_plan_rebind(const tdm_plan *plan, const char *name, int64_t value, tdm_plan *run) {
  if (!plan->kernel->rebindable)
    return tdm_fail(TDM_ERROR_UNSUPPORTED, "%s: kernel %s can't change %s of its plan in a run: make a plan for each value",
                    tdm_op_names[plan->op], plan->kernel->name, name);
  memcpy(run, plan, offsetof(tdm_plan, lock));
  run->rebound = name;
  run->rebound_to = value;
  return TDM_OK;
}

const char *tdm_plan_run_title(const tdm_plan *plan, char text[TDM_TITLE_TEXT]) {
  if (plan->rebound == NULL) return plan->title;
  snprintf(text, TDM_TITLE_TEXT, "%s, %s = %" PRId64, plan->title, plan->rebound, plan->rebound_to);
  return text;
}

/* A run that is logged is waited for, except where its stream captures: then it has not begun. */
static tdm_status launch_logged(const tdm_plan *plan, const void *const *pointers, tdm_stream *stream) {
  const tdm_context *context = plan->context;
  char kernel[224], title[TDM_TITLE_TEXT], line[576], time[32] = "captured";
  bool captures;
  double start = seconds();
  TDM_TRY(tdm_stream_captures(context, plan->title, stream, &captures));
  TDM_TRY(launch_verified(plan, pointers, stream));
  if (!captures) {
    TDM_TRY(tdm_may_have_written(context->backend->sync(context, tdm_stream_handle(stream))));
    snprintf(time, sizeof time, "%.3f ms", 1e3 * (seconds() - start));
  }
  say_kernel(plan, pointers, kernel, sizeof kernel);
  snprintf(line, sizeof line, "tandem: %s: %s on %s, %s", tdm_plan_run_title(plan, title), kernel, context->device, time);
  context->log(context->log_user, line);
  return TDM_OK;
}

tdm_status tdm_plan_run(const tdm_plan *plan, tdm_op op, const void *const *pointers, tdm_stream *stream) {
  void *before = NULL;
  TDM_TRY(tdm_plan_check(plan, op));
  const tdm_context *context = plan->context;
  if (tdm_context_lost(context)) return tdm_fail_lost(tdm_op_names[op], context->device);
  TDM_TRY(tdm_stream_check(tdm_op_names[op], context, stream));
  TDM_TRY(check_pointers(plan, pointers));
  if (plan->empty) return TDM_OK;
  TDM_TRY(tdm_stream_catch_up(context, plan->title, stream));
  TDM_TRY(tdm_enter(context, plan->title, &before));
  tdm_status status = (context->verbose ? launch_logged : launch_verified)(plan, pointers, stream);
  tdm_status left = tdm_leave(context, plan->title, before, status);
  return status == TDM_OK ? tdm_may_have_written(left) : left;
}
