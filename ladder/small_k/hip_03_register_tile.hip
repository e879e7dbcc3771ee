/* register tile: 4 x 4 elements of C in each work-item.
 *
 * what: 64 x 64 of C a workgroup. A lies in LDS with a row for each k, as B does, so that four neighbours are one read.
 * why: 2 reads of 16 bytes give 16 products, where 2 reads of 4 bytes gave one; and A and B come from memory a quarter as
 * often, in lines that are used whole.
 * limit: LDS. The floor would become the multiply-adds themselves, but it stays LDS: A is transposed on its way in, and a
 * wave's writes meet one bank. (On gfx950 their conflicts are a lower bound.)
 * launch: 64x64 of C by 256 work-items, k up to 64, 2 waves a SIMD
 * predict: lds_instructions / before = 0.15 to 0.2
 * predict: load_lines / before = 0.12 to 0.13
 * predict: gfx950: floor = LDS
 * predict: gfx942: lds_conflicts / lds_clocks = 0.45 to 0.5
 * predict: gfx950: predicted / before = 0.5 to 0.75
 */
#include "../gemm/step.h"
#include "hip/device/wait.h"

enum { TILE = 64, DEPTH = 64, EACH = 4 };

KERNEL WORKGROUP(256, 2) void gemm_step(gemm_step_args g) {
  SHARED static float lds_a[DEPTH * TILE] __attribute__((aligned(16))), lds_b[DEPTH * TILE] __attribute__((aligned(16)));
  LDS float *a = (LDS float *)lds_a, *b = (LDS float *)lds_b;
  uint32_t tile = workgroup_index();
  int64_t row0 = (int64_t)(tile / g.tiles_n) * TILE, column0 = (int64_t)(tile % g.tiles_n) * TILE;

  for (int i = thread_index(); i < TILE * DEPTH; i += 256) {
    int y = i / TILE, x = i % TILE;
    a[x * TILE + y] = row0 + y < g.m && x < g.k ? ((const float *)g.a)[(row0 + y) * g.lda + x] : 0;
    b[y * TILE + x] = column0 + x < g.n && y < g.k ? ((const float *)g.b)[y * g.ldb + column0 + x] : 0;
  }
  sync_lds(); /* the panel is complete */
  int y = thread_index() / (TILE / EACH) * EACH, x = thread_index() % (TILE / EACH) * EACH;
  f32x4 sums[EACH] = {};
  for (int k = 0; k < DEPTH; k++) {
    f32x4 of_a = *(LDS f32x4 *)(a + k * TILE + y), of_b = *(LDS f32x4 *)(b + k * TILE + x);
    for (int i = 0; i < EACH; i++) sums[i] += of_a[i] * of_b;
  }
  for (int i = 0; i < EACH; i++)
    for (int j = 0; j < EACH; j++)
      if (row0 + y + i < g.m && column0 + x + j < g.n) ((float *)g.c)[(row0 + y + i) * g.ldc + column0 + x + j] = sums[i][j];
}
