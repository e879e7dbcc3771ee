/* skip tiles: tiles that no query of the workgroup sees are not visited.
 *
 * what: the loop ends after the last key that the workgroup's last query sees.
 * why: causal attention has half of the scores: the other tiles were loaded, multiplied and masked away.
 * limit: everything but the longest wave, which sees all keys: half, and half a block of queries more. So where waves are many.
 * launch: a query of 64 by 64 work-items, 2 waves a SIMD
 * predict: valu_clocks / before = 0.59 to 0.61
 * predict: loads / before = 0.58 to 0.6
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
  int last = __builtin_amdgcn_readlane(w.seen, QUERIES - 1); /* of the last query: it sees the most */
  for (int first = 0; first < last; first += KEYS) {
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
      p[j] = first + j < w.seen ? exp_f32(p[j] - max) : 0;
      total += p[j];
#pragma unroll
      for (int d = 0; d < FOURS; d++) sums[d] = in_order(sums[d] + p[j] * v[j * FOURS + d]);
    }
    sync_lds(); /* everyone has read the tile: LDS may be filled again */
  }
  store_output(&w, (float *)sums, total);
}
