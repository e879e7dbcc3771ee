/* Shadow runs: the oracle's plan in addition to a plan, and the comparison. */
#include "shadow.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/elem.h"
#include "src/base/types.h"

struct tdm_shadow {
  tdm_context *host;
  tdm_plan *oracle;
  tdm_epilogue_step *steps;                               /* gemm */
  void *before[TDM_MAX_BUFFERS];                          /* host copies of what a run reads */
  void *expected[TDM_MAX_BUFFERS], *got[TDM_MAX_BUFFERS]; /* what it writes: from the oracle, and from the plan's kernel */
  shadow_view view[2];
  int views, threads;
  int64_t longest; /* the longest row of an output */
  double *error;   /* [threads][longest] */
  unsigned char *wanted;
  pthread_mutex_t lock; /* runs of a plan share all of this */
};

/* The first row of each op's table of OpenMP kernels. */
static const tdm_kernel *oracle_of(tdm_op op) { return tdm_built_in_ops[op].omp[0]; }

/* ---- What a plan needs ---- */

static tdm_status allocate(const tdm_plan *plan, const char *what, size_t bytes, void *pointer) {
  void *made = malloc(bytes);
  if (made == NULL) return tdm_fail(TDM_ERROR_MEMORY, "%s: verify: no memory for %s of %zu bytes", plan->title, what, bytes);
  memcpy(pointer, &made, sizeof made);
  return TDM_OK;
}

/* The oracle's plan: the same description, with its defaults filled in, on the host. */
static tdm_status make_oracle(const tdm_plan *plan, tdm_shadow *s) {
  TDM_TRY(tdm_open(&(tdm_options){.backend = "omp", .device = "host", .kernel = oracle_of(plan->op)->name, .wait = "auto"},
                   &s->host));
  tdm_plan *o;
  TDM_TRY(tdm_plan_begin(s->host, plan->op, &plan->desc, &o, &o));
  o->desc = plan->desc;
  o->buffer_count = plan->buffer_count;
  memcpy(o->buffers, plan->buffers, sizeof o->buffers);
  memcpy(o->title, plan->title, sizeof o->title);
  TDM_TRY(tdm_plan_end(o, TDM_OK, &s->oracle));
  if (plan->op != TDM_OP_GEMM) return TDM_OK;
  const tdm_gemm_desc *d = &plan->desc.gemm;
  s->oracle->desc.gemm.epilogue = NULL; /* the caller's array */
  if (d->epilogue_steps == 0) return TDM_OK;
  TDM_TRY(allocate(plan, "its epilogue", (size_t)d->epilogue_steps * sizeof *s->steps, &s->steps));
  memcpy(s->steps, d->epilogue, (size_t)d->epilogue_steps * sizeof *s->steps);
  return TDM_OK;
}

static tdm_status make_buffers(const tdm_plan *plan, tdm_shadow *s) {
  for (int i = 0; i < plan->buffer_count; i++) {
    const tdm_buffer *b = &plan->buffers[i];
    if (!b->used || b->bytes == 0) continue;
    if (b->role != TDM_OUT) TDM_TRY(allocate(plan, b->name, b->bytes, &s->before[i]));
    if (b->role == TDM_IN) continue;
    TDM_TRY(allocate(plan, b->name, b->bytes, &s->expected[i]));
    TDM_TRY(allocate(plan, b->name, b->bytes, &s->got[i]));
  }
  s->views = tdm_built_in_ops[plan->op].row->views(plan, s->view);
  for (int i = 0; i < s->views; i++) {
    int64_t length = s->view[i].dim[s->view[i].rank - 1];
    s->longest = length > s->longest ? length : s->longest;
  }
  s->threads = plan->context->host_threads;
  size_t count = (size_t)s->threads * (size_t)s->longest; /* fits: an output holds a row */
  TDM_TRY(allocate(plan, "error bounds", count * sizeof *s->error, &s->error));
  return allocate(plan, "marks", count, &s->wanted);
}

bool tdm_shadow_applies(const tdm_plan *plan) {
  return !tdm_context_is_host(plan->context) || plan->kernel != oracle_of(plan->op);
}

tdm_status tdm_shadow_open(tdm_plan *plan) {
  if (plan->empty || !tdm_shadow_applies(plan)) return TDM_OK;
  tdm_shadow *s = calloc(1, sizeof *s);
  if (s == NULL) return tdm_fail(TDM_ERROR_MEMORY, "%s: verify: no memory for a shadow of %zu bytes", plan->title, sizeof *s);
  if (pthread_mutex_init(&s->lock, NULL) != 0) {
    free(s);
    return tdm_fail(TDM_ERROR_MEMORY, "%s: verify: no memory for a lock", plan->title);
  }
  plan->shadow = s; /* from here on tdm_plan_free closes it */
  TDM_TRY(make_oracle(plan, s));
  return make_buffers(plan, s);
}

