/* swiglu for everything: 128 x 64 of Y per workgroup, with 64 columns of each weight side by side (engine/masked.h). */
#include "find.h"
#include "hip/engine/masked.h"
#include "store.h"

DEVICE void compute_tile(const swiglu_args *p, LDS char *lds, tdm_type type) {
  const bool along_k = p->weights_along_k != 0;
  const tile_part at = find_work(&p->first, p, TILE, TILE / 2, along_k, false, type).at;
  operand x = {(const char *)p->first.x, p->m, p->k, p->ldx, true, p->aligned_x != 0};
  operand w[2] = {{(const char *)p->first.wg, p->n, p->k, p->ldg, along_k, p->aligned_g != 0},
                  {(const char *)p->first.wu, p->n, p->k, p->ldu, along_k, p->aligned_u != 0}};
  int64_t m0 = (int64_t)at.m * TILE, n0 = (int64_t)at.n * TILE / 2;
  masked_sums sums = {};
  run_masked(sums, &x, w, 2, m0, n0, lds, type);

  enum { PASS_ROWS = 32 };
  int wave = wave_index();
  LDS f32x4 *block = (LDS f32x4 *)lds + wave * PASS_ROWS * BLOCK_CHUNKS;
#pragma unroll 1
  for (int pass = 0; pass < WAVE_TILE / PASS_ROWS; pass++) {
#pragma unroll
    for (int f = 0; f < PASS_ROWS / 16 * FRAGMENTS; f++) {
      int fm = f / FRAGMENTS, fn = f % FRAGMENTS;
      block_put(block, fm, fn, pass == 0 ? sums[fm][fn] : sums[fm + PASS_ROWS / 16][fn]);
    }
    block_store_gated(p, block, PASS_ROWS, m0 + wave / 2 * WAVE_TILE + pass * PASS_ROWS, n0 + wave % 2 * (WAVE_TILE / 2));
  }
}

DEVICE void compute(const swiglu_args *p, tdm_type type) {
  SHARED static char lds[MASKED_BYTES] __attribute__((aligned(16)));
  compute_tile(p, (LDS char *)lds, type);
}

KERNEL WORKGROUP(256, 2) void swiglu_128x64_f32(swiglu_args p) { compute(&p, TDM_F32); }
KERNEL WORKGROUP(256, 2) void swiglu_128x64_f16(swiglu_args p) { compute(&p, TDM_F16); }
KERNEL WORKGROUP(256, 2) void swiglu_128x64_bf16(swiglu_args p) { compute(&p, TDM_BF16); }
