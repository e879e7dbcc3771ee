/* What the OpenMP steps of the attention ladder serve. */
#include "omp_steps.h"

#include <stdio.h>

bool attention_step_supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (d->type == TDM_F32 && d->head_dim == HEAD_DIM && !d->lse) return true;
  snprintf(reason, size, "a step of the ladder: only f32, head_dim %d, without lse", HEAD_DIM);
  return false;
}

attention_step attention_step_of(const tdm_plan *plan, void *const *buffers) {
  const tdm_attention_desc *d = &plan->desc.attention;
  return (attention_step){.q = buffers[0],
                          .k = buffers[1],
                          .v = buffers[2],
                          .o = buffers[3],
                          .heads = d->batch * d->heads_q,
                          .heads_q = d->heads_q,
                          .group = d->heads_q / d->heads_kv,
                          .sq = d->sq,
                          .skv = d->skv,
                          .of_q = d->q,
                          .of_k = d->k,
                          .of_v = d->v,
                          .of_o = d->o,
                          .scale = d->scale,
                          .causal = d->causal};
}