void tdm_shadow_close(tdm_plan *plan) {
  tdm_shadow *s = plan->shadow;
  if (s == NULL) return;
  tdm_plan_free(s->oracle);
  tdm_close(s->host);
  for (int i = 0; i < TDM_MAX_BUFFERS; i++) {
    free(s->before[i]);
    free(s->expected[i]);
    free(s->got[i]);
  }
  free(s->steps);
  free(s->error);
  free(s->wanted);
  pthread_mutex_destroy(&s->lock);
  free(s);
  plan->shadow = NULL;
}

/* ---- Comparison ---- */

/* The first difference in the order of rows and columns, and how many there are. */
typedef struct difference {
  const shadow_view *view;
  int64_t row, column, count;
  double got, expected, allowed;
} difference;

/* A correct result is within its error bound and its own rounding. So two correct results may differ by both of each. */
static double allowed_difference(double a, double b, tdm_type type, double error) {
  tdm_rounding of = tdm_rounding_of(type);
  return 2 * error + of.unit * (fabs(a) + fabs(b)) + of.least;
}

/* Rounding makes infinity of this value and of all larger ones. */
static double finite_value(double x, tdm_type type) { return isinf(x) ? copysign(tdm_rounding_of(type).beyond, x) : x; }

static bool same(double got, double expected) { return got == expected || (isnan(got) && isnan(expected)); }

/* A bound that is NaN, because sums overflow f64, allows everything except a NaN where there must be none. */
static bool agrees(double got, double expected, tdm_type type, double error) {
  if (same(got, expected)) return true;
  if (isnan(got) || isnan(expected)) return error == SHADOW_OR_NAN && (isinf(got) || isinf(expected));
  if (error == SHADOW_OR_NAN) return false;
  double a = finite_value(got, type), b = finite_value(expected, type);
  return !(fabs(a - b) > allowed_difference(a, b, type, error));
}

static int64_t row_offset(const shadow_view *v, int64_t row) {
  int64_t offset = 0;
  for (int i = v->rank - 2; i >= 0 && row > 0; i--) {
    offset += row % v->dim[i] * v->stride[i];
    row /= v->dim[i];
  }
  return offset;
}

/* Bounds are computed only for elements that differ by more than the rounding of both results can explain. */
static void compare_row(const shadow_row *r, const tdm_op_row *op, const void *got, unsigned char *wanted, double *error,
                        difference *d) {
  const shadow_view *v = r->view;
  int64_t length = v->dim[v->rank - 1], marked = 0;
  for (int64_t i = 0; i < length; i++) {
    double a = (double)tdm_load(got, r->at + i, v->type), b = (double)tdm_load(r->expected, r->at + i, v->type);
    wanted[i] = v->exact ? !same(a, b) : !agrees(a, b, v->type, 0);
    marked += wanted[i];
    error[i] = 0;
  }
  if (marked > 0 && !v->exact) op->errors(r, wanted, error);
  for (int64_t i = 0; i < length && marked > 0; i++) {
    if (!wanted[i]) continue;
    double a = (double)tdm_load(got, r->at + i, v->type), b = (double)tdm_load(r->expected, r->at + i, v->type);
    if (!v->exact && agrees(a, b, v->type, error[i])) continue;
    if (d->count++ == 0) {
      double allowed = v->exact ? 0 : allowed_difference(finite_value(a, v->type), finite_value(b, v->type), v->type, error[i]);
      *d = (difference){v, r->row, i, 1, a, b, allowed};
    }
  }
}

static void compare_output(const tdm_plan *plan, const shadow_view *v, difference *all) {
  const tdm_shadow *s = plan->shadow;
  int64_t rows = 1;
  for (int i = 0; i < v->rank - 1; i++) rows *= v->dim[i];
#pragma omp parallel num_threads(s->threads)
  {
    difference own = {0};
    size_t scratch = (size_t)omp_get_thread_num() * (size_t)s->longest;
#pragma omp for schedule(dynamic)
    for (int64_t row = 0; row < rows; row++) {
      difference d = {0};
      shadow_row r = {plan, s->steps, s->before, s->expected[v->buffer], v, row, row_offset(v, row)};
      compare_row(&r, tdm_built_in_ops[plan->op].row, s->got[v->buffer], s->wanted + scratch, s->error + scratch, &d);
      int64_t count = own.count + d.count;
      if (d.count > 0 && (own.count == 0 || row < own.row)) own = d;
      own.count = count;
    }
#pragma omp critical(tdm_shadow)
    {
      int64_t count = all->count + own.count;
      bool earlier = all->count == 0 || (all->view == v && own.row < all->row);
      if (own.count > 0 && earlier) *all = own;
      all->count = count;
    }
  }
}

