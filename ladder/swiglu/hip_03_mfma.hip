/* MFMA: the matrix units multiply, and a fragment of X meets both weights.
 *
 * what: the gemm ladder's steps 4 to 7 at once: 64 x 64 of Y a workgroup, 16 bytes a lane and load, swizzled LDS, MFMA. A wave
 * has 32 x 32 of both products in its registers, so that silu and the product of the two need no memory.
 * why: a chunk of X that was read from LDS feeds two MFMA.
 * limit: VALU and LDS, as in the gemm ladder.
 * launch: 64x64 of Y by 256 work-items, loads of 16 bytes, 2 waves a SIMD
 * predict: valu_clocks / before = 0.015 to 0.02
 * predict: lds_conflicts = 0 to 0
 * predict: load_lines / before = 0.24 to 0.26
 */
#include "hip/device/buffer.h"
#include "hip/device/mfma.h"
#include "hip/device/wait.h"
#include "step.h"

enum { TILE = 64, STEP = 64, THREADS = 256, WAVE_TILE = 32, CHUNK = 8, ROW_CHUNKS = STEP / CHUNK };
enum { EACH = TILE * ROW_CHUNKS / THREADS }; /* chunks of a thread */

enum { ROWS_OF_BANKS = CHIP_LDS_BANKS * 4 / (STEP * 2) }; /* rows that fill all banks */

DEVICE int place_of(int row, int chunk) { return row * ROW_CHUNKS + (chunk ^ row / ROWS_OF_BANKS % ROW_CHUNKS); }

/* TILE rows of `matrix` from row0 on. */
DEVICE buffer buffer_of(const void *matrix, int64_t row0, int64_t rows, int64_t depth, int64_t ld) {
  int64_t last = (rows - row0 < TILE ? rows - row0 : (int64_t)TILE) - 1;
  return make_buffer((const __bf16 *)matrix + row0 * ld, (last * ld + depth) * 2);
}

/* Where this thread's chunks of a tile are in memory, in bytes: the same in every step, except k0. */
DEVICE void find_chunks(uint32_t *offset, int64_t ld) {
#pragma unroll
  for (int n = 0; n < EACH; n++) {
    int i = n * THREADS + thread_index();
    offset[n] = (uint32_t)(i / ROW_CHUNKS * ld + i % ROW_CHUNKS * CHUNK) * 2;
  }
}

/* STEP values from k0 on; zeros outside. */
DEVICE void load_tile(LDS u32x4 *to, buffer from, const uint32_t *offset, int64_t k0, int64_t depth) {
  bool inside = k0 + thread_index() % ROW_CHUNKS * CHUNK < depth;
#pragma unroll
  for (int n = 0; n < EACH; n++) {
    int i = n * THREADS + thread_index();
    to[place_of(i / ROW_CHUNKS, i % ROW_CHUNKS)] = buffer_load(from, inside ? offset[n] + (uint32_t)k0 * 2 : OUTSIDE);
  }
}

/* 16 rows of a tile from `row` on, 32 values of k: what one MFMA takes. */
DEVICE u32x4 fragment(LDS const u32x4 *tile, int row, int part) {
  int lane = lane_index();
  return tile[place_of(row + lane % 16, part * 4 + lane / 16)];
}

KERNEL WORKGROUP(THREADS, 2) void swiglu_step(swiglu_step_args g) {
  SHARED static u32x4 lds_x[TILE * ROW_CHUNKS], lds_g[TILE * ROW_CHUNKS], lds_u[TILE * ROW_CHUNKS];
  LDS u32x4 *x = (LDS u32x4 *)lds_x, *wg = (LDS u32x4 *)lds_g, *wu = (LDS u32x4 *)lds_u;
  uint32_t tile = workgroup_index();
  int64_t row0 = (int64_t)(tile / g.tiles_n) * TILE, column0 = (int64_t)(tile % g.tiles_n) * TILE;
  int row = wave_index() / 2 * WAVE_TILE, column = wave_index() % 2 * WAVE_TILE;
  buffer from_x = buffer_of(g.x, row0, g.m, g.k, g.ldx);
  buffer from_g = buffer_of(g.wg, column0, g.n, g.k, g.ldg), from_u = buffer_of(g.wu, column0, g.n, g.k, g.ldu);
  uint32_t chunks_x[EACH], chunks_g[EACH], chunks_u[EACH];
  find_chunks(chunks_x, g.ldx);
  find_chunks(chunks_g, g.ldg);
  find_chunks(chunks_u, g.ldu);

  f32x4 sums_g[2][2] = {}, sums_u[2][2] = {};
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    load_tile(x, from_x, chunks_x, k0, g.k);
    load_tile(wg, from_g, chunks_g, k0, g.k);
    load_tile(wu, from_u, chunks_u, k0, g.k);
    sync_lds(); /* the three tiles are complete */
    for (int part = 0; part < STEP / 32; part++) {
      u32x4 of_x[2] = {fragment(x, row, part), fragment(x, row + 16, part)};
      for (int j = 0; j < 2; j++) {
        u32x4 of_g = fragment(wg, column + 16 * j, part), of_u = fragment(wu, column + 16 * j, part);
        for (int i = 0; i < 2; i++) {
          sums_g[i][j] = mfma(of_x[i], of_g, sums_g[i][j], TDM_BF16);
          sums_u[i][j] = mfma(of_x[i], of_u, sums_u[i][j], TDM_BF16);
        }
      }
    }
    sync_lds(); /* everyone has read them: LDS may be filled again */
  }
  row0 += row + lane_index() / 16 * 4;
  column0 += column + lane_index() % 16;
  for (int f = 0; f < 16; f++) {
    int64_t at_row = row0 + f / 8 * 16 + f % 4, at_column = column0 + f / 4 % 2 * 16;
    float y = silu_f32(sums_g[f / 8][f / 4 % 2][f % 4]) * sums_u[f / 8][f / 4 % 2][f % 4];
    if (at_row < g.m && at_column < g.n) ((__bf16 *)g.y)[at_row * g.ldy + at_column] = (__bf16)y;
  }
}
