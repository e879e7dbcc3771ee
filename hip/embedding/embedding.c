/* embedding on HIP: its row, and the launch of its kernel. */
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_embedding[];

static tdm_status prepare(tdm_plan *plan) {
  const tdm_embedding_desc *d = &plan->desc.embedding;
  embedding_args args = {.vocab = d->vocab, .ldt = d->ldt, .ldy = d->ldy, .first = d->first, .total = d->total};
  args.index = (int32_t)d->ids;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  tdm_hip_blocks(plan, &args.blocks, d->tokens, d->d, tdm_hip_chunk(d->type));
  memcpy(plan->args, &args, sizeof args);
  return tdm_hip_row_function(plan, 0, d->type);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  embedding_args args;
  memcpy(&args, plan->args, sizeof args);
  args.table = buffers[0];
  args.ids = buffers[1];
  args.y = buffers[2];
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

const tdm_kernel tdm_embedding_hip_blocks = {
    .name = "hip_blocks",
    .op = TDM_OP_EMBEDDING,
    .backend = &tdm_backend_hip,
    .functions = HIP_FUNCTIONS({.code = tdm_code_embedding, .stem = "embedding", .waves = 8}),
    .prepare = prepare,
    .launch = launch};
