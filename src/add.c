/* add: c = a + b. Shapes and checks. */
#include <inttypes.h>

#include "internal.h"

tdm_add_desc tdm_add_default(int64_t rows, int64_t cols, tdm_type type) {
  return (tdm_add_desc){.rows = rows, .cols = cols, .type = type};
}

static tdm_status describe(tdm_plan *plan, const tdm_add_desc *desc) {
  tdm_add_desc *d = &plan->desc.add;
  *d = *desc;
  size_t a, b, c, element = tdm_type_size(d->type);
  TDM_TRY(tdm_check_type("add", "type", d->type));
  TDM_TRY(tdm_check_range("add", "rows", d->rows, 0, INT64_MAX));
  TDM_TRY(tdm_check_range("add", "cols", d->cols, 0, INT64_MAX));
  TDM_TRY(tdm_check_leading("add", "lda", &d->lda, d->cols));
  TDM_TRY(tdm_check_leading("add", "ldb", &d->ldb, d->cols));
  TDM_TRY(tdm_check_leading("add", "ldc", &d->ldc, d->cols));
  TDM_TRY(tdm_check_matrix("add", "a", d->rows, d->cols, d->lda, element, &a));
  TDM_TRY(tdm_check_matrix("add", "b", d->rows, d->cols, d->ldb, element, &b));
  TDM_TRY(tdm_check_matrix("add", "c", d->rows, d->cols, d->ldc, element, &c));
  tdm_plan_title(plan, "add %s %" PRId64 "x%" PRId64, tdm_type_name(d->type), d->rows, d->cols);
  plan->empty = c == 0;
  tdm_plan_buffer(plan, "a", TDM_IN, a, element);
  tdm_plan_buffer(plan, "b", TDM_IN, b, element);
  tdm_plan_buffer(plan, "c", TDM_OUT, c, element);
  if (d->ldc == d->lda) plan->buffers[2].in_place |= 1u << 0;
  if (d->ldc == d->ldb) plan->buffers[2].in_place |= 1u << 1;
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
