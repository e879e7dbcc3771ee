/* gemm for few rows of C, layout nt: B is most of the traffic, and each of its bytes is needed once. So it goes straight
 * from memory to the registers of the wave that multiplies it, without LDS and barriers.
 *
 * A workgroup has 16 columns of C, and ROWS fragments of 16 rows. Its waves divide K. Lane 16 g + i loads chunk g of line
 * i, which is what the matrix instruction wants. Lines outside of a matrix are its last line: their results are not stored.
 * At the end the waves' sums go through LDS, and are added in the order of the waves. */
#include "k_split.h"
#include "line_loads.h"
#include "wave_sums.h"

template <int ROWS, int UNITS, begins AT>
DEVICE void multiply_units(f32x4 *sums, const line *a, const line *b, int64_t k, tdm_type type) {
  u32x4 of_b[UNITS * UNIT_FRAGMENTS], of_a[UNITS * UNIT_FRAGMENTS][ROWS];
#pragma unroll
  for (int f = 0; f < UNITS * UNIT_FRAGMENTS; f++) of_b[f] = load_chunk<AT>(b, k, f, type);
#pragma unroll
  for (int f = 0; f < UNITS * UNIT_FRAGMENTS; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) of_a[f][r] = load_chunk<AT>(a + r, k, f, type);
  keep_order(); /* all loads are on their way */
#pragma unroll
  for (int f = 0; f < UNITS * UNIT_FRAGMENTS; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) sums[r] = mfma(of_b[f], of_a[f][r], sums[r], type);
}

/* Units of lines that may begin between dwords. FIRST: those at the beginning of the arrays. */
template <int ROWS, int UNITS, bool FIRST>
DEVICE void multiply_shifted(f32x4 *sums, const line *a, const line *b, int64_t k, const void *array_a, const void *array_b,
                             tdm_type type) {
  enum { COUNT = UNITS * UNIT_FRAGMENTS };
  dwords<COUNT> of_b = load_dwords<COUNT, FIRST>(b, k, array_b), of_a[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) of_a[r] = load_dwords<COUNT, FIRST>(a + r, k, array_a);
  keep_order(); /* all loads are on their way */
  if constexpr (FIRST) {
    put_head(&of_b);
    put_head(of_a); /* row 0 is in the first fragment */
  }
#pragma unroll
  for (int f = 0; f < COUNT; f++) {
    const u32x4 y = chunk_of(&of_b, f);
#pragma unroll
    for (int r = 0; r < ROWS; r++) sums[r] = mfma(y, chunk_of(of_a + r, f), sums[r], type);
  }
}

/* The part of a unit that is left. chunks: it is whole chunks that begin at dwords. */
template <int ROWS>
DEVICE void multiply_rest(f32x4 *sums, const line *a, const line *b, int64_t k, int64_t depth, bool chunks, tdm_type type) {
  const int values = chunk_elements(type);
#pragma unroll
  for (int f = 0; f < UNIT_FRAGMENTS; f++) {
    if (k + f * 4 * values >= depth) return; /* nothing is left */
    u32x4 y, x[ROWS];
    if (chunks) {
      const int64_t left = (depth - k) / values - f * 4, here = b->chunk < left ? b->chunk : left - 1;
      const int64_t at = k + (here - b->chunk) * values;
      y = load_chunk<DWORDS>(b, at, f, type);
#pragma unroll
      for (int r = 0; r < ROWS; r++) x[r] = load_chunk<DWORDS>(a + r, at, f, type);
      keep_order(); /* all loads are on their way */
      if (b->chunk >= left) y = 0;
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        if (b->chunk >= left) x[r] = 0; /* of what is not a number, 0 times it is not 0 */
    } else {
      elements of_b = load_elements(b, k, f, depth, type), of_a[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) of_a[r] = load_elements(a + r, k, f, depth, type);
      keep_order(); /* all loads are on their way */
      y = cut_elements(&of_b, b, k, f, depth, type);
#pragma unroll
      for (int r = 0; r < ROWS; r++) x[r] = cut_elements(of_a + r, a + r, k, f, depth, type);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) sums[r] = mfma(y, x[r], sums[r], type);
  }
}

template <int ROWS>
DEVICE void make_lines(line *a, line *b, const gemm_lines *of, const gemm_part *part, int64_t m0, int64_t n0) {
  const int lane = lane_index();
  *b = make_line(part->b, n0 + lane % 16, of->n, of->ldb);
#pragma unroll
  for (int r = 0; r < ROWS; r++) a[r] = make_line(part->a, m0 + 16 * r + lane % 16, of->m, of->lda);
}

