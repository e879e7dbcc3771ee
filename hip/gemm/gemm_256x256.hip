/* gemm: 256 x 256 of C a workgroup, 8 waves in two groups (pipeline.h). Rows of A and B are
 * read in dwords: they begin at even elements of f16 and bf16, and are of even length. */
#include "pipeline.h"

DEVICE void compute(const gemm_args *g, bool a_along_k, bool b_along_k, tdm_type type) {
  SHARED static char room[PIPE_BYTES] __attribute__((aligned(PIPE_BYTES)));
  LDS char *lds = (LDS char *)room;
  const int bytes = type_bytes(type);
  tdm_tile at = tdm_order_tile(g->order, (uint32_t)__builtin_amdgcn_workgroup_id_x());
  int64_t m0 = (int64_t)at.m * 2 * HALF_LINES, n0 = (int64_t)at.n * 2 * HALF_LINES;
  const char *a = (const char *)g->a + at.matrix * g->stride_a * bytes,
             *b = (const char *)g->b + at.matrix * g->stride_b * bytes;
  pipeline p = {make_half(a, g->m, g->k, g->lda, m0, a_along_k, type),
                make_half(a, g->m, g->k, g->lda, m0 + HALF_LINES, a_along_k, type),
                make_half(b, g->n, g->k, g->ldb, n0, b_along_k, type),
                make_half(b, g->n, g->k, g->ldb, n0 + HALF_LINES, b_along_k, type),
                g->k,
                a_along_k,
                b_along_k};
  quarter sums[4] = {};
  run_pipeline(sums, &p, lds, type);

  LDS f32x4 *block = (LDS f32x4 *)lds + wave_index() * PASS_ROWS * BLOCK_CHUNKS;
#pragma unroll 1
  for (int pass = 0; pass < PASSES; pass++) {
    int row = put_pass(block, sums, pass);
    block_store(g, block, PASS_ROWS, at.matrix, m0 + row, n0 + pipe_wave_n(), HALF_LINES - 32, type, KEPT);
  }
}

/* 256 registers a lane, 128 of them sums: two waves a SIMD, one of each group. */
KERNEL WORKGROUP(512, 2) void gemm_256x256_nt_f16(gemm_args g) { compute(&g, true, true, TDM_F16); }
KERNEL WORKGROUP(512, 2) void gemm_256x256_nt_bf16(gemm_args g) { compute(&g, true, true, TDM_BF16); }
KERNEL WORKGROUP(512, 2) void gemm_256x256_nt_f32(gemm_args g) { compute(&g, true, true, TDM_F32); }

#if defined(__gfx950__) /* LDS transposes on the way to registers */
KERNEL WORKGROUP(512, 2) void gemm_256x256_nn_f16(gemm_args g) { compute(&g, true, false, TDM_F16); }
KERNEL WORKGROUP(512, 2) void gemm_256x256_tn_f16(gemm_args g) { compute(&g, false, false, TDM_F16); }
KERNEL WORKGROUP(512, 2) void gemm_256x256_tt_f16(gemm_args g) { compute(&g, false, true, TDM_F16); }
KERNEL WORKGROUP(512, 2) void gemm_256x256_nn_bf16(gemm_args g) { compute(&g, true, false, TDM_BF16); }
KERNEL WORKGROUP(512, 2) void gemm_256x256_tn_bf16(gemm_args g) { compute(&g, false, false, TDM_BF16); }
KERNEL WORKGROUP(512, 2) void gemm_256x256_tt_bf16(gemm_args g) { compute(&g, false, true, TDM_BF16); }
#endif
