/* gemm: 256 x 256 of C per workgroup, 8 waves in two groups (pipeline.h). Rows of A and B are read in dwords: in f16 and
 * bf16 they begin at even elements, and have an even length. */
#include "hip/engine/pipeline.h"
#include "k_split.h"
#include "store.h"

template <int SIDE>
DEVICE void compute(const gemm_args *g, bool a_along_k, bool b_along_k, tdm_type type) {
  SHARED static char memory[PIPE_BYTES] __attribute__((aligned(PIPE_BYTES)));
  LDS char *lds = (LDS char *)memory;
  fetch_args(g);
  const form of_a = form_of_a<SIDE>(a_along_k, type);
  /* If a load can choose its lines, a wave has 64 neighbouring columns of C, which are whole lines of memory in 16 bits. */
  const form of_b = form_of_b<SIDE>(b_along_k, type, b_along_k ? 2 : 1);
  tdm_tile at = tdm_order_tile(g->order, (uint32_t)__builtin_amdgcn_workgroup_id_x());
  int64_t m0 = (int64_t)at.m * 2 * HALF_LINES, n0 = (int64_t)at.n * 2 * HALF_LINES;
  gemm_part part = part_of(g, at.matrix, type);
  pipeline p = {make_lines(part.a, g->m, g->lda, m0, part.depth, of_a),
                make_lines(part.a, g->m, g->lda, m0 + HALF_LINES, part.depth, of_a),
                make_lines(part.b, g->n, g->ldb, n0, part.depth, of_b),
                make_lines(part.b, g->n, g->ldb, n0 + (b_along_k ? WAVE_N : HALF_LINES), part.depth, of_b),
                part.depth,
                of_a,
                of_b};
  quarter<SIDE> sums[4];
  run_pipeline<SIDE>(sums, &p, lds);

  LDS f32x4 *block = (LDS f32x4 *)lds + wave_index() * PASS_ROWS * BLOCK_CHUNKS;
  n0 += pipe_wave_n() * of_b.spread;
  const int gap = b_along_k ? 0 : HALF_LINES - WAVE_N;
#pragma unroll 1
  for (int pass = 0; pass < PASSES; pass++) {
    if (passes_move<SIDE>(of_a)) {
      put_first_pass<SIDE>(block, sums, &p);
      next_pass<SIDE>(sums);
      block_store<PASS_ROWS, BLOCK_COLUMNS, KEPT, SIDE == 32 ? 4 : 8>(block, at.matrix, m0 + pass_row(pass), n0, gap);
    } else {
      put_pass<SIDE>(block, sums, &p, pass);
      block_store<PASS_ROWS, BLOCK_COLUMNS, KEPT, 2>(block, at.matrix, m0 + pass_row(pass), n0, gap);
    }
  }
}

/* 256 registers per lane, 128 of them sums: two waves on a SIMD, one of each group. */
#define LAYOUTS(NAME, SIDE, SUFFIX, TYPE)                                                                  \
  KERNEL WORKGROUP(512, 2) void NAME##_nn_##SUFFIX(gemm_args g) { compute<SIDE>(&g, true, false, TYPE); }  \
  KERNEL WORKGROUP(512, 2) void NAME##_nt_##SUFFIX(gemm_args g) { compute<SIDE>(&g, true, true, TYPE); }   \
  KERNEL WORKGROUP(512, 2) void NAME##_tn_##SUFFIX(gemm_args g) { compute<SIDE>(&g, false, false, TYPE); } \
  KERNEL WORKGROUP(512, 2) void NAME##_tt_##SUFFIX(gemm_args g) { compute<SIDE>(&g, false, true, TYPE); }
LAYOUTS(gemm_256x256, 16, f16, TDM_F16)
LAYOUTS(gemm_256x256, 16, bf16, TDM_BF16)
LAYOUTS(gemm_256x256, 16, f32, TDM_F32)
LAYOUTS(gemm_256x256_mfma32, 32, f16, TDM_F16)
LAYOUTS(gemm_256x256_mfma32, 32, bf16, TDM_BF16)
