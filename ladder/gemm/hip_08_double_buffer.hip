/* double buffer: LDS has two stages, and the next step is on its way while this one is multiplied.
 *
 * what: loads go into registers a step ahead, from there into the stage that nobody reads.
 * why: a load takes hundreds of clocks to arrive, which the wave spends with products and not with waiting; and one barrier a
 * step is enough, because who writes a stage is a barrier away from who read it.
 * limit: latency. A bound by counts does not show it: the counters show half of the barriers, and twice the LDS. The model of
 * time shows it on gfx950, whose LDS holds as many workgroups as before. gfx942 has room for half of them: what a wave no
 * longer waits, too few other waves fill.
 * launch: 64x64 of C by 256 work-items, loads of 16 bytes, 2 waves a SIMD
 * predict: barriers / before = 0.5 to 0.5
 * predict: lds_bytes / before = 2 to 2
 * predict: gfx950: predicted / before = 0.75 to 0.95
 * predict: gfx942: predicted / before = 0.85 to 1.1
 */
#include "hip/device/buffer.h"
#include "hip/device/mfma.h"
#include "hip/device/wait.h"
#include "step.h"

enum { TILE = 64, STEP = 64, THREADS = 256, WAVE_TILE = 32, CHUNK = 8, ROW_CHUNKS = STEP / CHUNK };
enum { WAVES = CHIP_LDS_BYTES > 65536 ? 4 : 2 }; /* of a SIMD: those of as many workgroups as LDS has room for */
enum { EACH = TILE * ROW_CHUNKS / THREADS };     /* chunks of a thread */

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
DEVICE void load_tile(u32x4 *to, buffer from, const uint32_t *offset, int64_t k0, int64_t depth) {
  bool inside = k0 + thread_index() % ROW_CHUNKS * CHUNK < depth;
#pragma unroll
  for (int n = 0; n < EACH; n++) to[n] = buffer_load(from, inside ? offset[n] + (uint32_t)k0 * 2 : OUTSIDE);
}

DEVICE void put_tile(LDS u32x4 *to, const u32x4 *chunks) {
#pragma unroll
  for (int n = 0; n < EACH; n++) {
    int i = n * THREADS + thread_index();
    to[place_of(i / ROW_CHUNKS, i % ROW_CHUNKS)] = chunks[n];
  }
}

/* 16 rows of a tile from `row` on, 32 values of k: what one MFMA takes. */
DEVICE u32x4 fragment(LDS const u32x4 *tile, int row, int part) {
  int lane = lane_index();
  return tile[place_of(row + lane % 16, part * 4 + lane / 16)];
}

KERNEL WORKGROUP(THREADS, WAVES) void gemm_step(gemm_step_args g) {
  enum { STAGE = TILE * ROW_CHUNKS };
  SHARED static u32x4 lds_a[2 * STAGE], lds_b[2 * STAGE];
  uint32_t tile = workgroup_index();
  int64_t row0 = (int64_t)(tile / g.tiles_n) * TILE, column0 = (int64_t)(tile % g.tiles_n) * TILE;
  int row = wave_index() / 2 * WAVE_TILE, column = wave_index() % 2 * WAVE_TILE;
  buffer from_a = buffer_of(g.a, row0, g.m, g.k, g.lda), from_b = buffer_of(g.b, column0, g.n, g.k, g.ldb);
  uint32_t chunks_a[EACH], chunks_b[EACH];
  find_chunks(chunks_a, g.lda);
  find_chunks(chunks_b, g.ldb);

  f32x4 sums[2][2] = {};
  u32x4 next_a[EACH], next_b[EACH];
  load_tile(next_a, from_a, chunks_a, 0, g.k);
  load_tile(next_b, from_b, chunks_b, 0, g.k);
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    LDS u32x4 *a = (LDS u32x4 *)lds_a + k0 / STEP % 2 * STAGE, *b = (LDS u32x4 *)lds_b + k0 / STEP % 2 * STAGE;
    put_tile(a, next_a);
    put_tile(b, next_b);
    load_tile(next_a, from_a, chunks_a, k0 + STEP, g.k); /* zeros after the last step */
    load_tile(next_b, from_b, chunks_b, k0 + STEP, g.k);
    sync_lds(); /* both tiles are complete; and everyone has read the stage before, which the next step fills */
    for (int part = 0; part < STEP / 32; part++) {
      u32x4 of_a[2] = {fragment(a, row, part), fragment(a, row + 16, part)};
      u32x4 of_b[2] = {fragment(b, column, part), fragment(b, column + 16, part)};
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) sums[i][j] = mfma(of_a[i], of_b[j], sums[i][j], TDM_BF16);
    }
  }
  row0 += row + lane_index() / 16 * 4;
  column0 += column + lane_index() % 16;
  for (int f = 0; f < 16; f++) {
    int64_t at_row = row0 + f / 8 * 16 + f % 4, at_column = column0 + f / 4 % 2 * 16;
    if (at_row < g.m && at_column < g.n) ((__bf16 *)g.c)[at_row * g.ldc + at_column] = (__bf16)sums[f / 8][f / 4 % 2][f % 4];
  }
}
