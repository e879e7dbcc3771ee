/* gemm, after a K split: adds the partial sums, always in the same order, and does the epilogue. */
#include "epilogue.h"
#include "hip/device/blocks.h"

/* The parts are loaded so many at a time: one after another, each waits for memory. 32 x 576 of 28 parts took 36,994 predicted
 * clocks that way. */
enum { PARTS_AT_ONCE = 8 };

DEVICE void reduce(const gemm_args *g, tdm_type type) {
  const int64_t fours = g->ldp / 4, matrix_fours = g->m * fours;
  for (int64_t i = (int64_t)__builtin_amdgcn_workgroup_id_x() * REDUCE_THREADS + thread_index(); i < g->batch * matrix_fours;
       i += (int64_t)g->reducers * REDUCE_THREADS) {
    int64_t matrix = quotient(i, matrix_fours), within = i - matrix * matrix_fours, row = quotient(within, fours);
    const float *from = g->partial + (matrix * g->parts * g->m + row) * g->ldp + (within - row * fours) * 4;
    f32x4 x = *(const f32x4 *)from;
    for (int p = 1; p < g->parts; p += PARTS_AT_ONCE) {
      f32x4 part[PARTS_AT_ONCE];
#pragma unroll
      for (int n = 0; n < PARTS_AT_ONCE; n++)
        if (p + n < g->parts) part[n] = *(const f32x4 *)(from += g->m * g->ldp);
      keep_order(); /* all loads are on their way */
#pragma unroll
      for (int n = 0; n < PARTS_AT_ONCE; n++)
        if (p + n < g->parts) x += part[n];
    }
    int64_t column = (within - row * fours) * 4;
    finish_four(g, matrix, row, column, x, bias_of(g, column, type), (tdm_type)g->out, KEPT);
  }
}

KERNEL WORKGROUP(REDUCE_THREADS, 8) void gemm_reduce_f32(gemm_args g) { reduce(&g, TDM_F32); }
KERNEL WORKGROUP(REDUCE_THREADS, 8) void gemm_reduce_f16(gemm_args g) { reduce(&g, TDM_F16); }
KERNEL WORKGROUP(REDUCE_THREADS, 8) void gemm_reduce_bf16(gemm_args g) { reduce(&g, TDM_BF16); }
