/* rmsnorm of each row, with or without a residual. Shapes and checks. */
#include <inttypes.h>

#include "arrays.h"

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
