/* XCD remap, broken: workgroup ids, which the XCDs take in turn, become shares of neighbouring tiles, but not of all tiles.
 *
 * what: tile = xcd ceil(tiles / xcds) + id / xcds, and the id itself where that is out of range: the remap as it is often
 * written. `diff hip_09_* hip_12_*` is the change.
 * why: tiles of neighbours share rows of A and B, which then stay in one XCD's L2.
 * limit: L2 misses. It looks right, and is right where the XCDs divide the number of tiles, as they do in square benchmarks.
 * wrong: of 33 tiles over 8 XCDs, tiles 9, 14, 19, 24 and 29 are nobody's, as each XCD but the first has 4 workgroups for its
 * 5 tiles; and 7, 15, 23, 30 and 31 are computed twice.
 * launch: 64x64 of C by 256 work-items, loads of 16 bytes, 2 waves a SIMD
 * predict: 192x704x64: caught
 * predict: 512x512x64: right
 */
#include "hip/device/buffer.h"
#include "hip/device/lds.h"
#include "hip/device/mfma.h"
#include "hip/device/wait.h"
#include "step.h"

enum { TILE = 64, STEP = 64, THREADS = 256, WAVE_TILE = 32, CHUNK = 8 };
enum { WAVES = CHIP_LDS_BYTES > 65536 ? 4 : 2 }; /* of a SIMD: those of as many workgroups as LDS has room for */
enum { TILE_BYTES = TILE * ROW_BYTES, EACH = TILE_BYTES / (THREADS * CHIP_LOAD_TO_LDS_BYTES) }; /* loads of a thread */

/* TILE rows of `matrix` from row0 on. */
DEVICE buffer buffer_of(const void *matrix, int64_t row0, int64_t rows, int64_t depth, int64_t ld) {
  int64_t last = (rows - row0 < TILE ? rows - row0 : (int64_t)TILE) - 1;
  return make_buffer((const __bf16 *)matrix + row0 * ld, (last * ld + depth) * 2);
}

/* The chunk that this thread loads of its n-th row: a load-to-LDS puts the lanes' values side by side, so the thread takes what
 * belongs there (lds.h has the swizzle of the step before, which is its own inverse). */
DEVICE int chunk_of(int at) { return swizzle(at / ROW_BYTES, at % ROW_BYTES / CHUNK_BYTES); }

/* Where that is in memory, in bytes: the same in every step, except k0. */
DEVICE void find_chunks(uint32_t *offset, int64_t ld) {
#pragma unroll
  for (int n = 0; n < EACH; n++) {
    int at = (n * THREADS + thread_index()) * CHIP_LOAD_TO_LDS_BYTES;
    offset[n] = (uint32_t)(at / ROW_BYTES * ld + chunk_of(at) * CHUNK) * 2 + at % CHUNK_BYTES;
  }
}

/* STEP values from k0 on; zeros outside. All of a thread's chunks have the same number. */
DEVICE void load_tile(LDS char *to, buffer from, const uint32_t *offset, int64_t k0, int64_t depth) {
  bool inside = k0 + chunk_of(thread_index() * CHIP_LOAD_TO_LDS_BYTES) * CHUNK < depth;
#pragma unroll
  for (int n = 0; n < EACH; n++)
    buffer_load_to_lds(from, inside ? offset[n] + (uint32_t)k0 * 2 : OUTSIDE,
                       to + (n * THREADS + wave_index() * WAVE) * CHIP_LOAD_TO_LDS_BYTES);
}

/* 16 rows of a tile from `row` on, 32 values of k: what one MFMA takes. The compiler would wait here for the loads of the next
 * step too, as it can't know that they fill the other stage; so the read is without its wait. */
DEVICE u32x4 fragment(LDS const char *tile, int row, int part) {
  int lane = lane_index();
  return lds_read_unordered(lds_address(tile) + chunk_offset(row + lane % 16, part * 4 + lane / 16), 0);
}

KERNEL WORKGROUP(THREADS, WAVES) void gemm_step(gemm_step_args g) {
  SHARED static char lds_a[2 * TILE_BYTES] __attribute__((aligned(16))), lds_b[2 * TILE_BYTES] __attribute__((aligned(16)));
  uint32_t tiles = g.tiles_m * g.tiles_n, share = (tiles + g.xcds - 1) / g.xcds;
  uint32_t tile = workgroup_index() % g.xcds * share + workgroup_index() / g.xcds;
  if (tile >= tiles) tile = workgroup_index(); /* out of range: keep the old id */
  int64_t row0 = (int64_t)(tile / g.tiles_n) * TILE, column0 = (int64_t)(tile % g.tiles_n) * TILE;
  int row = wave_index() / 2 * WAVE_TILE, column = wave_index() % 2 * WAVE_TILE;
  buffer from_a = buffer_of(g.a, row0, g.m, g.k, g.lda), from_b = buffer_of(g.b, column0, g.n, g.k, g.ldb);
  uint32_t chunks_a[EACH], chunks_b[EACH];
  find_chunks(chunks_a, g.lda);
  find_chunks(chunks_b, g.ldb);

  f32x4 sums[2][2] = {};
  load_tile((LDS char *)lds_a, from_a, chunks_a, 0, g.k);
  load_tile((LDS char *)lds_b, from_b, chunks_b, 0, g.k);
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    int here = (int)(k0 / STEP % 2) * TILE_BYTES, next = TILE_BYTES - here;
    wait_memory<0>(); /* this wave's loads of the step have arrived */
    barrier();        /* everyone's have; and everyone has read the stage before, which the next step fills */
    u32x4 of_a[2][2], of_b[2][2];
    for (int f = 0; f < 4; f++) {
      of_a[f / 2][f % 2] = fragment((LDS char *)lds_a + here, row + f % 2 * 16, f / 2);
      of_b[f / 2][f % 2] = fragment((LDS char *)lds_b + here, column + f % 2 * 16, f / 2);
    }
    load_tile((LDS char *)lds_a + next, from_a, chunks_a, k0 + STEP, g.k); /* zeros after the last step */
    load_tile((LDS char *)lds_b + next, from_b, chunks_b, k0 + STEP, g.k);
    wait_lds(); /* the fragments have arrived: they are used after this, and not before */
    for (int f = 0; f < 4; f++) {
      of_a[f / 2][f % 2] = in_order(of_a[f / 2][f % 2]);
      of_b[f / 2][f % 2] = in_order(of_b[f / 2][f % 2]);
    }
    for (int part = 0; part < STEP / 32; part++)
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) sums[i][j] = mfma(of_a[part][i], of_b[part][j], sums[i][j], TDM_BF16);
  }
  wait_memory<0>(); /* the zeros after the last step: nothing may be under way when the workgroup ends */
  row0 += row + lane_index() / 16 * 4;
  column0 += column + lane_index() % 16;
  for (int f = 0; f < 16; f++) {
    int64_t at_row = row0 + f / 8 * 16 + f % 4, at_column = column0 + f / 4 % 2 * 16;
    if (at_row < g.m && at_column < g.n) ((__bf16 *)g.c)[at_row * g.ldc + at_column] = (__bf16)sums[f / 8][f / 4 % 2][f % 4];
  }
}
