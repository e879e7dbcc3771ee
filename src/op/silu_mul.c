/* silu_mul: y = silu(gate) * up. Shapes and checks. */
#include <inttypes.h>

#include "arrays.h"
#include "shadow.h"

tdm_silu_mul_desc tdm_silu_mul_default(int64_t rows, int64_t cols, tdm_type type) {
  return (tdm_silu_mul_desc){.rows = rows, .cols = cols, .type = type};
}

static tdm_status describe(tdm_plan *plan, const tdm_silu_mul_desc *desc) {
  tdm_silu_mul_desc *d = &plan->desc.silu_mul;
  *d = *desc;
  tdm_rows rows = {"rows", d->rows, "cols", d->cols, d->type};
  TDM_TRY(tdm_rows_check(plan, &rows));
  TDM_TRY(tdm_rows_array(plan, &rows, "gate", TDM_IN, "ldg", &d->ldg));
  TDM_TRY(tdm_rows_array(plan, &rows, "up", TDM_IN, "ldu", &d->ldu));
  TDM_TRY(tdm_rows_array(plan, &rows, "y", TDM_OUT, "ldy", &d->ldy));
  if (d->ldy == d->ldg) tdm_rows_in_place(plan, 2, 0);
  if (d->ldy == d->ldu) tdm_rows_in_place(plan, 2, 1);
  plan->empty = plan->buffers[2].bytes == 0;
  const bool packed = d->ldg == d->cols && d->ldu == d->cols && d->ldy == d->cols; /* one long row */
  plan->work = tdm_work(d->rows, packed ? 0 : 15, d->cols, 0.8);
  tdm_plan_title(plan, "silu_mul %s %" PRId64 "x%" PRId64, tdm_type_name(d->type), d->rows, d->cols);
  return TDM_OK;
}

tdm_status tdm_silu_mul_plan(tdm_context *context, const tdm_silu_mul_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_SILU_MUL, desc, out, &plan));
  return tdm_plan_end(plan, describe(plan, desc), out);
}

tdm_status tdm_silu_mul_run(const tdm_plan *plan, const void *gate, const void *up, void *y, tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_SILU_MUL, (const void *const[]){gate, up, y}, stream);
}

/* ---- For the dispatcher: outputs, error bounds, tuned entries ---- */

static int silu_mul_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_silu_mul_desc *d = &plan->desc.silu_mul;
  views[0] = shadow_matrix(2, d->rows, d->cols, d->ldy, d->type);
  return 1;
}

static void silu_mul_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_silu_mul_desc *d = &r->plan->desc.silu_mul;
  for (int64_t i = 0; i < d->cols; i++)
    if (wanted[i])
      error[i] = bound_gated((bound_estimate){shadow_element(r, 0, r->row * d->ldg + i, d->type), 0},
                             (bound_estimate){shadow_element(r, 1, r->row * d->ldu + i, d->type), 0})
                     .error;
}

const tdm_op_row tdm_silu_mul_op = {.views = silu_mul_views, .errors = silu_mul_errors};
