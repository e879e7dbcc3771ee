/* embedding on HIP: its row, and the launch of its kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_embedding[];

typedef struct embedding_plan {
  embedding_args args;
  hip_blocks_plan blocks;
} embedding_plan;
_Static_assert(sizeof(embedding_plan) <= TDM_PLAN_ARGS, "fits the plan");

/* The kernels compute places within a row in 32 bits. */
static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_embedding_desc *d = &plan->desc.embedding;
  const int64_t most = INT32_MAX / (int64_t)tdm_type_size(d->type);
  if (d->d <= most) return true;
  snprintf(reason, size, "d = %" PRId64 ": must be at most %" PRId64 ": a row has less than 2 GiB", d->d, most);
  return false;
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_embedding_desc *d = &plan->desc.embedding;
  embedding_plan own = {
      .args = {
          .vocab = d->vocab, .ldt = d->ldt, .ldy = d->ldy, .first = d->first, .total = d->total, .index = (int32_t)d->ids}};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  /* A work-item has a chunk and a single element. Each row has at least one single element. The work-item at the end of the
   * chunks may have none. */
  const int64_t chunk = tdm_hip_chunk(d->type), whole = (d->d - 1) / chunk, singles = d->d - whole * chunk;
  own.blocks.any_items = whole > singles ? whole : singles + 1;
  TDM_TRY(tdm_hip_blocks_prepare(plan, &own.blocks, 0, d->tokens, d->d, d->type, (int64_t[]){d->ldt, d->ldy}, 2));
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  embedding_plan own;
  tdm_hip_kernel kernel;
  memcpy(&own, plan->args, sizeof own);
  own.args.table = buffers[0];
  own.args.ids = buffers[1];
  own.args.y = buffers[2];
  own.args.blocks = tdm_hip_blocks_choose(plan, &own.blocks, buffers, &kernel)->blocks;
  return tdm_hip_launch(plan, &kernel, &own.args, sizeof own.args, stream);
}

/* Any rows: three waves. Each has two loads at once, of a row's chunks from random lines, for which the vL1D keeps room. */
const tdm_kernel tdm_embedding_hip_blocks = {
    .name = "hip_blocks",
    .op = TDM_OP_EMBEDDING,
    .backend = &tdm_backend_hip,
    .functions = HIP_FUNCTIONS({.code = tdm_code_embedding, .stem = "embedding_any", .waves = 3},
                               {.code = tdm_code_embedding, .stem = "embedding", .waves = 8}),
    .supports = supports,
    .prepare = prepare,
    .launch = launch};
