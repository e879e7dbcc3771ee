/* swiglu: the pipeline of gemm (engine/pipeline.h). B0 is the gate's weight and B1 the other one, so x is read once for
 * both, and a wave has gate and up of the same 64 x 32 elements in its registers. */
#include "find.h"
#include "hip/engine/pipeline.h"
#include "store.h"

DEVICE void compute(const swiglu_first *f, bool along_k, tdm_type type) {
  SHARED static char memory[PIPE_BYTES] __attribute__((aligned(PIPE_BYTES)));
  LDS char *lds = (LDS char *)memory;
  const swiglu_args *p = whole_argument<swiglu_args>();
  const swiglu_work w = find_work(f, p, 2 * HALF_LINES, HALF_LINES, along_k, false, type);
  const int m0 = (int)w.at.m * 2 * HALF_LINES, n0 = (int)w.at.n * HALF_LINES;
  const form of_x = form_of_a<16>(true, type), of_weight = form_of_b<16>(along_k, type, 1);
  pipeline pipe = {make_lines_with_tail(w.x, w.left_m, w.ldx, m0, w.depth, of_x),
                   make_lines_with_tail(w.x, w.left_m - HALF_LINES, w.ldx, m0 + HALF_LINES, w.depth, of_x),
                   make_lines_with_tail(w.wg, w.left_n, w.ldg, n0, w.depth, of_weight),
                   make_lines_with_tail(w.wu, w.left_n, w.ldu, n0, w.depth, of_weight),
                   w.depth,
                   of_x,
                   of_weight};
  const auto asked = ask_argument<swiglu_args>(); /* for the end */
  quarter<16> sums[4];
  run_pipeline<16>(sums, &pipe, lds);
  have_argument(&asked);
  const swiglu_args end = args_again(p);

  LDS f32x4 *block = (LDS f32x4 *)lds + wave_index() * PASS_ROWS * BLOCK_CHUNKS;
  /* Unrolled: around a loop clang 22 keeps gfx942's sums in scratch. */
#pragma unroll
  for (int pass = 0; pass < PASSES; pass++) {
    int row = put_pass<16>(block, sums, &pipe, pass);
    block_store_gated(&end, block, PASS_ROWS, m0 + row, n0 + pipe_wave_n());
  }
}
#define PIPE_KERNEL(name, along_k, type)                        \
  KERNEL WORKGROUP(512, 2) void name(ARGUMENT(swiglu_args)) {   \
    const swiglu_first first = FIRST_OF_ARGUMENT(swiglu_first); \
    compute(&first, along_k, type);                             \
  }
PIPE_KERNEL(swiglu_256x128_nt_f16, true, TDM_F16)
PIPE_KERNEL(swiglu_256x128_nt_bf16, true, TDM_BF16)
PIPE_KERNEL(swiglu_256x128_nt_f32, true, TDM_F32)
PIPE_KERNEL(swiglu_256x128_nn_f16, false, TDM_F16)
PIPE_KERNEL(swiglu_256x128_nn_bf16, false, TDM_BF16)
PIPE_KERNEL(swiglu_256x128_nn_f32, false, TDM_F32)
