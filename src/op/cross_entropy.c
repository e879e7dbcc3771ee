/* cross_entropy of each row. Shapes and checks. */
#include <inttypes.h>

#include "arrays.h"

tdm_cross_entropy_desc tdm_cross_entropy_default(int64_t rows, int64_t vocab, tdm_type type) {
  return (tdm_cross_entropy_desc){.rows = rows, .vocab = vocab, .type = type, .ignore = -100};
}

static tdm_status describe(tdm_plan *plan, const tdm_cross_entropy_desc *desc) {
  tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  *d = *desc;
  tdm_rows rows = {"rows", d->rows, "vocab", d->vocab, d->type};
  TDM_TRY(tdm_rows_check(plan, &rows));
  TDM_TRY(tdm_check_range("cross_entropy", "vocab", d->vocab, 0, INT32_MAX));
  TDM_TRY(tdm_rows_array(plan, &rows, "logits", TDM_IN, "ldl", &d->ldl));
  TDM_TRY(tdm_rows_vector(plan, "targets", TDM_IN, d->rows, sizeof(int32_t)));
  TDM_TRY(tdm_rows_vector(plan, "loss", TDM_OUT, d->rows, sizeof(float)));
  plan->empty = d->rows == 0;
  tdm_plan_title(plan, "cross_entropy %s %" PRId64 "x%" PRId64, tdm_type_name(d->type), d->rows, d->vocab);
  return TDM_OK;
}

tdm_status tdm_cross_entropy_plan(tdm_context *context, const tdm_cross_entropy_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_CROSS_ENTROPY, desc, out, &plan));
  return tdm_plan_end(plan, describe(plan, desc), out);
}

tdm_status tdm_cross_entropy_run(const tdm_plan *plan, const void *logits, const int32_t *targets, float *loss,
                                 tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_CROSS_ENTROPY, (const void *const[]){logits, targets, loss}, stream);
}
