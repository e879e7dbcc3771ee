/* MFMA: the matrix units do the multiply-adds.
 *
 * what: a wave computes 32 x 32 of the tile by 16x16x4 instructions. A lane holds 4 neighbours in k of a row of A and of a
 * column of B, so B is transposed on its way into LDS, where chunk c of line l lies at place c ^ (l % 16): 16 lanes, 16 places.
 * why: in f32 the matrix units do 256 FLOP a clock and CU, twice the VALU's multiply-adds, and the VALU is free.
 * limit: VALU: half, which is addresses and masks, and issues the MFMA. The matrix units are as busy.
 * launch: 64x64 of C by 256 work-items, k up to 64, 2 waves a SIMD
 * predict: gfx950: clocks / before = 0.32 to 0.35
 * predict: gfx942: clocks / before = 0.24 to 0.28
 * predict: valu_clocks / before = 0.5 to 0.55
 * predict: gfx950: predicted / before = 0.75 to 0.95
 */
#include "../gemm/step.h"
#include "hip/device/mfma.h"
#include "hip/device/wait.h"

enum { TILE = 64, DEPTH = 64 };

DEVICE int place_of(int line, int k) { return line * DEPTH + (k / 4 ^ line) % 16 * 4 + k % 4; }

/* 16 lines from `line` on, 16 values of k. */
DEVICE u32x4 fragment(LDS const float *lines, int line, int part) {
  return *(LDS const u32x4 *)(lines + place_of(line + lane_index() % 16, part * 16 + lane_index() / 16 * 4));
}

KERNEL WORKGROUP(256, 2) void gemm_step(gemm_step_args g) {
  SHARED static float lds_a[TILE * DEPTH] __attribute__((aligned(16))), lds_b[TILE * DEPTH] __attribute__((aligned(16)));
  LDS float *a = (LDS float *)lds_a, *b = (LDS float *)lds_b;
  uint32_t tile = workgroup_index();
  int64_t row0 = (int64_t)(tile / g.tiles_n) * TILE, column0 = (int64_t)(tile % g.tiles_n) * TILE;

  for (int i = thread_index(); i < TILE * DEPTH; i += 256) {
    int y = i / TILE, x = i % TILE;
    a[place_of(y, x)] = row0 + y < g.m && x < g.k ? ((const float *)g.a)[(row0 + y) * g.lda + x] : 0;
    b[place_of(x, y)] = column0 + x < g.n && y < g.k ? ((const float *)g.b)[y * g.ldb + column0 + x] : 0;
  }
  sync_lds(); /* the panel is complete */
  int row = wave_index() / 2 * 32, column = wave_index() % 2 * 32;
  f32x4 sums[2][2] = {};
  for (int part = 0; part < DEPTH / 16; part++) {
    u32x4 of_a[2] = {fragment(a, row, part), fragment(a, row + 16, part)};
    u32x4 of_b[2] = {fragment(b, column, part), fragment(b, column + 16, part)};
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++) sums[i][j] = mfma(of_a[i], of_b[j], sums[i][j], TDM_F32);
  }
  row0 += row + lane_index() / 16 * 4;
  column0 += column + lane_index() % 16;
  for (int f = 0; f < 16; f++) {
    int64_t at_row = row0 + f / 8 * 16 + f % 4, at_column = column0 + f / 4 % 2 * 16;
    if (at_row < g.m && at_column < g.n) ((float *)g.c)[at_row * g.ldc + at_column] = sums[f / 8][f / 4 % 2][f % 4];
  }
}
