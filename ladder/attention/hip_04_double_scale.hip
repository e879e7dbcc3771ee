/* double scaling, wrong: the probabilities of a tile are multiplied by tile_scale too.
 *
 * what: one line: p[j] = exp(score - max) * tile_scale. But exp(score - max) is under the new maximum already. `diff` with step
 * 3 shows it.
 * why: it is how a published kernel of a course has it. The first causal rows are 0; the rows after look like attention:
 * they are averages of V still, with weights that are wrong where a maximum grew.
 * limit: none. It is here for the checker.
 * wrong: the first tile's scale, from no maximum, is 0, and so its keys are lost; where a maximum grows later, those of that
 * tile count too little. Over many keys that is wrong by tenths.
 * launch: a query of 64 by 64 work-items, 2 waves a SIMD
 * predict: caught
 */
#include "hip/device/wait.h"
#include "step.h"

enum { KEYS = 16, FOURS = HEAD_DIM / 4 };

/* Rows first .. first + KEYS - 1; zeros after the last. */
DEVICE void load_rows(LDS f32x4 *to, const __bf16 *from, int first, int rows, int64_t row) {
  for (int i = lane_index(); i < KEYS * HEAD_DIM; i += QUERIES) {
    int j = i / HEAD_DIM, d = i % HEAD_DIM;
    ((LDS float *)to)[i] = first + j < rows ? (float)from[(first + j) * row + d] : 0;
  }
}

KERNEL WORKGROUP(QUERIES, 2) void attention_step(attention_step_args g) {
  SHARED static f32x4 lds_k[KEYS * FOURS], lds_v[KEYS * FOURS];
  LDS f32x4 *k = (LDS f32x4 *)lds_k, *v = (LDS f32x4 *)lds_v;
  lane_work w = work_of(&g);
  f32x4 q[FOURS], sums[FOURS] = {};
  float max = LEAST_SCORE, total = 0;
  load_query((float *)q, &w, g.scale);
  for (int first = 0; first < g.skv; first += KEYS) {
    load_rows(k, w.k, first, g.skv, g.row_k);
    load_rows(v, w.v, first, g.skv, g.row_v);
    sync_lds(); /* the tile is complete */
    float p[KEYS], tile_max = max;
#pragma unroll
    for (int j = 0; j < KEYS; j++) {
      f32x4 four = 0;
#pragma unroll
      for (int d = 0; d < FOURS; d++) four = in_order(four + q[d] * k[j * FOURS + d]); /* not the reads of all keys first */
      p[j] = first + j < w.seen ? four[0] + four[1] + four[2] + four[3] : LEAST_SCORE;
      tile_max = p[j] > tile_max ? p[j] : tile_max;
    }
    float tile_scale = exp_f32(max - tile_max);
    max = tile_max;
    total *= tile_scale;
#pragma unroll
    for (int d = 0; d < FOURS; d++) sums[d] *= tile_scale;
#pragma unroll
    for (int j = 0; j < KEYS; j++) {
      p[j] = first + j < w.seen ? exp_f32(p[j] - max) * tile_scale : 0;
      total += p[j];
#pragma unroll
      for (int d = 0; d < FOURS; d++) sums[d] = in_order(sums[d] + p[j] * v[j * FOURS + d]);
    }
    sync_lds(); /* everyone has read the tile: LDS may be filled again */
  }
  store_output(&w, (float *)sums, total);
}
