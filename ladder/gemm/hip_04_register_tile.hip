/* register tile: a work-item computes 4 x 4 elements of C, and uses each value that it reads four times.
 *
 * what: 64 x 64 of C a workgroup, 4 x 4 of it in each work-item's registers.
 * why: 4 values of A and 4 of B make 16 products: half a read from LDS for a product, where there were two. Four neighbours in
 * LDS are one read.
 * limit: LDS gives 16 products for 2 reads, and memory is asked for a line by 4 times as many products. What remains on gfx942
 * is how the tiles get into LDS: a wave writes a column of 2-byte values, all to one bank. (gfx950's have no source: not
 * counted.)
 * launch: 64x64 of C by 256 work-items, loads of 2 bytes, 4 waves a SIMD
 * predict: load_lines / before = 0.24 to 0.26
 * predict: lds_instructions / before = 0.04 to 0.05
 * predict: gfx950: floor = VALU
 * predict: gfx942: lds_conflicts / lds_clocks = 0.7 to 0.85
 */
#include "hip/device/wait.h"
#include "step.h"

enum { TILE = 64, STEP = 64, THREADS = 256, EACH = 4 };

/* TILE rows of `matrix`, STEP values from k0 on; zeros outside. LDS has a row for each k, so that lanes read neighbours. */
DEVICE void load_tile(LDS __bf16 *to, const void *matrix, int64_t row0, int64_t rows, int64_t k0, int64_t depth, int64_t ld) {
  for (int i = thread_index(); i < TILE * STEP; i += THREADS) {
    int row = i / STEP, k = i % STEP;
    bool inside = row0 + row < rows && k0 + k < depth;
    to[k * TILE + row] = inside ? ((const __bf16 *)matrix)[(row0 + row) * ld + k0 + k] : (__bf16)0.0f;
  }
}

KERNEL WORKGROUP(THREADS, 4) void gemm_step(gemm_step_args g) {
  SHARED static __bf16 lds_a[STEP * TILE], lds_b[STEP * TILE];
  LDS __bf16 *a = (LDS __bf16 *)lds_a, *b = (LDS __bf16 *)lds_b;
  uint32_t tile = workgroup_index();
  int64_t row0 = (int64_t)(tile / g.tiles_n) * TILE, column0 = (int64_t)(tile % g.tiles_n) * TILE;
  int row = thread_index() / (TILE / EACH) * EACH, column = thread_index() % (TILE / EACH) * EACH;

  f32x4 sums[EACH] = {};
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    load_tile(a, g.a, row0, g.m, k0, g.k, g.lda);
    load_tile(b, g.b, column0, g.n, k0, g.k, g.ldb);
    sync_lds(); /* both tiles are complete */
    for (int k = 0; k < STEP; k++) {
      f32x4 of_a = __builtin_convertvector(*(LDS bf16x4 *)(a + k * TILE + row), f32x4);
      f32x4 of_b = __builtin_convertvector(*(LDS bf16x4 *)(b + k * TILE + column), f32x4);
      for (int i = 0; i < EACH; i++) sums[i] += of_a[i] * of_b;
    }
    sync_lds(); /* everyone has read them: LDS may be filled again */
  }
  for (int i = 0; i < EACH; i++)
    for (int j = 0; j < EACH; j++)
      if (row0 + row + i < g.m && column0 + column + j < g.n)
        ((__bf16 *)g.c)[(row0 + row + i) * g.ldc + column0 + column + j] = (__bf16)sums[i][j];
}
