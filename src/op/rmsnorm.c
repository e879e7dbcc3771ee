/* rmsnorm of each row, with or without a residual. Shapes and checks. */
#include <inttypes.h>

#include "arrays.h"
#include "shadow.h"

tdm_rmsnorm_desc tdm_rmsnorm_default(int64_t rows, int64_t cols, tdm_type type) {
  return (tdm_rmsnorm_desc){.rows = rows, .cols = cols, .type = type, .eps = 1e-5f};
}

enum { X, WEIGHT, RESIDUAL, SUM, Y }; /* buffers */

static tdm_status describe_residual(tdm_plan *plan, const tdm_rows *rows) {
  tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  TDM_TRY(tdm_rows_array(plan, rows, "residual", TDM_IN, "ldr", &d->ldr));
  TDM_TRY(tdm_rows_array(plan, rows, "sum", TDM_OUT, "lds", &d->lds));
  if (d->lds == d->ldx) tdm_rows_in_place(plan, SUM, X);
  if (d->lds == d->ldr) tdm_rows_in_place(plan, SUM, RESIDUAL);
  return TDM_OK;
}

static tdm_status describe(tdm_plan *plan, const tdm_rmsnorm_desc *desc) {
  tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  *d = *desc;
  tdm_rows rows = {"rows", d->rows, "cols", d->cols, d->type};
  TDM_TRY(tdm_rows_check(plan, &rows));
  TDM_TRY(tdm_check_finite("rmsnorm", "eps", d->eps));
  if (d->eps < 0) return tdm_fail(TDM_ERROR_ARGUMENT, "rmsnorm: eps = %g: must be at least 0", (double)d->eps);
  TDM_TRY(tdm_check_range("rmsnorm", "residual", d->residual, 0, 1));
  TDM_TRY(tdm_rows_array(plan, &rows, "x", TDM_IN, "ldx", &d->ldx));
  TDM_TRY(tdm_rows_vector(plan, "weight", TDM_IN, d->cols, tdm_type_size(d->type)));
  if (d->residual) {
    TDM_TRY(describe_residual(plan, &rows));
  } else {
    tdm_plan_no_buffer(plan, "residual");
    tdm_plan_no_buffer(plan, "sum");
  }
  TDM_TRY(tdm_rows_array(plan, &rows, "y", TDM_OUT, "ldy", &d->ldy));
  if (d->ldy == d->ldx) tdm_rows_in_place(plan, Y, X);
  plan->empty = plan->buffers[Y].bytes == 0;
  plan->work = tdm_work(d->rows, 40, d->cols, 0.35);
  tdm_plan_title(plan, "rmsnorm%s %s %" PRId64 "x%" PRId64, d->residual ? " with residual" : "", tdm_type_name(d->type),
                 d->rows, d->cols);
  return TDM_OK;
}

tdm_status tdm_rmsnorm_plan(tdm_context *context, const tdm_rmsnorm_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_RMSNORM, desc, out, &plan));
  return tdm_plan_end(plan, describe(plan, desc), out);
}

tdm_status tdm_rmsnorm_run(const tdm_plan *plan, const void *x, const void *weight, const void *residual, void *sum, void *y,
                           tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_RMSNORM, (const void *const[]){x, weight, residual, sum, y}, stream);
}

/* ---- For the dispatcher: outputs, error bounds, tuned entries ---- */

static int rmsnorm_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  views[0] = shadow_matrix(Y, d->rows, d->cols, d->ldy, d->type);
  views[1] = shadow_matrix(SUM, d->rows, d->cols, d->lds, d->type);
  views[1].exact = d->type == TDM_F32;
  return d->residual ? 2 : 1;
}

/* x + residual. */
static double shadow_sum(const shadow_row *r, int64_t i) {
  const tdm_rmsnorm_desc *d = &r->plan->desc.rmsnorm;
  double x = shadow_element(r, 0, r->row * d->ldx + i, d->type);
  return d->residual ? x + shadow_element(r, 2, r->row * d->ldr + i, d->type) : x;
}

/* Squares of nearly one magnitude are rounded in one direction, as in shadow.h. */
static void rmsnorm_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_rmsnorm_desc *d = &r->plan->desc.rmsnorm;
  if (r->view->buffer == SUM) {
    shadow_one_rounding(r, wanted, error);
    return;
  }
  double squares = 0, fourths = 0;
  for (int64_t i = 0; i < d->cols; i++) {
    double x = shadow_sum(r, i);
    squares += x * x;
    fourths += x * x * x * x;
  }
  bool alike = (double)d->cols * fourths <= 1.25 * squares * squares;
  double root = sqrt(squares / (double)d->cols + (double)d->eps), constant = bound_sum_constant(d->cols, alike);
  for (int64_t i = 0; i < d->cols; i++) {
    if (!wanted[i]) continue;
    double normalized = shadow_sum(r, i) / root, weight = shadow_element(r, 1, i, d->type);
    error[i] = bound_rmsnorm_may_be_nan(normalized, weight)
                   ? SHADOW_OR_NAN
                   : bound_rmsnorm((double)tdm_load(r->expected, r->at + i, d->type), normalized, weight, constant);
  }
}

static const tdm_tuned_form form = {2, 2, "-", "ROWSxCOLS"};

static void set_key(const tdm_plan *plan, tdm_tuned_key *key) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  tdm_tuned_key_set(key, d->type, d->type, "-", 2, (int64_t[]){d->rows, d->cols});
}

const tdm_op_row tdm_rmsnorm_op = {.views = rmsnorm_views, .errors = rmsnorm_errors, .tuned = &form, .key = set_key};
