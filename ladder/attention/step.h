/* What the steps of the attention ladder share: their argument. O = softmax(scale Q K^T) V in bf16 for heads of 64 values; sums
 * and softmax are f32. */
#ifndef TANDEM_LADDER_ATTENTION_STEP_H
#define TANDEM_LADDER_ATTENTION_STEP_H

#include <stdint.h>

enum { HEAD_DIM = 64, QUERIES = 64 }; /* of a workgroup */

typedef struct attention_step_args {
  const void *q, *k, *v;
  void *o;
  int64_t batch_q, batch_k, batch_v, batch_o, head_q, head_k, head_v, head_o, row_q, row_k, row_v, row_o; /* elements */
  int32_t sq, skv, heads_q, group; /* query heads of a key head */
  int32_t blocks;                  /* of QUERIES queries, of a head */
  int32_t ahead;                   /* causal: query i sees the keys before i + ahead; else all, ahead is skv */
  float scale;
} attention_step_args;

#ifdef __HIP__
#include "hip/device/math.h"

/* What a workgroup and its lane have: a head, and a query of it. */
typedef struct lane_work {
  const __bf16 *q, *k, *v; /* of the head; q of the lane's query */
  __bf16 *o;
  int query, seen; /* keys that it sees */
  bool live;       /* there is such a query */
} lane_work;

DEVICE lane_work work_of(const attention_step_args *g) {
  int block = (int)__builtin_amdgcn_workgroup_id_x() % g->blocks, head = (int)__builtin_amdgcn_workgroup_id_x() / g->blocks;
  int64_t batch = head / g->heads_q, h = head % g->heads_q, kv = h / g->group;
  lane_work w;
  w.query = block * QUERIES + lane_index();
  w.live = w.query < g->sq;
  int query = w.live ? w.query : g->sq - 1;
  w.q = (const __bf16 *)g->q + batch * g->batch_q + h * g->head_q + query * g->row_q;
  w.k = (const __bf16 *)g->k + batch * g->batch_k + kv * g->head_k;
  w.v = (const __bf16 *)g->v + batch * g->batch_v + kv * g->head_v;
  w.o = (__bf16 *)g->o + batch * g->batch_o + h * g->head_o + query * g->row_o;
  int64_t seen = (int64_t)query + g->ahead;
  w.seen = seen < 0 ? 0 : seen > g->skv ? g->skv : (int)seen;
  return w;
}

DEVICE void load_query(float *q, const lane_work *w, float scale) {
#pragma unroll
  for (int d = 0; d < HEAD_DIM; d++) q[d] = (float)w->q[d] * scale;
}

/* A query that sees no key gets zeros. */
DEVICE void store_output(const lane_work *w, const float *sums, float total) {
  float inverse = total > 0 ? 1 / total : 0;
  if (!w->live) return;
#pragma unroll
  for (int d = 0; d < HEAD_DIM; d++) w->o[d] = (__bf16)(sums[d] * inverse);
}

/* Every maximum begins here, not at -infinity, whose differences are NaN. */
#define LEAST_SCORE (-0x1.fffffep127f)
#endif

#endif
