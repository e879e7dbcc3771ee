/* gemm for few rows of C, layout nt: B is most of the traffic, and each of its bytes is needed once. So it goes straight
 * from memory to the registers of the wave that multiplies it, without LDS and barriers.
 *
 * A workgroup has 16 columns of C, and ROWS fragments of 16 rows. Its waves divide K. Lane 16 g + i loads chunk g of line
 * i, which is what the matrix instruction wants. Lines outside of a matrix are its last line: their results are not stored.
 * At the end the waves' sums go through LDS, and are added in the order of the waves. */
#include "hip/engine/masked.h"
#include "k_split.h"
#include "rows_shape.h"
#include "store.h"

enum { UNIT_FRAGMENTS = GEMM_UNIT / 64 /* of a line's 128 bytes, each 4 chunks */ };

/* A lane's line of an operand. */
typedef struct line {
  const char *base;
  int64_t first; /* element at which the line begins */
  int chunk;     /* the lane's chunk of a fragment */
  bool aligned;
} line;

DEVICE line make_line(const char *base, int64_t number, int64_t count, int64_t ld, bool aligned) {
  return (line){base, (number < count ? number : count - 1) * ld, lane_index() / 16, aligned};
}

/* The lane's chunk of fragment `f` from element k of the line on, of which `depth` are left. */
DEVICE u32x4 load_masked(const line *x, int64_t k, int f, int64_t depth, tdm_type type) {
  int64_t from = k + (f * 4 + x->chunk) * chunk_elements(type);
  return load_run(x->base, x->first + from, depth - from, x->aligned, type);
}

template <int ROWS, int UNITS>
DEVICE void multiply_units(f32x4 *sums, const line *a, const line *b, int64_t k, tdm_type type) {
  const int bytes = tdm_bytes(type);
  u32x4 of_b[UNITS * UNIT_FRAGMENTS], of_a[UNITS * UNIT_FRAGMENTS][ROWS];
#pragma unroll
  for (int f = 0; f < UNITS * UNIT_FRAGMENTS; f++)
    of_b[f] = *(const u32x4 *)(b->base + (b->first + k) * bytes + (f * 4 + b->chunk) * CHUNK_BYTES);
#pragma unroll
  for (int f = 0; f < UNITS * UNIT_FRAGMENTS; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      of_a[f][r] = *(const u32x4 *)(a[r].base + (a[r].first + k) * bytes + (f * 4 + a[r].chunk) * CHUNK_BYTES);
  keep_order(); /* all loads are on their way */
#pragma unroll
  for (int f = 0; f < UNITS * UNIT_FRAGMENTS; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) sums[r] = mfma(of_b[f], of_a[f][r], sums[r], type);
}

/* One unit at any address, or the part of it that is left. */
template <int ROWS>
DEVICE void multiply_masked(f32x4 *sums, const line *a, const line *b, int64_t k, int64_t depth, tdm_type type) {
  u32x4 of_b[UNIT_FRAGMENTS], of_a[UNIT_FRAGMENTS][ROWS];
#pragma unroll
  for (int f = 0; f < UNIT_FRAGMENTS; f++) of_b[f] = load_masked(b, k, f, depth, type);
#pragma unroll
  for (int f = 0; f < UNIT_FRAGMENTS; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) of_a[f][r] = load_masked(a + r, k, f, depth, type);
#pragma unroll
  for (int f = 0; f < UNIT_FRAGMENTS; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) sums[r] = mfma(of_b[f], of_a[f][r], sums[r], type);
}

template <int ROWS>
DEVICE void compute(const gemm_args *g, tdm_type type) {
  enum { AT_ONCE = ROWS == 4 ? 2 : 4 }; /* units whose loads are on their way */
  SHARED static char memory[GEMM_ROWS_WAVES * ROWS * WAVE * 16] __attribute__((aligned(16)));
  LDS f32x4 *all = (LDS f32x4 *)(LDS char *)memory;
  const int values = GEMM_UNIT / tdm_bytes(type), wave = wave_index(), lane = lane_index();
  tdm_tile at = tdm_order_tile(g->order, (uint32_t)__builtin_amdgcn_workgroup_id_x());
  int64_t m0 = (int64_t)at.m * 16 * ROWS, n0 = (int64_t)at.n * 16;
  gemm_part part = part_of(g, at.matrix, type);
  line b = make_line(part.b, n0 + lane % 16, g->n, g->ldb, g->aligned_b != 0), a[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) a[r] = make_line(part.a, m0 + 16 * r + lane % 16, g->m, g->lda, g->aligned_a != 0);

  f32x4 sums[ROWS] = {};
  int64_t units = part.depth / values, unit = units * wave / GEMM_ROWS_WAVES, end = units * (wave + 1) / GEMM_ROWS_WAVES;
  if (g->aligned_a && g->aligned_b) {
#pragma unroll 1
    for (; unit + AT_ONCE <= end; unit += AT_ONCE) multiply_units<ROWS, AT_ONCE>(sums, a, &b, unit * values, type);
#pragma unroll 1
    for (; unit < end; unit++) multiply_units<ROWS, 1>(sums, a, &b, unit * values, type);
  }
  int64_t left = wave == GEMM_ROWS_WAVES - 1 ? units + (part.depth % values != 0) : end; /* the last wave also has the tail */
#pragma unroll 1
  for (; unit < left; unit++) multiply_masked<ROWS>(sums, a, &b, unit * values, part.depth, type);

#pragma unroll
  for (int r = 0; r < ROWS; r++) all[(wave * ROWS + r) * WAVE + lane] = sums[r];
  sync_lds(); /* all waves' sums are in LDS */
  const gemm_args last = args_again(g);
  for (int t = thread_index(); t < ROWS * WAVE; t += GEMM_ROWS_WAVES * WAVE) {
    f32x4 x = all[t];
    for (int w = 1; w < GEMM_ROWS_WAVES; w++) x += all[w * ROWS * WAVE + t];
    int64_t row = m0 + t / WAVE * 16 + t % 16, column = n0 + t % WAVE / 16 * 4;
    epilogue_four(&last, at.matrix, row, column, x, bias_of(&last, column, type), (tdm_type)last.out, KEPT);
  }
}

#define ROWS_KERNELS(count)                                                                                            \
  KERNEL WORKGROUP(GEMM_ROWS_WAVES *WAVE, 4) void gemm_rows##count##_f32(gemm_args g) { compute<count>(&g, TDM_F32); } \
  KERNEL WORKGROUP(GEMM_ROWS_WAVES *WAVE, 4) void gemm_rows##count##_f16(gemm_args g) { compute<count>(&g, TDM_F16); } \
  KERNEL WORKGROUP(GEMM_ROWS_WAVES *WAVE, 4) void gemm_rows##count##_bf16(gemm_args g) { compute<count>(&g, TDM_BF16); }
ROWS_KERNELS(1)
ROWS_KERNELS(2)
ROWS_KERNELS(4)
