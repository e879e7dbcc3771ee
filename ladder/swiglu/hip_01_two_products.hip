/* two products: the gate's product, then the other one, each a gemm over tiles in LDS.
 *
 * what: 16 x 16 of Y a workgroup. 64 values along k of 16 rows of X and of Wg go into LDS; then the same with X and Wu. (As two
 * gemms would, but that the gate stays in a register and does not go through memory.)
 * why: it is what two Linear layers and an activation do.
 * limit: none yet: X is read for each of the products.
 * launch: 16x16 of Y by 256 work-items, loads of 2 bytes, 8 waves a SIMD
 * predict: load_lines / loads = 1 to 1
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
  SHARED static __bf16 lds_x[STEP * TILE], lds_w[STEP * TILE];
  LDS __bf16 *x = (LDS __bf16 *)lds_x, *w = (LDS __bf16 *)lds_w;
  uint32_t tile = workgroup_index();
  int64_t row0 = (int64_t)(tile / g.tiles_n) * TILE, column0 = (int64_t)(tile % g.tiles_n) * TILE;
  int row = thread_index() / TILE, column = thread_index() % TILE;

  float sum_g = 0, sum_u = 0;
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    load_tile(x, g.x, row0, g.m, k0, g.k, g.ldx);
    load_tile(w, g.wg, column0, g.n, k0, g.k, g.ldg);
    sync_lds(); /* both tiles are complete */
    for (int k = 0; k < STEP; k++) sum_g += (float)x[k * TILE + row] * (float)w[k * TILE + column];
    sync_lds(); /* everyone has read them: LDS may be filled again */
  }
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    load_tile(x, g.x, row0, g.m, k0, g.k, g.ldx);
    load_tile(w, g.wu, column0, g.n, k0, g.k, g.ldu);
    sync_lds(); /* both tiles are complete */
    for (int k = 0; k < STEP; k++) sum_u += (float)x[k * TILE + row] * (float)w[k * TILE + column];
    sync_lds(); /* everyone has read them: LDS may be filled again */
  }
  if (row0 + row < g.m && column0 + column < g.n)
    ((__bf16 *)g.y)[(row0 + row) * g.ldy + column0 + column] = (__bf16)(silu_f32(sum_g) * sum_u);
}