/* "[2, 3, 17]". */
static void index_text(const shadow_view *v, int64_t row, int64_t column, char *text, size_t size) {
  int64_t index[TDM_SHADOW_RANK] = {0};
  index[v->rank - 1] = column;
  for (int i = v->rank - 2; i >= 0 && row > 0; i--) {
    index[i] = row % v->dim[i];
    row /= v->dim[i];
  }
  size_t used = (size_t)snprintf(text, size, "[");
  for (int i = 0; i < v->rank && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%" PRId64 "%s", index[i], i < v->rank - 1 ? ", " : "]");
}

static tdm_status report(const tdm_plan *plan, const difference *d) {
  char index[96], title[TDM_TITLE_TEXT];
  index_text(d->view, d->row, d->column, index, sizeof index);
  tdm_status status = tdm_fail(TDM_ERROR_VERIFY,
                               "%s: verify: %s on %s: %s%s = %.9g, the oracle has %.9g, allowed difference %.3g; %" PRId64
                               " elements are wrong, this is the first",
                               tdm_plan_run_title(plan, title), plan->kernel->name, plan->context->device,
                               plan->buffers[d->view->buffer].name, index, d->got, d->expected, d->allowed, d->count);
  char line[544];
  snprintf(line, sizeof line, "tandem: %s", tdm_last_error());
  plan->context->log(plan->context->log_user, line);
  return status;
}

/* ---- Runs ---- */

static tdm_status copy_back(const tdm_plan *plan, const void *const *pointers, void *const *to, tdm_stream *stream) {
  for (int i = 0; i < plan->buffer_count; i++)
    if (to[i] != NULL && plan->buffers[i].bytes > 0) /* a run may have fewer bytes than its plan */
      TDM_TRY(plan->context->backend->copy(plan->context, to[i], pointers[i], plan->buffers[i].bytes, TDM_TO_HOST,
                                           tdm_stream_handle(stream)));
  return TDM_OK;
}

static tdm_status run_oracle(const tdm_plan *plan) {
  const tdm_shadow *s = plan->shadow;
  void *buffers[TDM_MAX_BUFFERS] = {0};
  for (int i = 0; i < plan->buffer_count; i++) {
    const tdm_buffer *b = &plan->buffers[i];
    buffers[i] = b->role == TDM_IN ? s->before[i] : s->expected[i];
    if (b->role == TDM_IN_OUT && b->bytes > 0) memcpy(s->expected[i], s->before[i], b->bytes);
  }
  if (plan == plan->made) return s->oracle->kernel->launch(s->oracle, buffers, NULL);
  tdm_plan run;
  TDM_TRY(tdm_plan_rebind(s->oracle, plan->rebound, plan->rebound_to, &run));
  run.desc = plan->desc;
  return run.kernel->launch(&run, buffers, NULL);
}

static tdm_status run(const tdm_plan *plan, const void *const *pointers, tdm_stream *stream, tdm_launch_fn launch) {
  const tdm_shadow *s = plan->shadow;
  TDM_TRY(tdm_stream_waits(plan->context, plan->title, stream));
  TDM_TRY(tdm_plan_ready(s->oracle)); /* before the kernel has written anything */
  TDM_TRY(tdm_host_region(plan->title, s->threads));
  TDM_TRY(copy_back(plan, pointers, s->before, stream)); /* a run in place overwrites its inputs */
  TDM_TRY(launch(plan, pointers, stream));
  TDM_TRY(tdm_may_have_written(copy_back(plan, pointers, s->got, stream)));
  TDM_TRY(tdm_may_have_written(run_oracle(plan)));
  difference d = {0};
  for (int i = 0; i < s->views; i++) compare_output(plan, &s->view[i], &d);
  return d.count == 0 ? TDM_OK : report(plan, &d);
}

tdm_status tdm_shadow_run(const tdm_plan *plan, const void *const *pointers, tdm_stream *stream, tdm_launch_fn launch) {
  tdm_shadow *s = plan->shadow;
  pthread_mutex_lock(&s->lock);
  tdm_status status = run(plan, pointers, stream, launch);
  pthread_mutex_unlock(&s->lock);
  return status;
}
