/* tiles of 16 x 16: the kernel as it is first written, each tile of K in turn through LDS.
 *
 * what: a workgroup computes 16 x 16 of C, a work-item one element; 16 values of k at a time go into LDS, between two barriers.
 * why: with K = 64 and C of thousands by thousands it is C that takes the memory: what counts is what comes in between.
 * limit: two reads from LDS for each product, and two barriers for every 16.
 * launch: 16x16 of C by 256 work-items, k up to 536870911, 8 waves a SIMD
 * predict: barriers / instructions = 0.02 to 0.03
 * predict: gfx950: floor = VALU
 * predict: gfx942: floor = LDS
 */
#include "../gemm/step.h"
#include "hip/device/wait.h"

enum { TILE = 16, STEP = 16 };

KERNEL WORKGROUP(256, 8) void gemm_step(gemm_step_args g) {
  SHARED static float lds_a[TILE * STEP], lds_b[STEP * TILE];
  LDS float *a = (LDS float *)lds_a, *b = (LDS float *)lds_b;
  int y = thread_index() / TILE, x = thread_index() % TILE;
  uint32_t tile = workgroup_index();
  int64_t row = (int64_t)(tile / g.tiles_n) * TILE + y, column = (int64_t)(tile % g.tiles_n) * TILE + x;

  float sum = 0;
  for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
    a[y * STEP + x] = row < g.m && k0 + x < g.k ? ((const float *)g.a)[row * g.lda + k0 + x] : 0;
    b[y * TILE + x] = column < g.n && k0 + y < g.k ? ((const float *)g.b)[(k0 + y) * g.ldb + column] : 0;
    sync_lds(); /* both tiles are complete */
    for (int k = 0; k < STEP; k++) sum += a[y * STEP + k] * b[k * TILE + x];
    sync_lds(); /* everyone has read them: LDS may be filled again */
  }
  if (row < g.m && column < g.n) ((float *)g.c)[row * g.ldc + column] = sum;
}
