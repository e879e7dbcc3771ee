/* LDS tile: a workgroup copies what it will read many times into LDS, once.
 *
 * what: 16 x 16 of C a workgroup. 64 values along k of 16 rows of A and of B go into LDS, then every work-item sums its
 * element.
 * why: each value of A and B is used 16 times after one read from memory.
 * limit: memory is asked for a 16th of the lines. The floor moves on: two LDS reads of 2 bytes for each product, which gfx942
 * serves at half the rate of gfx950, where it is the VALU that converts them.
 * launch: 16x16 of C by 256 work-items, loads of 2 bytes, 8 waves a SIMD
 * predict: load_lines / before = 0.06 to 0.07
 * predict: gfx942: floor = LDS
 * predict: gfx950: floor = VALU
 */
#include "hip/device/wait.h"
#include "step.h"

enum { TILE = 16, STEP = 64, THREADS = 256 };

/* TILE rows of `matrix`, STEP values from k0 on; zeros outside. LDS has a row for each k, so that lanes read neighbours. */
DEVICE void load_tile(LDS __bf16 *to, const void *matrix, int64_t row0, int64_t rows, int64_t k0, int64_t depth, int64_t ld) {
  for (int i = thread_index(); i < TILE * STEP; i += THREADS) {
    int row = i / STEP, k = i % STEP;
    bool inside = row0 + row < rows && k0 + k < depth;
    to[k * TILE + row] = inside ? ((const __bf16 *)matrix)[(row0 + row) * ld + k0 + k] : (__bf16)0.0f;
  }
}

KERNEL WORKGROUP(THREADS, 8) void gemm_step(gemm_step_args g) {
  SHARED static __bf16 lds_a[STEP * TILE], lds_b[STEP * TILE];
  LDS __bf16 *a = (LDS __bf16 *)lds_a, *b = (LDS __bf16 *)lds_b;
  uint32_t tile = workgroup_index();
  int64_t row0 = (int64_t)(tile / g.tiles_n) * TILE, column0 = (int64_t)(tile % g.tiles_n) * TILE;
  int row = thread_index() / TILE, column = thread_index() % TILE;

  float sum = 0;
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    load_tile(a, g.a, row0, g.m, k0, g.k, g.lda);
    load_tile(b, g.b, column0, g.n, k0, g.k, g.ldb);
    sync_lds(); /* both tiles are complete */
    for (int k = 0; k < STEP; k++) sum += (float)a[k * TILE + row] * (float)b[k * TILE + column];
    sync_lds(); /* everyone has read them: LDS may be filled again */
  }
  if (row0 + row < g.m && column0 + column < g.n) ((__bf16 *)g.c)[(row0 + row) * g.ldc + column0 + column] = (__bf16)sum;
}
