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
  static_assert(ROWS <= GEMM_ROWS_WAVES, "a four for each thread");
  const gemm_args last = args_again(g);
  const int t = thread_index();
  const int64_t row = m0 + t / WAVE * 16 + t % 16, column = n0 + t % WAVE / 16 * 4;
  const tdm_type out = (tdm_type)last.out;
  constant_step *steps = chain_of(end_args(), &last);
  added_four added = {};
  u32x4 bias = 0;
  int64_t at_c = 0;
  int count = 0;
  /* What the end needs is there, or on its way, when the last wave comes to the barrier. */
  if (wave < ROWS && last.partial == NULL) {
    bias = ask_bias_at(&last, column, type), added = ask_added(&last, matrix, row, column, out);
    count = in_order(four_of_c(&last, row, column).count), at_c = in_order(place_in_c(&last, matrix, row, column));
  }
  sync_lds(); /* all waves' sums are in LDS */
  if (wave >= ROWS) return;
  f32x4 x = all[t];
  for (int w = 1; w < GEMM_ROWS_WAVES; w++) x += all[w * ROWS * WAVE + t];
  const four_place where = {count, count == 4 && last.aligned_fours != 0};
  if (last.partial == NULL)
    finish_four<true>(&last, steps, where, at_c, matrix, row, column, x, asked_four(bias, type), added, out, KEPT);
  else
    store_partial(&last, matrix, row, column, x);
}

#endif
