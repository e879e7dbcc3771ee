/* cross_entropy of each row. Shapes and checks. */
#include <inttypes.h>

#include "arrays.h"
#include "shadow.h"
#include "src/base/loss.h"

tdm_cross_entropy_desc tdm_cross_entropy_default(int64_t rows, int64_t vocab, tdm_type type) {
  return (tdm_cross_entropy_desc){.rows = rows, .vocab = vocab, .type = type, .ignore = -100};
}

static tdm_status describe(tdm_plan *plan, const tdm_cross_entropy_desc *desc) {
  tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  *d = *desc;
  int64_t total = d->total, packed = 0;
  tdm_rows rows = {"rows", d->rows, "vocab", d->vocab, d->type};
  tdm_rows loss = {"rows", d->rows, "loss", total == 0 ? 1 : TDM_LOSS_PARTS, TDM_F32};
  TDM_TRY(tdm_rows_check(plan, &rows));
  TDM_TRY(tdm_rows_vocabulary(plan, d->vocab, d->first, &total));
  TDM_TRY(tdm_rows_array(plan, &rows, "logits", TDM_IN, "ldl", &d->ldl));
  TDM_TRY(tdm_rows_indices(plan, "targets", d->rows, d->targets));
  TDM_TRY(tdm_rows_array(plan, &loss, "loss", TDM_OUT, "loss", &packed));
  plan->empty = d->rows == 0;
  plan->work = tdm_work(d->rows, 80, d->vocab, 0.6);
  tdm_plan_title(plan, "cross_entropy %s %" PRId64 "x%" PRId64 "%s", tdm_type_name(d->type), d->rows, d->vocab,
                 d->targets == TDM_I64 ? " i64" : "");
  return TDM_OK;
}

tdm_status tdm_cross_entropy_plan(tdm_context *context, const tdm_cross_entropy_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_CROSS_ENTROPY, desc, out, &plan));
  return tdm_plan_end(plan, describe(plan, desc), out);
}

tdm_status tdm_cross_entropy_run(const tdm_plan *plan, const void *logits, const void *targets, float *loss,
                                 tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_CROSS_ENTROPY, (const void *const[]){logits, targets, loss}, stream);
}

/* ---- For the dispatcher: outputs, error bounds, tuned entries ---- */

/* The losses are one row, of parts too. */
static int cross_entropy_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  int64_t count = d->rows * (d->total == 0 ? 1 : TDM_LOSS_PARTS);
  views[0] = (shadow_view){.buffer = 2, .rank = 1, .dim = {count}, .stride = {1}, .type = TDM_F32};
  return 1;
}

/* Of the three results of a row only the sum has an error. */
static void part_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_cross_entropy_desc *d = &r->plan->desc.cross_entropy;
  for (int64_t i = 0; i < d->rows; i++) {
    if (!wanted[i * TDM_LOSS_PARTS + 1] || tdm_index(r->inputs[1], i, d->targets) == d->ignore) continue;
    bound_softmax_sum s = shadow_sum_row(r->inputs[0], i * d->ldl, d->vocab, d->type);
    error[i * TDM_LOSS_PARTS + 1] = bound_part_sum(&s).error;
  }
}

static void cross_entropy_errors(const shadow_row *r, const unsigned char *wanted, double *error) {
  const tdm_cross_entropy_desc *d = &r->plan->desc.cross_entropy;
  if (d->total != 0) {
    part_errors(r, wanted, error);
    return;
  }
  for (int64_t i = 0; i < d->rows; i++) {
    int64_t target = tdm_index(r->inputs[1], i, d->targets);
    if (!wanted[i] || target == d->ignore || target < 0 || target >= d->vocab) continue; /* 0 or NaN: no error */
    bound_softmax_sum s = shadow_sum_row(r->inputs[0], i * d->ldl, d->vocab, d->type);
    error[i] = bound_loss(&s, shadow_element(r, 0, i * d->ldl + target, d->type)).error;
  }
}

const tdm_op_row tdm_cross_entropy_op = {.views = cross_entropy_views, .errors = cross_entropy_errors};
