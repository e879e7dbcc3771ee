/* fused: both products in one pass over X.
 *
 * what: each step has a tile of X and one of both weights, and two sums.
 * why: X is read once, from memory and from LDS, for both: three tiles a step where there were four, and three reads for two
 * products where there were four.
 * limit: loads and LDS: three quarters of both. Barriers: half.
 * launch: 16x16 of Y by 256 work-items, loads of 2 bytes, 8 waves a SIMD
 * predict: load_lines / before = 0.74 to 0.76
 * predict: lds_instructions / before = 0.7 to 0.8
 * predict: barriers / before = 0.5 to 0.5
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

KERNEL WORKGROUP(THREADS, 8) void swiglu_step(swiglu_step_args g) {
  SHARED static __bf16 lds_x[STEP * TILE], lds_g[STEP * TILE], lds_u[STEP * TILE];
  LDS __bf16 *x = (LDS __bf16 *)lds_x, *wg = (LDS __bf16 *)lds_g, *wu = (LDS __bf16 *)lds_u;
  uint32_t tile = workgroup_index();
  int64_t row0 = (int64_t)(tile / g.tiles_n) * TILE, column0 = (int64_t)(tile % g.tiles_n) * TILE;
  int row = thread_index() / TILE, column = thread_index() % TILE;

  float sum_g = 0, sum_u = 0;
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    load_tile(x, g.x, row0, g.m, k0, g.k, g.ldx);
    load_tile(wg, g.wg, column0, g.n, k0, g.k, g.ldg);
    load_tile(wu, g.wu, column0, g.n, k0, g.k, g.ldu);
    sync_lds(); /* the three tiles are complete */
    for (int k = 0; k < STEP; k++) {
      float of_x = (float)x[k * TILE + row];
      sum_g += of_x * (float)wg[k * TILE + column];
      sum_u += of_x * (float)wu[k * TILE + column];
    }
    sync_lds(); /* everyone has read them: LDS may be filled again */
  }
  if (row0 + row < g.m && column0 + column < g.n)
    ((__bf16 *)g.y)[(row0 + row) * g.ldy + column0 + column] = (__bf16)(silu_f32(sum_g) * sum_u);
}
