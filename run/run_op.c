/* Runs the op on each device of the list, and compares. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job.h"

/* ---- One device ---- */

typedef struct session {
  tdm_context *context;
  tdm_plan *plan;
  void *pointer[CASE_MAX_ARRAYS]; /* device memory, NULL where the case has no such array */
} session;

static bool fail_library(job *j, tdm_status status) {
  bool usage = status == TDM_ERROR_ARGUMENT || status == TDM_ERROR_UNSUPPORTED;
  return job_fail(j, usage ? EXIT_USAGE : EXIT_FAILED, "%s", tdm_last_error());
}

/* The first thing that can't be released fails the job, unless it has failed before. */
static bool close_session(job *j, session *s, bool ok) {
  if (s->context == NULL) return ok;
  for (int i = 0; i <= CASE_MAX_ARRAYS + 1; i++) {
    tdm_status status = i < CASE_MAX_ARRAYS    ? tdm_free(s->context, s->pointer[i])
                        : i == CASE_MAX_ARRAYS ? tdm_plan_free(s->plan)
                                               : tdm_close(s->context);
    if (status != TDM_OK && ok) ok = fail_library(j, status);
  }
  return ok;
}

static tdm_status upload(const job *j, session *s) {
  tdm_status status = TDM_OK;
  for (int i = 0; i < j->count && status == TDM_OK; i++) {
    const job_array *array = &j->array[i];
    if (!array->is.used) continue;
    size_t bytes = case_array_bytes(&array->is);
    status = tdm_alloc(s->context, bytes, &s->pointer[i]);
    if (status == TDM_OK) status = tdm_copy(s->context, s->pointer[i], array->host, bytes, TDM_TO_DEVICE, NULL);
  }
  return status;
}

/* Copies the outputs into results[], which are the caller's to free. */
static bool download(job *j, session *s, void *results[CASE_MAX_ARRAYS]) {
  for (int i = 0; i < j->count; i++) {
    const job_array *array = &j->array[i];
    if (!array->is.used || !array->is.output) continue;
    size_t bytes = case_array_bytes(&array->is);
    results[i] = malloc(bytes > 0 ? bytes : 1);
    if (results[i] == NULL) return job_fail(j, EXIT_FAILED, "%s: no memory for %zu bytes", array->is.name, bytes);
    tdm_status status = tdm_copy(s->context, results[i], s->pointer[i], bytes, TDM_TO_HOST, NULL);
    if (status != TDM_OK) return fail_library(j, status);
  }
  return true;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What is known before the run; the plan does not outlive the session. */
static bool describe_run(job *j, const session *s, job_run *run) {
  snprintf(run->device, sizeof run->device, "%s", tdm_context_device(s->context)); /* auto, by its name */
  snprintf(run->kernel, sizeof run->kernel, "%s", tdm_plan_kernel(s->plan));
  run->explained = strdup(tdm_plan_explain(s->plan));
  return run->explained != NULL || job_fail(j, EXIT_FAILED, "no memory for the plan's explanation");
}

static bool run_session(job *j, session *s, const char *device, job_run *run, void *results[CASE_MAX_ARRAYS]) {
  tdm_status status = case_open(&j->options, device, &s->context);
  if (status == TDM_OK) status = j->c.op->plan(s->context, &j->c, &s->plan);
  if (status != TDM_OK) return fail_library(j, status);
  if (!describe_run(j, s, run)) return false;
  status = upload(j, s);
  double start = seconds_now();
  if (status == TDM_OK) status = case_run(&j->c, s->plan, s->pointer, NULL);
  if (status == TDM_OK) status = tdm_stream_sync(s->context, NULL);
  if (status != TDM_OK) return fail_library(j, status);
  if (!case_is_simulated(run->device)) run->seconds = seconds_now() - start;
  return download(j, s, results);
}

bool job_check_case(job *j) {
  session s = {0};
  tdm_status status = case_open(&j->options, j->devices.name[0], &s.context);
  if (status == TDM_OK) status = j->c.op->plan(s.context, &j->c, &s.plan);
  bool ok = status == TDM_OK || fail_library(j, status);
  return close_session(j, &s, ok);
}

/* ---- Two devices ---- */

typedef struct difference {
  double absolute, relative;
  int64_t row, column; /* of the largest absolute one */
  int64_t nan_on_one;  /* elements that only one of the two calls NaN */
} difference;

static void compare_elements(difference *d, double x, double y, int64_t row, int64_t column) {
  if (isnan(x) || isnan(y)) {
    d->nan_on_one += isnan(x) != isnan(y);
    return;
  }
  if (x == y) return; /* equal infinities have no difference */
  double distance = fabs(x - y), size = fmax(fabs(x), fabs(y));
  if (distance > d->absolute) *d = (difference){distance, d->relative, row, column, d->nan_on_one};
  if (distance / size > d->relative) d->relative = distance / size;
}

static void note_difference(FILE *out, const case_array *array, const void *x, const void *y, const char *first,
                            const char *other) {
  difference d = {0};
  int64_t rows = case_rows(array), cols = case_row_length(array);
  for (int64_t row = 0; row < rows; row++)
    for (int64_t i = 0, at = case_row_offset(array, row); i < cols; i++)
      compare_elements(&d, case_get(x, at + i, array->element), case_get(y, at + i, array->element), row, i);
  fprintf(out, "%s: %s against %s: ", array->name, other, first);
  if (d.absolute == 0 && d.nan_on_one == 0) {
    fprintf(out, "equal\n");
    return;
  }
  fprintf(out, "largest difference %.3g (row %" PRId64 ", column %" PRId64 "), largest relative difference %.3g", d.absolute,
          d.row, d.column, d.relative);
  if (d.nan_on_one > 0) fprintf(out, ", %" PRId64 " elements are NaN on one of the two", d.nan_on_one);
  fprintf(out, "\n");
}

/* The first device's results are kept; another's are compared with them. */
static void keep_or_compare(job *j, int device, void *results[CASE_MAX_ARRAYS]) {
  for (int i = 0; i < j->count; i++) {
    job_array *array = &j->array[i];
    if (results[i] == NULL) continue;
    if (device > 0)
      note_difference(j->notes, &array->is, array->result, results[i], j->run[0].device, j->run[device].device);
    else
      array->result = results[i], results[i] = NULL;
  }
}

bool job_launch(job *j) {
  bool ok = true;
  for (int device = 0; device < j->devices.count && ok; device++) {
    session s = {0};
    void *results[CASE_MAX_ARRAYS] = {0};
    ok = run_session(j, &s, j->devices.name[device], &j->run[device], results);
    if (ok) keep_or_compare(j, device, results);
    for (int i = 0; i < CASE_MAX_ARRAYS; i++) free(results[i]);
    ok = close_session(j, &s, ok);
  }
  return ok;
}
