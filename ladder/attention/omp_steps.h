/* What the OpenMP steps of the attention ladder share: their argument, a query, and what becomes of it. O = softmax(scale Q
 * K^T) V of each head in f32, heads of HEAD_DIM. */
#ifndef TANDEM_LADDER_ATTENTION_OMP_STEPS_H
#define TANDEM_LADDER_ATTENTION_OMP_STEPS_H

#include "../omp_steps.h"
#include "offload/device/math.h"

enum { HEAD_DIM = 64, VECTORS = HEAD_DIM / TDM_LANES };
#define LEAST_SCORE (-1e30f) /* of no key: finite, so that differences are numbers */

typedef struct attention_step {
  const float *q, *k, *v;
  float *o;
  int64_t heads, heads_q, group; /* of all batches; of one; query heads of a key head */
  int64_t sq, skv;
  tdm_attention_strides of_q, of_k, of_v, of_o;
  float scale;
  int causal;
} attention_step;

bool attention_step_supports(const tdm_plan *plan, char *reason, size_t size);
attention_step attention_step_of(const tdm_plan *plan, void *const *buffers);

#define ATTENTION_STEP(row, run) STEP_OMP_ROW(TDM_OP_ATTENTION, row, attention_step_supports, run)

/* One head's arrays. */
typedef struct step_head {
  const float *q, *k, *v;
  float *o;
} step_head;

TDM_INLINE step_head head_of(const attention_step *g, int64_t head) {
  int64_t batch = head / g->heads_q, of_q = head % g->heads_q, of_k = of_q / g->group;
  return (step_head){g->q + batch * g->of_q.batch + of_q * g->of_q.head, g->k + batch * g->of_k.batch + of_k * g->of_k.head,
                     g->v + batch * g->of_v.batch + of_k * g->of_v.head, g->o + batch * g->of_o.batch + of_q * g->of_o.head};
}

/* Keys that a row sees: the first so many. */
TDM_INLINE int64_t keys_seen(const attention_step *g, int64_t row) {
  return g->causal ? tdm_max(0, row + g->skv - g->sq + 1) : g->skv;
}

/* A query under way: its row of Q times the scale, the largest score so far, and sums of exp(score - max), alone and times V.
 */
typedef struct step_query {
  tdm_vec q[VECTORS], sums[VECTORS];
  float max, total;
} step_query;

TDM_INLINE void begin_query(step_query *x, const attention_step *g, const step_head *head, int64_t row) {
  TDM_UNROLL
  for (int i = 0; i < VECTORS; i++) {
    x->q[i] = g->scale * step_load(head->q + row * g->of_q.row + i * TDM_LANES, TDM_LANES);
    x->sums[i] = (tdm_vec){0};
  }
  x->max = LEAST_SCORE;
  x->total = 0;
}

/* A vector of K or V: of a tile in team memory, or in memory. */
TDM_INLINE tdm_vec value_at(const float *from, bool in_tile) {
  return in_tile ? tdm_vec_load_aligned(from) : step_load(from, TDM_LANES);
}

TDM_INLINE float score_of(const step_query *x, const float *key, bool in_tile) {
  tdm_vec products = {0};
  TDM_UNROLL
  for (int i = 0; i < VECTORS; i++) products += x->q[i] * value_at(key + i * TDM_LANES, in_tile);
  return step_sum(products);
}

/* Sums under a new maximum. */
TDM_INLINE void scale_sums(step_query *x, float factor) {
  x->total *= factor;
  TDM_UNROLL
  for (int i = 0; i < VECTORS; i++) x->sums[i] *= factor;
}

TDM_INLINE void add_value(step_query *x, float p, const float *value, bool in_tile) {
  x->total += p;
  TDM_UNROLL
  for (int i = 0; i < VECTORS; i++) x->sums[i] += p * value_at(value + i * TDM_LANES, in_tile);
}

/* A row that sees no key is 0. */
TDM_INLINE void end_query(const step_query *x, const attention_step *g, const step_head *head, int64_t row) {
  float inverse = keys_seen(g, row) > 0 ? 1 / x->total : 0;
  TDM_UNROLL
  for (int i = 0; i < VECTORS; i++) step_store(head->o + row * g->of_o.row + i * TDM_LANES, TDM_LANES, x->sums[i] * inverse);
}

#endif
