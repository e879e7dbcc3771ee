/* Rows of the attention ladder's own steps on HIP. */
#include <stdio.h>
#include <string.h>

#include "../row.h"
#include "step.h"

typedef struct ladder_variant {
  int queries, threads; /* of a workgroup */
} ladder_variant;

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const ladder_variant *s = plan->kernel->variant;
  enum { MOST = 1 << 24 };
  const tdm_attention_desc *d = &plan->desc.attention;
  (void)s;
  if (d->type != TDM_BF16 || d->head_dim != HEAD_DIM || d->lse) {
    snprintf(reason, size, "a step of the ladder: only bf16, head_dim %d, without lse", HEAD_DIM);
    return false;
  }
  if (d->sq > MOST || d->skv > MOST || d->batch > MOST || d->heads_q > MOST ||
      d->batch * d->heads_q > MOST / hip_ceil_div(d->sq > 0 ? d->sq : 1, QUERIES)) {
    snprintf(reason, size, "a step of the ladder: keys, and blocks of %d queries of all heads, must be at most %d", QUERIES,
             MOST);
    return false;
  }
  return true;
}

static tdm_status prepare(tdm_plan *plan) {
  const ladder_variant *s = plan->kernel->variant;
  const tdm_attention_desc *d = &plan->desc.attention;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  attention_step_args args = {.batch_q = d->q.batch,
                              .batch_k = d->k.batch,
                              .batch_v = d->v.batch,
                              .batch_o = d->o.batch,
                              .head_q = d->q.head,
                              .head_k = d->k.head,
                              .head_v = d->v.head,
                              .head_o = d->o.head,
                              .row_q = d->q.row,
                              .row_k = d->k.row,
                              .row_v = d->v.row,
                              .row_o = d->o.row,
                              .sq = (int32_t)d->sq,
                              .skv = (int32_t)d->skv,
                              .heads_q = (int32_t)d->heads_q,
                              .group = (int32_t)(d->heads_q / d->heads_kv),
                              .blocks = (int32_t)hip_ceil_div(d->sq, s->queries),
                              .ahead = (int32_t)(d->causal ? d->skv - d->sq + 1 : d->skv),
                              .scale = d->scale};
  memcpy(plan->args, &args, sizeof args);
  plan->hip = (tdm_hip_kernel){.grid = {(unsigned)(d->batch * d->heads_q * args.blocks), 1, 1}, .block = (unsigned)s->threads};
  return tdm_hip_function(plan, &plan->kernel->functions[0], NULL, NULL, &plan->hip.function);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  attention_step_args args;
  memcpy(&args, plan->args, sizeof args);
  args.q = buffers[0];
  args.k = buffers[1];
  args.v = buffers[2];
  args.o = buffers[3];
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

#define LADDER_HIP_ATTENTION(row, text, object, queries, threads, waves) \
  LADDER_HIP_ROW(row, text, object, "attention_step", waves, TDM_OP_ATTENTION, 0, 0, NULL, queries, threads)
#include "ladder.def"
