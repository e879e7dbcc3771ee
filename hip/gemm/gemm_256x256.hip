/* gemm: 256 x 256 of C per workgroup, 8 waves in two groups (pipeline.h). Rows of A and B are read in dwords: in f16 and
 * bf16 they begin at even elements, and have an even length. */
#include "hip/engine/pipeline.h"
#include "k_split.h"
#include "store.h"

/* Rows of the wave's block, from (m0, n0) of C on, in columns of which `gap` lie between the halves. adds: of GEMM_ADDS,
 * without a function: no registers are left to call map_sixteen. */
template <int AT_ONCE, tdm_type type>
DEVICE void store_pass(bool adds, LDS f32x4 *block, uint32_t matrix, int m0, int n0, int gap) {
  if (!adds) return block_store<PASS_ROWS, BLOCK_COLUMNS, KEPT, AT_ONCE>(block, matrix, m0, n0, gap);
  constant_args *args = end_args();
  enum { MOST = CHIP_LOAD_TO_LDS_BYTES == 4 ? AT_ONCE / 2 : AT_ONCE }; /* as registers allow */
  const direct_end end = prepare_direct(end_fields_of(args), matrix, m0, n0);
  const auto bias = ask_bias<BLOCK_COLUMNS, tdm_bytes(type)>(end.columns, args->bias, n0, gap);
  store_adding<PASS_ROWS, BLOCK_COLUMNS, KEPT, tdm_bytes(type), MOST, false>(&end, bias, block, 0, gap, type);
}

template <int SIDE, tdm_type type>
DEVICE void compute(const gemm_first *f, bool a_along_k, bool b_along_k) {
  enum { TILE_LINES = 2 * HALF_LINES };
  SHARED static char memory[PIPE_BYTES] __attribute__((aligned(PIPE_BYTES)));
  LDS char *lds = (LDS char *)memory;
  const form of_a = form_of_a<SIDE>(a_along_k, type);
  /* If a load can choose its lines, a wave has 64 neighbouring columns of C, which are whole lines of memory in 16 bits. */
  const form of_b = form_of_b<SIDE>(b_along_k, type, b_along_k ? 2 : 1);
  const gemm_work work = find_work(f, whole_argument<gemm_args>(), TILE_LINES, TILE_LINES, a_along_k, b_along_k, type);
  const tile_part at = work.at;
  const gemm_part part = work.part;
  const int m0 = (int)at.m * TILE_LINES, n0 = (int)at.n * TILE_LINES, lda = (int)f->lda, ldb = (int)f->ldb;
  const int other_b = b_along_k ? (int)WAVE_N : (int)HALF_LINES;
  pipeline p = {make_lines_with_tail(part.a, work.left_m, lda, m0, part.depth, of_a),
                make_lines_with_tail(part.a, work.left_m - HALF_LINES, lda, m0 + HALF_LINES, part.depth, of_a),
                make_lines_with_tail(part.b, work.left_n, ldb, n0, part.depth, of_b),
                make_lines_with_tail(part.b, work.left_n - other_b, ldb, n0 + other_b, part.depth, of_b),
                part.depth,
                of_a,
                of_b};
  const auto asked = ask_argument<gemm_args>(); /* for the end */
  quarter<SIDE> sums[4];
  run_pipeline<SIDE>(sums, &p, lds);
  have_argument(&asked);

  LDS f32x4 *block = (LDS f32x4 *)lds + wave_index() * PASS_ROWS * BLOCK_CHUNKS;
  const int of_wave = n0 + pipe_wave_n() * of_b.spread;
  const int gap = b_along_k ? 0 : HALF_LINES - WAVE_N;
  constant_args *args = end_args();
  const bool adds = args->end == GEMM_ADDS && args->map == TDM_BIAS;
#pragma unroll 1
  for (int pass = 0; pass < PASSES; pass++) {
    if (passes_move<SIDE>(of_a)) {
      put_first_pass<SIDE>(block, sums, &p);
      next_pass<SIDE>(sums);
      store_pass<SIDE == 32 ? 4 : 8, type>(adds, block, at.stored, m0 + pass_row(pass), of_wave, gap);
    } else {
      put_pass<SIDE>(block, sums, &p, pass);
      store_pass<4, type>(adds, block, at.stored, m0 + pass_row(pass), of_wave, gap);
    }
  }
}

/* 256 registers per lane, 128 of them sums: two waves on a SIMD, one of each group. */
#define LAYOUT(name, SIDE, a_along_k, b_along_k, TYPE)      \
  KERNEL WORKGROUP(512, 2) void name(ARGUMENT(gemm_args)) { \
    const gemm_first first = FIRST_OF_ARGUMENT(gemm_first); \
    compute<SIDE, TYPE>(&first, a_along_k, b_along_k);      \
  }
#define LAYOUTS(NAME, SIDE, SUFFIX, TYPE)              \
  LAYOUT(NAME##_nn_##SUFFIX, SIDE, true, false, TYPE)  \
  LAYOUT(NAME##_nt_##SUFFIX, SIDE, true, true, TYPE)   \
  LAYOUT(NAME##_tn_##SUFFIX, SIDE, false, false, TYPE) \
  LAYOUT(NAME##_tt_##SUFFIX, SIDE, false, true, TYPE)
LAYOUTS(gemm_256x256, 16, f16, TDM_F16)
LAYOUTS(gemm_256x256, 16, bf16, TDM_BF16)
LAYOUTS(gemm_256x256, 16, f32, TDM_F32)
LAYOUTS(gemm_256x256_mfma32, 32, f16, TDM_F16)
LAYOUTS(gemm_256x256_mfma32, 32, bf16, TDM_BF16)
