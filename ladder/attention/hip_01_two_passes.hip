/* two passes: a work-item takes a query, and goes over the keys twice.
 *
 * what: the first pass finds the largest score, the second computes all scores again, for the exponentials and the sums of V.
 * why: softmax needs the maximum before the first exponential; and scores have no place to stay: S values for each query.
 * limit: none yet. All lanes read the same key at a time; the wave of the last queries, which see all keys, takes longest:
 * issue.
 * launch: a query of 64 by 64 work-items, 2 waves a SIMD
 * predict: floor = issue
 * predict: load_lines / loads = 1 to 1.2
 */
#include "step.h"

DEVICE float score_of(const float *q, const __bf16 *key) {
  float score = 0;
#pragma unroll
  for (int d = 0; d < HEAD_DIM; d++) score += q[d] * (float)key[d];
  return score;
}

KERNEL WORKGROUP(QUERIES, 2) void attention_step(attention_step_args g) {
  lane_work w = work_of(&g);
  float q[HEAD_DIM], sums[HEAD_DIM] = {}, max = LEAST_SCORE, total = 0;
  load_query(q, &w, g.scale);
  for (int j = 0; j < w.seen; j++) {
    float score = score_of(q, w.k + j * g.row_k);
    max = score > max ? score : max;
  }
  for (int j = 0; j < w.seen; j++) {
    float p = exp_f32(score_of(q, w.k + j * g.row_k) - max);
    total += p;
#pragma unroll
    for (int d = 0; d < HEAD_DIM; d++) sums[d] += p * (float)w.v[j * g.row_v + d];
  }
  store_output(&w, sums, total);
}