template <int ROWS, begins AT>
DEVICE void compute(const gemm_first *f, tdm_type type) {
  const gemm_args *g = whole_argument<gemm_args>();
  enum { AT_ONCE = AT != CHUNKS ? 4 / ROWS : ROWS == 4 ? 2 : 4 }; /* units whose loads are on their way, as registers allow */
  const int values = GEMM_UNIT / tdm_bytes(type), wave = wave_index();
  const gemm_work work = find_work(f, g, 16 * ROWS, 16, true, true, type);
  const tile_part at = work.at;
  const gemm_part part = work.part;
  int64_t m0 = (int64_t)at.m * 16 * ROWS, n0 = (int64_t)at.n * 16;
  line b, a[ROWS];
  const gemm_lines of = lines_of_work(f, g, &work, 16 * ROWS, 16);
  make_lines<ROWS>(a, &b, &of, &part, m0, n0);
  /* For the end. Not for rows of whole chunks: 128x128x128 bf16 took 60 predicted clocks more. */
  asked_argument<gemm_args> asked;
  if (AT != CHUNKS) asked = ask_argument<gemm_args>();

  f32x4 sums[ROWS] = {};
  int64_t units = part.depth / values, unit = units * wave / GEMM_ROWS_WAVES, end = units * (wave + 1) / GEMM_ROWS_WAVES;
  if constexpr (AT != CHUNKS) unit = uniform(unit), end = uniform(end);
  if constexpr (AT == ODD) {
    /* Where an array begins between dwords, the first unit of its first line is loaded with care. */
    if (unit == 0 && end > 0 && (m0 == 0 || n0 == 0) && (((uintptr_t)f->a | (uintptr_t)f->b) & 2) != 0)
      multiply_shifted<ROWS, 1, true>(sums, a, &b, unit++ * values, f->a, f->b, type);
#pragma unroll 1
    for (; unit + AT_ONCE <= end; unit += AT_ONCE)
      multiply_shifted<ROWS, AT_ONCE, false>(sums, a, &b, unit * values, nullptr, nullptr, type);
  } else {
#pragma unroll 1
    for (; unit + AT_ONCE <= end; unit += AT_ONCE) multiply_units<ROWS, AT_ONCE, AT>(sums, a, &b, unit * values, type);
  }
  if constexpr (AT == CHUNKS) {
#pragma unroll 1
    for (; unit < end; unit++) multiply_units<ROWS, 1, AT>(sums, a, &b, unit * values, type);
  } else {
    const int64_t left =
        wave == GEMM_ROWS_WAVES - 1 ? units + (part.depth % values != 0) : end; /* the last wave has the tail */
    if (unit < left) {
      const gemm_args again = args_again(g); /* the loop above needs the registers */
      const gemm_lines of_again = {again.m, again.n, again.lda, again.ldb};
      make_lines<ROWS>(a, &b, &of_again, &part, m0, n0);
#pragma unroll 1
      for (; AT_ONCE > 1 && unit < end; unit++)
        if constexpr (AT == ODD)
          multiply_shifted<ROWS, 1, false>(sums, a, &b, unit * values, nullptr, nullptr, type);
        else
          multiply_units<ROWS, 1, AT>(sums, a, &b, unit * values, type);
      const bool chunks = AT == DWORDS && part.depth % chunk_elements(type) == 0;
      if (unit < left) multiply_rest<ROWS>(sums, a, &b, unit * values, part.depth, chunks, type);
    }
  }

  if (AT != CHUNKS) have_argument(&asked);
  store_wave_sums<ROWS>(g, at.stored, m0, n0, sums, type);
}

#define ROWS_KERNEL(name, ROWS, AT, TYPE)                                     \
  KERNEL WORKGROUP(GEMM_ROWS_WAVES *WAVE, 4) void name(ARGUMENT(gemm_args)) { \
    const gemm_first first = FIRST_OF_ARGUMENT(gemm_first);                   \
    compute<ROWS, AT>(&first, TYPE);                                          \
  }
#define ROWS_KERNELS(count)                                            \
  ROWS_KERNEL(gemm_rows##count##_f32, count, CHUNKS, TDM_F32)          \
  ROWS_KERNEL(gemm_rows##count##_f16, count, CHUNKS, TDM_F16)          \
  ROWS_KERNEL(gemm_rows##count##_bf16, count, CHUNKS, TDM_BF16)        \
  ROWS_KERNEL(gemm_rows##count##_dwords_f32, count, DWORDS, TDM_F32)   \
  ROWS_KERNEL(gemm_rows##count##_dwords_f16, count, DWORDS, TDM_F16)   \
  ROWS_KERNEL(gemm_rows##count##_dwords_bf16, count, DWORDS, TDM_BF16) \
  ROWS_KERNEL(gemm_rows##count##_odd_f16, count, ODD, TDM_F16)         \
  ROWS_KERNEL(gemm_rows##count##_odd_bf16, count, ODD, TDM_BF16)
ROWS_KERNELS(1)
ROWS_KERNELS(2)
ROWS_KERNELS(4)
