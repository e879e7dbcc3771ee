/* gemm for everything: 128 x 128 of C per workgroup (masked.h). Faster kernels support what is aligned. */
#include "hip/engine/masked.h"
#include "k_split.h"
#include "store.h"

DEVICE void compute_tile(const gemm_args *g, LDS char *lds, tdm_type type) {
  const gemm_work work = find_work(&g->first, g, TILE, TILE, g->a_along_k != 0, g->b_along_k != 0, type);
  const tile_part at = work.at;
  const gemm_part part = work.part;
  operand a = {part.a, g->m, part.depth, g->lda, g->a_along_k != 0, g->aligned_a != 0};
  operand b = {part.b, g->n, part.depth, g->ldb, g->b_along_k != 0, g->aligned_b != 0};
  int64_t m0 = (int64_t)at.m * TILE, n0 = (int64_t)at.n * TILE;
  masked_sums sums = {};
  run_masked(sums, &a, &b, 1, m0, n0, lds, type);

  enum { PASS_ROWS = 32 }; /* the waves' blocks use the LDS of both tiles: 8 KiB each */
  int wave = wave_index();
  m0 += wave / 2 * WAVE_TILE;
  n0 += wave % 2 * WAVE_TILE;
  LDS f32x4 *block = (LDS f32x4 *)lds + wave * PASS_ROWS * BLOCK_CHUNKS;
#pragma unroll 1
  for (int pass = 0; pass < WAVE_TILE / PASS_ROWS; pass++) {
#pragma unroll
    for (int f = 0; f < PASS_ROWS / 16 * FRAGMENTS; f++) {
      int fm = f / FRAGMENTS, fn = f % FRAGMENTS;
      block_put(block, fm, fn, pass == 0 ? sums[fm][fn] : sums[fm + PASS_ROWS / 16][fn]);
    }
    block_store<PASS_ROWS>(block, at.stored, m0 + pass * PASS_ROWS, n0, 0);
  }
}

DEVICE void compute(const gemm_args *g, tdm_type type) {
  SHARED static char lds[MASKED_BYTES] __attribute__((aligned(16)));
  compute_tile(g, (LDS char *)lds, type);
}

KERNEL WORKGROUP(256, 2) void gemm_128x128_f32(gemm_args g) { compute(&g, TDM_F32); }
KERNEL WORKGROUP(256, 2) void gemm_128x128_f16(gemm_args g) { compute(&g, TDM_F16); }
KERNEL WORKGROUP(256, 2) void gemm_128x128_bf16(gemm_args g) { compute(&g, TDM_BF16); }
