/* online softmax: one pass, whose maximum grows, and with it what was summed before.
 *
 * what: where a score is above the maximum so far, the sums are multiplied by exp(old maximum - new maximum).
 * why: exp(x - max) = exp(x - old) exp(old - max): nothing has to be known before (Milakov and Gimelshein, arXiv 1805.02867).
 * Keys are read once, and scores computed once.
 * limit: VALU: the scores' half of the work. But each key now costs two exponentials and 64 multiplications.
 * launch: a query of 64 by 64 work-items, 2 waves a SIMD
 * predict: loads / before = 0.65 to 0.68
 * predict: valu_clocks / before = 0.75 to 0.8
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
    float score = score_of(q, w.k + j * g.row_k), larger = score > max ? score : max;
    float scale = exp_f32(max - larger), p = exp_f32(score - larger);
    max = larger;
    total = total * scale + p;
#pragma unroll
    for (int d = 0; d < HEAD_DIM; d++) sums[d] = sums[d] * scale + p * (float)w.v[j * g.row_v + d];
  }
  store_output(&w, sums, total);
}
