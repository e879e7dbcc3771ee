/* naive: a work-item computes one element of C, with operands straight from memory.
 *
 * what: neighbouring lanes have neighbouring rows of C, as a loop over rows and columns would deal them.
 * why: it is the shortest kernel that is right, and shows what memory sees of it.
 * limit: none yet. A load of 64 lanes touches 64 lines of 128 bytes of A, for 2 bytes each: the vL1D serves a line a clock.
 * launch: 64x4 of C by 256 work-items, loads of 2 bytes, 8 waves a SIMD
 * predict: floor = vL1D
 * predict: load_lines / loads = 32 to 33
 */
#include "step.h"

KERNEL WORKGROUP(256, 8) void gemm_step(gemm_step_args g) {
  uint32_t tile = workgroup_index();
  int64_t row = (int64_t)(tile / g.tiles_n) * 64 + lane_index();
  int64_t column = (int64_t)(tile % g.tiles_n) * 4 + wave_index();
  if (row >= g.m || column >= g.n) return;

  const __bf16 *a = (const __bf16 *)g.a + row * g.lda, *b = (const __bf16 *)g.b + column * g.ldb;
  float sum = 0;
  for (int64_t k = 0; k < g.k; k++) sum += (float)a[k] * (float)b[k];
  ((__bf16 *)g.c)[row * g.ldc + column] = (__bf16)sum;
}
