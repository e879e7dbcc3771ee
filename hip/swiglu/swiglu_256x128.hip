/* swiglu: the pipeline of gemm (engine/pipeline.h). B0 is the gate's weight and B1 the other one, so x is read once for
 * both, and a wave has gate and up of the same 64 x 32 elements in its registers. */
#include "hip/engine/pipeline.h"
#include "store.h"

DEVICE void compute(const swiglu_args *p, bool along_k, tdm_type type) {
  SHARED static char memory[PIPE_BYTES] __attribute__((aligned(PIPE_BYTES)));
  LDS char *lds = (LDS char *)memory;
  tdm_tile at = tdm_order_tile(p->order, (uint32_t)__builtin_amdgcn_workgroup_id_x());
  int64_t m0 = (int64_t)at.m * 2 * HALF_LINES, n0 = (int64_t)at.n * HALF_LINES;
  const form of_x = form_of_a<16>(true, type), of_weight = form_of_b<16>(along_k, type, 1);
  pipeline pipe = {make_lines(p->x, p->m, p->ldx, m0, p->k, of_x),
                   make_lines(p->x, p->m, p->ldx, m0 + HALF_LINES, p->k, of_x),
                   make_lines(p->wg, p->n, p->ldg, n0, p->k, of_weight),
                   make_lines(p->wu, p->n, p->ldu, n0, p->k, of_weight),
                   p->k,
                   of_x,
                   of_weight};
  quarter<16> sums[4];
  run_pipeline<16>(sums, &pipe, lds);
  const swiglu_args end = args_again(p);

  LDS f32x4 *block = (LDS f32x4 *)lds + wave_index() * PASS_ROWS * BLOCK_CHUNKS;
  /* Unrolled: around a loop clang 22 keeps gfx942's sums in scratch. */
#pragma unroll
  for (int pass = 0; pass < PASSES; pass++) {
    int row = put_pass<16>(block, sums, &pipe, pass);
    block_store_gated(&end, block, PASS_ROWS, m0 + row, n0 + pipe_wave_n());
  }
}
KERNEL WORKGROUP(512, 2) void swiglu_256x128_nt_f16(swiglu_args p) { compute(&p, true, TDM_F16); }
KERNEL WORKGROUP(512, 2) void swiglu_256x128_nt_bf16(swiglu_args p) { compute(&p, true, TDM_BF16); }
KERNEL WORKGROUP(512, 2) void swiglu_256x128_nt_f32(swiglu_args p) { compute(&p, true, TDM_F32); }
KERNEL WORKGROUP(512, 2) void swiglu_256x128_nn_f16(swiglu_args p) { compute(&p, false, TDM_F16); }
KERNEL WORKGROUP(512, 2) void swiglu_256x128_nn_bf16(swiglu_args p) { compute(&p, false, TDM_BF16); }
KERNEL WORKGROUP(512, 2) void swiglu_256x128_nn_f32(swiglu_args p) { compute(&p, false, TDM_F32); }
