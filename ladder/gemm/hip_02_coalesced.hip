/* coalesced: the lanes of a wave read neighbours in memory.
 *
 * what: a wave computes an element of C together: lane l has the values k = l, l + 64, ... and the lanes' sums are added up.
 * why: rows run along k, so 64 lanes with 64 neighbours in k read one line of 128 bytes, and use all of it.
 * limit: the vL1D serves a line for 64 products where it served 32. What is left is the VALU, mostly the sum over lanes.
 * launch: 4x64 of C by 256 work-items, loads of 2 bytes, 8 waves a SIMD
 * predict: load_lines / loads = 1 to 1
 * predict: load_lines / before = 0.03 to 0.032
 */
#include "step.h"

DEVICE float sum_of_lanes(float x) {
  for (int far = 1; far < WAVE; far *= 2) { /* ds_bpermute: this lane gets the value of lane l ^ far */
    int other = __builtin_amdgcn_ds_bpermute((lane_index() ^ far) * 4, __builtin_bit_cast(int, x));
    x += __builtin_bit_cast(float, other);
  }
  return x;
}

KERNEL WORKGROUP(256, 8) void gemm_step(gemm_step_args g) {
  uint32_t tile = workgroup_index();
  int64_t row = (int64_t)(tile / g.tiles_n) * 4 + wave_index();
  int64_t column0 = (int64_t)(tile % g.tiles_n) * 64;
  if (row >= g.m) return;

  const __bf16 *a = (const __bf16 *)g.a + row * g.lda;
  float mine = 0; /* lane l keeps the sum of column0 + l */
  for (int column = 0; column < 64 && column0 + column < g.n; column++) {
    const __bf16 *b = (const __bf16 *)g.b + (column0 + column) * g.ldb;
    float sum = 0;
    for (int64_t k = lane_index(); k < g.k; k += WAVE) sum += (float)a[k] * (float)b[k];
    sum = sum_of_lanes(sum);
    if (lane_index() == column) mine = sum;
  }
  int64_t column = column0 + lane_index();
  if (column < g.n) ((__bf16 *)g.c)[row * g.ldc + column] = (__bf16)mine;
}
