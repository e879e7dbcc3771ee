/* embedding: rows of a table. Shapes and checks. */
#include <inttypes.h>

#include "arrays.h"
#include "shadow.h"

tdm_embedding_desc tdm_embedding_default(int64_t tokens, int64_t vocab, int64_t d, tdm_type type) {
  return (tdm_embedding_desc){.tokens = tokens, .vocab = vocab, .d = d, .type = type};
}

static tdm_status describe(tdm_plan *plan, const tdm_embedding_desc *desc) {
  tdm_embedding_desc *d = &plan->desc.embedding;
  *d = *desc;
  tdm_rows table = {"vocab", d->vocab, "d", d->d, d->type}, y = {"tokens", d->tokens, "d", d->d, d->type};
  TDM_TRY(tdm_rows_check(plan, &y));
  TDM_TRY(tdm_rows_vocabulary(plan, d->vocab, d->first, &d->total));
  TDM_TRY(tdm_rows_array(plan, &table, "table", TDM_IN, "ldt", &d->ldt));
  TDM_TRY(tdm_rows_indices(plan, "ids", d->tokens, d->ids));
  TDM_TRY(tdm_rows_array(plan, &y, "y", TDM_OUT, "ldy", &d->ldy));
  plan->empty = plan->buffers[2].bytes == 0;
  plan->work = tdm_work(d->tokens, 15, d->d, 0.05);
  tdm_plan_title(plan, "embedding %s %" PRId64 "x%" PRId64 "x%" PRId64 "%s", tdm_type_name(d->type), d->tokens, d->vocab, d->d,
                 d->ids == TDM_I64 ? " i64" : "");
  return TDM_OK;
}

tdm_status tdm_embedding_plan(tdm_context *context, const tdm_embedding_desc *desc, tdm_plan **out) {
  tdm_plan *plan;
  TDM_TRY(tdm_plan_begin(context, TDM_OP_EMBEDDING, desc, out, &plan));
  return tdm_plan_end(plan, describe(plan, desc), out);
}

tdm_status tdm_embedding_run(const tdm_plan *plan, const void *table, const void *ids, void *y, tdm_stream *stream) {
  return tdm_plan_run(plan, TDM_OP_EMBEDDING, (const void *const[]){table, ids, y}, stream);
}

/* ---- For the dispatcher: outputs, error bounds, tuned entries ---- */

static int embedding_views(const tdm_plan *plan, shadow_view views[2]) {
  const tdm_embedding_desc *d = &plan->desc.embedding;
  views[0] = shadow_matrix(2, d->tokens, d->d, d->ldy, d->type);
  views[0].exact = true;
  return 1;
}

const tdm_op_row tdm_embedding_op = {.views = embedding_views};
