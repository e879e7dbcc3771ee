/* MFMA: the matrix unit multiplies 16 x 16 x 32 in one instruction of a wave.
 *
 * what: a wave computes 32 x 32 of the tile as 2 x 2 fragments. A lane holds 8 neighbours in k of one row of A and one of B:
 * row lane % 16, k from 8 (lane / 16) on; and of the result column lane % 16, rows 4 (lane / 16) .. + 3. So LDS has a row for
 * each row of A or B, and a lane reads 16 bytes of it.
 * why: 16384 FLOP an instruction of 16 clocks (gfx942: of two with 16), where a VALU instruction of 4 clocks has 128.
 * limit: the VALU has a few percent of its work left, which is to load and to place. The matrix units have begun to count.
 * launch: 64x64 of C by 256 work-items, loads of 2 bytes, 4 waves a SIMD
 * predict: valu_clocks / before = 0.15 to 0.25
 * predict: lds_conflicts / lds_clocks = 0.55 to 0.65
 */
#include "hip/device/mfma.h"
#include "hip/device/wait.h"
#include "step.h"

enum { TILE = 64, STEP = 64, THREADS = 256, WAVE_TILE = 32 };

/* TILE rows of `matrix`, STEP values from k0 on; zeros outside. */
DEVICE void load_tile(LDS __bf16 *to, const void *matrix, int64_t row0, int64_t rows, int64_t k0, int64_t depth, int64_t ld) {
  for (int i = thread_index(); i < TILE * STEP; i += THREADS) {
    int row = i / STEP, k = i % STEP;
    bool inside = row0 + row < rows && k0 + k < depth;
    to[row * STEP + k] = inside ? ((const __bf16 *)matrix)[(row0 + row) * ld + k0 + k] : (__bf16)0.0f;
  }
}

/* 16 rows of a tile from `row` on, 32 values of k: what one MFMA takes. */
DEVICE u32x4 fragment(LDS const __bf16 *tile, int row, int part) {
  int lane = lane_index();
  return *(LDS const u32x4 *)(tile + (row + lane % 16) * STEP + part * 32 + lane / 16 * 8);
}

KERNEL WORKGROUP(THREADS, 4) void gemm_step(gemm_step_args g) {
  SHARED static __bf16 lds_a[TILE * STEP] __attribute__((aligned(16))), lds_b[TILE * STEP] __attribute__((aligned(16)));
  LDS __bf16 *a = (LDS __bf16 *)lds_a, *b = (LDS __bf16 *)lds_b;
  uint32_t tile = workgroup_index();
  int64_t row0 = (int64_t)(tile / g.tiles_n) * TILE, column0 = (int64_t)(tile % g.tiles_n) * TILE;
  int row = wave_index() / 2 * WAVE_TILE, column = wave_index() % 2 * WAVE_TILE;

  f32x4 sums[2][2] = {};
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    load_tile(a, g.a, row0, g.m, k0, g.k, g.lda);
    load_tile(b, g.b, column0, g.n, k0, g.k, g.ldb);
    sync_lds(); /* both tiles are complete */
    for (int part = 0; part < STEP / 32; part++) {
      u32x4 of_a[2] = {fragment(a, row, part), fragment(a, row + 16, part)};
      u32x4 of_b[2] = {fragment(b, column, part), fragment(b, column + 16, part)};
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) sums[i][j] = mfma(of_a[i], of_b[j], sums[i][j], TDM_BF16);
    }
    sync_lds(); /* everyone has read them: LDS may be filled again */
  }
  row0 += row + lane_index() / 16 * 4;
  column0 += column + lane_index() % 16;
  for (int f = 0; f < 16; f++) {
    int64_t at_row = row0 + f / 8 * 16 + f % 4, at_column = column0 + f / 4 % 2 * 16;
    if (at_row < g.m && at_column < g.n) ((__bf16 *)g.c)[at_row * g.ldc + at_column] = (__bf16)sums[f / 8][f / 4 % 2][f % 4];
  }
}
