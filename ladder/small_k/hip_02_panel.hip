/* panel: all of K lies in LDS at once.
 *
 * what: 64 values of k of 16 rows of A and 16 columns of B go into LDS together, and the loop over them is unrolled.
 * why: K is small enough: one wait for memory and one barrier in all, where every 16 values of k had two.
 * limit: waits, which a bound by counts does not show. The counters show the barriers, and the loop's instructions. The model
 * of time
 * says that it is slower: all workgroups of a CU wait for their whole panel at once, and fewer fit beside each other.
 * launch: 16x16 of C by 256 work-items, k up to 64, 6 waves a SIMD
 * predict: barriers / before = 0.12 to 0.13
 * predict: instructions / before = 0.86 to 0.9
 * predict: gfx950: predicted / before = 1.05 to 1.45
 */
#include "../gemm/step.h"
#include "hip/device/wait.h"

enum { TILE = 16, DEPTH = 64, PITCH = DEPTH + 4 }; /* 4 rows that are read at once begin at different banks */

KERNEL WORKGROUP(256, 6) void gemm_step(gemm_step_args g) {
  SHARED static float lds_a[TILE * PITCH], lds_b[DEPTH * TILE];
  LDS float *a = (LDS float *)lds_a, *b = (LDS float *)lds_b;
  int y = thread_index() / TILE, x = thread_index() % TILE;
  uint32_t tile = workgroup_index();
  int64_t row = (int64_t)(tile / g.tiles_n) * TILE + y, column = (int64_t)(tile % g.tiles_n) * TILE + x;

  for (int k0 = 0; k0 < DEPTH; k0 += TILE) {
    a[y * PITCH + k0 + x] = row < g.m && k0 + x < g.k ? ((const float *)g.a)[row * g.lda + k0 + x] : 0;
    b[(k0 + y) * TILE + x] = column < g.n && k0 + y < g.k ? ((const float *)g.b)[(k0 + y) * g.ldb + column] : 0;
  }
  sync_lds(); /* the panel is complete */
  float sum = 0;
  for (int k = 0; k < DEPTH; k++) sum += a[y * PITCH + k] * b[k * TILE + x];
  if (row < g.m && column < g.n) ((float *)g.c)[row * g.ldc + column] = sum;
}
