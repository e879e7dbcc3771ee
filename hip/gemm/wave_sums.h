/* The end of kernels whose waves divide K (gemm_rows.hip, gemm_elements.hip): the waves' sums go through LDS, and are added in
 * the order of the waves. */
#ifndef TANDEM_HIP_GEMM_WAVE_SUMS_H
#define TANDEM_HIP_GEMM_WAVE_SUMS_H

#include "hip/device/wait.h"
#include "rows_shape.h"
#include "store.h"

/* Of a workgroup's ROWS fragments of 16 rows and 16 columns, from row m0 and column n0 on. */
template <int ROWS>
DEVICE void store_wave_sums(const gemm_args *g, int64_t matrix, int64_t m0, int64_t n0, const f32x4 *sums, tdm_type type) {
  SHARED static char memory[GEMM_ROWS_WAVES * ROWS * WAVE * 16] __attribute__((aligned(16)));
  LDS f32x4 *all = (LDS f32x4 *)(LDS char *)memory;
  const int wave = wave_index(), lane = lane_index();
#pragma unroll
  for (int r = 0; r < ROWS; r++) all[(wave * ROWS + r) * WAVE + lane] = sums[r];
  sync_lds(); /* all waves' sums are in LDS */
  const gemm_args last = args_again(g);
  for (int t = thread_index(); t < ROWS * WAVE; t += GEMM_ROWS_WAVES * WAVE) {
    f32x4 x = all[t];
    for (int w = 1; w < GEMM_ROWS_WAVES; w++) x += all[w * ROWS * WAVE + t];
    int64_t row = m0 + t / WAVE * 16 + t % 16, column = n0 + t % WAVE / 16 * 4;
    epilogue_four(&last, matrix, row, column, x, bias_of(&last, column, type), (tdm_type)last.out, KEPT);
  }
}

#endif
