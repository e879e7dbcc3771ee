/* add: c = a + b. Shapes and checks. */
#include <inttypes.h>

#include "arrays.h"
#include "shadow.h"

tdm_add_desc tdm_add_default(int64_t rows, int64_t cols, tdm_type type) {
  return (tdm_add_desc){.rows = rows, .cols = cols, .type = type, .type_b = type};
}

static tdm_status describe(tdm_plan *plan, const tdm_add_desc *desc) {
  tdm_add_desc *d = &plan->desc.add;
  *d = *desc;
  tdm_rows rows = {"rows", d->rows, "cols", d->cols, d->type}, b = {"rows", d->rows, "cols", d->cols, d->type_b};
  TDM_TRY(tdm_rows_check(plan, &rows));
  TDM_TRY(tdm_rows_array(plan, &rows, "a", TDM_IN, "lda", &d->lda));
  if (d->type_b != d->type && d->type_b != TDM_F32)
    return tdm_fail(TDM_ERROR_ARGUMENT, "add: type_b = %d: must be type or f32", (int)d->type_b);
  TDM_TRY(tdm_rows_array(plan, &b, "b", TDM_IN, "ldb", &d->ldb));
  TDM_TRY(tdm_rows_array(plan, &rows, "c", TDM_OUT, "ldc", &d->ldc));
  if (d->ldc == d->lda) tdm_rows_in_place(plan, 2, 0);
  if (d->ldc == d->ldb && d->type_b == d->type) tdm_rows_in_place(plan, 2, 1);
  plan->empty = plan->buffers[2].bytes == 0;
  const bool packed = d->lda == d->cols && d->ldb == d->cols && d->ldc == d->cols; /* one long row */
  plan->work = tdm_work(d->rows, packed ? 0 : 15, d->cols, 0.1);
  tdm_plan_title(plan, "add %s%s %" PRId64 "x%" PRId64, tdm_type_name(d->type), d->type_b == d->type ? "" : "+f32", d->rows,
                 d->cols);
  return TDM_OK;
}

tdm_status tdm_add_plan(tdm_context *context, const tdm_add_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_ADD, desc, out, &plan));
  return tdm_plan_end(plan, describe(plan, desc), out);
}

tdm_status tdm_add_run(const tdm_plan *plan, const void *a, const void *b, void *c, tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_ADD, (const void *const[]){a, b, c}, stream);
}

/* ---- For the dispatcher: outputs, error bounds, tuned entries ---- */

static int add_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_add_desc *d = &plan->desc.add;
  views[0] = shadow_matrix(2, d->rows, d->cols, d->ldc, d->type);
  views[0].exact = d->type == TDM_F32;
  return 1;
}

const tdm_op_row tdm_add_op = {.views = add_views, .errors = shadow_one_rounding};
