/* gemm for K <= 128 (f32 on gfx942: 64): all of K is in LDS at once. The lines of A and B are read once, there is one
 * barrier, and the products don't wait for memory again. C is stored with non-temporal stores, so that the caches keep A
 * and B for the other tiles: C is most of the traffic.
 *
 * 128 x 128 of C per workgroup, with the masked loads of hip_128x128 (masked.h). STEPS tiles of 128 bytes along k are
 * stored side by side. */
#include "hip/engine/masked.h"
#include "k_split.h"
#include "store.h"

template <int STEPS>
DEVICE void compute(const gemm_args *g, tdm_type type) {
  SHARED static char memory[STEPS * MASKED_BYTES] __attribute__((aligned(16)));
  LDS char *lds = (LDS char *)memory;
  const int bytes = tdm_bytes(type), step = ROW_BYTES / bytes;
  const gemm_work work = find_work(&g->first, g, TILE, TILE, g->a_along_k != 0, g->b_along_k != 0, type);
  const tile_part at = work.at;
  const gemm_part part = work.part;
  operand a = {part.a, g->m, g->k, g->lda, g->a_along_k != 0, g->aligned_a != 0};
  operand b = {part.b, g->n, g->k, g->ldb, g->b_along_k != 0, g->aligned_b != 0};
  int64_t m0 = (int64_t)at.m * TILE, n0 = (int64_t)at.n * TILE;
#pragma unroll
  for (int s = 0; s < STEPS; s++) {
    u32x4 words[2][CHUNKS_EACH];
    load_tile(words[0], &a, TILE, m0, s * step, type);
    load_tile(words[1], &b, TILE, n0, s * step, type);
    put_tile(lds + s * MASKED_BYTES, words[0], TILE, a.along_k, type);
    put_tile(lds + s * MASKED_BYTES + MASKED_BYTES / 2, words[1], TILE, b.along_k, type);
  }
  sync_lds(); /* all lines are in LDS */
  int wave = wave_index(), wave_m = wave / 2 * WAVE_TILE, wave_n = wave % 2 * WAVE_TILE;
  masked_sums sums = {};
#pragma unroll
  for (int s = 0; s < STEPS; s++)
    multiply(sums, lds + s * MASKED_BYTES, lds + s * MASKED_BYTES + MASKED_BYTES / 2, wave_m, wave_n, 0, type);
  sync_lds(); /* every wave has read its fragments: LDS is now used for the waves' blocks */

  enum { PASS_ROWS = STEPS > 1 ? 64 : 32 };
  LDS f32x4 *block = (LDS f32x4 *)lds + wave * PASS_ROWS * BLOCK_CHUNKS;
#pragma unroll 1
  for (int pass = 0; pass < WAVE_TILE / PASS_ROWS; pass++) {
#pragma unroll
    for (int f = 0; f < PASS_ROWS / 16 * FRAGMENTS; f++) {
      int fm = f / FRAGMENTS, fn = f % FRAGMENTS, other = (fm + PASS_ROWS / 16) % FRAGMENTS;
      block_put(block, fm, fn, pass == 0 ? sums[fm][fn] : sums[other][fn]);
    }
    block_store<PASS_ROWS, BLOCK_COLUMNS, NON_TEMPORAL>(block, at.stored, m0 + wave_m + pass * PASS_ROWS, n0 + wave_n, 0);
  }
}

/* The number is STEPS. If two workgroups fit into the LDS of a CU, they share it, and the products of one hide the traffic
 * of the other. */
enum { SHARING = 2 * 2 * MASKED_BYTES <= CHIP_LDS_BYTES ? 2 : 1 };
KERNEL WORKGROUP(256, 2) void gemm_small_k1_f32(gemm_args g) { compute<1>(&g, TDM_F32); }
KERNEL WORKGROUP(256, 2) void gemm_small_k1_f16(gemm_args g) { compute<1>(&g, TDM_F16); }
KERNEL WORKGROUP(256, 2) void gemm_small_k1_bf16(gemm_args g) { compute<1>(&g, TDM_BF16); }
KERNEL WORKGROUP(256, SHARING) void gemm_small_k2_f32(gemm_args g) { compute<2>(&g, TDM_F32); }
KERNEL WORKGROUP(256, SHARING) void gemm_small_k2_f16(gemm_args g) { compute<2>(&g, TDM_F16); }
KERNEL WORKGROUP(256, SHARING) void gemm_small_k2_bf16(gemm_args g) { compute<2>(&g, TDM_BF16); }

#if CHIP_LDS_BYTES >= 131072 /* what four steps take */
KERNEL WORKGROUP(256, 1) void gemm_small_k4_f32(gemm_args g) { compute<4>(&g, TDM_F32); }
#endif
