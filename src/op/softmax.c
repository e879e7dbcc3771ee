/* softmax of each row. Shapes and checks. */
#include <inttypes.h>

#include "arrays.h"
#include "shadow.h"
#include "src/base/softmax.h"

tdm_softmax_desc tdm_softmax_default(int64_t rows, int64_t cols, tdm_type type) {
  return (tdm_softmax_desc){.rows = rows, .cols = cols, .type = type};
}

static tdm_status describe(tdm_plan *plan, const tdm_softmax_desc *desc) {
  tdm_softmax_desc *d = &plan->desc.softmax;
  *d = *desc;
  TDM_TRY(tdm_check_range("softmax", "causal_rows", d->causal_rows, 0, INT64_MAX));
  tdm_rows rows = {"rows", d->rows, "cols", d->cols, d->type};
  TDM_TRY(tdm_rows_check(plan, &rows));
  TDM_TRY(tdm_rows_array(plan, &rows, "x", TDM_IN, "ldx", &d->ldx));
  TDM_TRY(tdm_rows_array(plan, &rows, "y", TDM_OUT, "ldy", &d->ldy));
  if (d->ldy == d->ldx) tdm_rows_in_place(plan, 1, 0);
  plan->empty = plan->buffers[1].bytes == 0;
  plan->work = tdm_work(d->rows, 70, d->cols, 0.6);
  tdm_plan_title(plan, "softmax%s %s %" PRId64 "x%" PRId64, d->causal_rows > 0 ? " causal" : "", tdm_type_name(d->type),
                 d->rows, d->cols);
  return TDM_OK;
}

tdm_status tdm_softmax_plan(tdm_context *context, const tdm_softmax_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_SOFTMAX, desc, out, &plan));
  return tdm_plan_end(plan, describe(plan, desc), out);
}

tdm_status tdm_softmax_run(const tdm_plan *plan, const void *x, void *y, tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_SOFTMAX, (const void *const[]){x, y}, stream);
}

/* ---- For the dispatcher: outputs, error bounds, tuned entries ---- */

static int softmax_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  views[0] = shadow_matrix(1, d->rows, d->cols, d->ldy, d->type);
  return 1;
}

static void softmax_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_softmax_desc *d = &r->plan->desc.softmax;
  int64_t at = r->row * d->ldx, seen = tdm_softmax_seen(d, r->row); /* the others are 0, without an error */
  bound_softmax_sum s = shadow_sum_row(r->inputs[0], at, seen, d->type);
  for (int64_t i = 0; i < seen; i++)
    if (wanted[i]) error[i] = bound_softmax(&s, shadow_element(r, 0, at + i, d->type)).error;
}

static const tdm_tuned_form form = {2, 2, "-", "ROWSxCOLS"};

static void set_key(const tdm_plan *plan, tdm_tuned_key *key) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  tdm_tuned_key_set(key, d->type, d->type, "-", 2, (int64_t[]){d->rows, d->cols});
}

const tdm_op_row tdm_softmax_op = {.views = softmax_views, .errors = softmax_errors, .tuned = &form, .key = set_key};
