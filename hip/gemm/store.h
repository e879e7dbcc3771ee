/* The end of a tile: from the wave's block of LDS (hip/engine/store.h) through the epilogue to C. */
#ifndef TANDEM_HIP_GEMM_STORE_H
#define TANDEM_HIP_GEMM_STORE_H

#include "direct.h"
#include "epilogue.h"
#include "hip/device/call.h"
#include "shifted.h"

/* What is added of C or of the residual: whole fours, or `shifted`, elements. */
template <int COUNT, int BYTES>
DEVICE void load_added(four_words<BYTES> *words, const lane_fours *f, bool shifted, int row, int step, int64_t rows,
                       int64_t columns) {
  if constexpr (BYTES == 2)
    if (shifted) return load_elements<COUNT>(words, f, row, step, rows, columns);
  load_fours<COUNT, BYTES>(words, f, row, step);
}

/* Rows with an epilogue, in whole fours of BYTES an element: AT_ONCE fours of a lane at a time. A step is read and branched to
 * once for all of them. What is added of C or of the residual is on its way while the sums are read from LDS.
 * shifted: rows of any address, and parts of fours; results go back to their place in the block. */
template <int COLUMNS, store_kind KIND, int AT_ONCE, int BYTES>
DEVICE void block_store_near(const gemm_args *g, constant_step *steps, bool shifted, LDS f32x4 *block, int rows, int64_t matrix,
                             int64_t m0, int64_t n0, int gap, tdm_type type) {
  enum { STEP = WAVE / (COLUMNS / 4) };
  const tdm_type out = (tdm_type)g->out;
  block_lane at = lane_of_block<COLUMNS>(gap);
  int64_t column = n0 + at.column, left = g->m - m0;
  lane_fours c = make_fours((const char *)g->c + matrix * g->stride_c * BYTES, g->ldc, g, m0, column, BYTES);
  lane_fours r = make_fours((const char *)g->residual + matrix * g->stride_r * BYTES, g->ldr, g, m0, column, BYTES);
  const bool residual = g->residual != NULL, reads_c = g->beta != 0;
  /* In vector registers: for products of pairs clang would copy a scalar to two for each of them. */
  const float alpha = in_order(g->alpha), beta = in_order(g->beta);
  const f32x4 bias = bias_of(g, column, type);
#pragma unroll 1
  for (int first = 0; first < rows; first += AT_ONCE * STEP) {
    const int row = first + at.row;
    four_words<BYTES> words[AT_ONCE];
    f32x4 x[AT_ONCE];
    if (residual || reads_c) load_added<AT_ONCE, BYTES>(words, reads_c ? &c : &r, shifted, row, STEP, left, g->n - column);
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) x[i] = alpha * block_four<COLUMNS>(block, at, first + i * STEP);
    if (reads_c) {
      add_fours<AT_ONCE, BYTES>(x, words, beta, out);
      if (residual) load_added<AT_ONCE, BYTES>(words, &r, shifted, row, STEP, left, g->n - column);
    }
#pragma unroll 1
    for (int s = 0; s < (int)g->step_count; s++) {
      tdm_epilogue_op op = steps[s].op;
      if (op == TDM_BIAS)
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) x[i] += bias;
      else if (op == TDM_RESIDUAL)
        add_fours<AT_ONCE, BYTES>(x, words, 1, out);
      else
        map_fours<AT_ONCE, BYTES == 2>(x, op, steps[s].value);
    }
    if (shifted)
#pragma unroll
      for (int i = 0; i < AT_ONCE; i++) block[block_place_at<COLUMNS>(at.place, (uint32_t)(first + i * STEP), 0)] = x[i];
    else
      store_fours<AT_ONCE, BYTES, KIND>(&c, row, STEP, x, out);
  }
}

/* The same for any type and address, one four at a time, with exact functions. */
template <int COLUMNS, store_kind KIND>
DEVICE void block_store_any(const gemm_args *g, constant_step *steps, LDS const f32x4 *block, int rows, int64_t matrix,
                            int64_t m0, int64_t n0, int gap, tdm_type type) {
  block_lane at = lane_of_block<COLUMNS>(gap);
  const f32x4 bias = bias_of(g, n0 + at.column, type);
#pragma unroll 1
  for (int row = 0; row < rows; row += WAVE / (COLUMNS / 4)) {
    const int64_t m = m0 + at.row + row, n = n0 + at.column;
    epilogue_four(g, steps, matrix, m, n, block_four<COLUMNS>(block, at, row), bias, (tdm_type)g->out, KIND);
  }
}

/* With an epilogue, or element by element: `rows` rows of the block, from (m0, n0) of C on. It is most of the code of a kernel
 * and the same for all layouts and types, so it is called, and an object has it once: inlined, it took two thirds of the
 * compiler's time.
 *
 * args: a kernel's argument, of which it makes a copy: C may be anywhere, so through a pointer each field would be loaded again
 * after each store. Kernels with few registers left work on fewer fours AT_ONCE. */
template <int COLUMNS, store_kind KIND, int AT_ONCE, int WIDE_AT_ONCE>
CALLED void block_store_chain(constant_args *args, bool shifted, LDS f32x4 *block, int rows, int64_t matrix, int64_t m0,
                              int64_t n0, int gap) {
  CALL_BEGIN();
  args = uniform(args);
  /* All at once: one after another, each waits. */
  asm volatile("" ::"s"(args->bias), "s"(args->residual), "s"(args->c), "s"(args->m), "s"(args->n), "s"(args->ldc),
               "s"(args->ldr), "s"(args->step_count), "s"(args->beta), "s"(args->out), "s"(args->end));
  const gemm_args g = *args;
  constant_step *steps = chain_of(args, &g);
  block = uniform(block), rows = uniform(rows), matrix = uniform(matrix), m0 = uniform(m0), n0 = uniform(n0);
  gap = uniform(gap);
  shifted = uniform((int)shifted) != 0;
  const tdm_type out = (tdm_type)g.out, type = (tdm_type)g.type;
  const bool whole = g.end >= GEMM_NEAR && g.dwords && n0 + COLUMNS + gap <= g.n;
  if (shifted || (whole && out != TDM_F32))
    block_store_near<COLUMNS, KIND, AT_ONCE, 2>(&g, steps, shifted, block, rows, matrix, m0, n0, gap, type);
  else if (whole)
    block_store_near<COLUMNS, KIND, WIDE_AT_ONCE, 4>(&g, steps, false, block, rows, matrix, m0, n0, gap, type);
  else
    block_store_any<COLUMNS, KIND>(&g, steps, block, rows, matrix, m0, n0, gap, type);
  CALL_END();
}

/* Stores 16-bit results that begin or end between dwords, and with a chain any block that n cuts. They are kept in the L2,
 * whatever the kernel's kind: two waves write to the line in which their rows meet. */
template <int COLUMNS, int AT_ONCE>
CALLED void block_store_shifted(constant_args *args, LDS const f32x4 *block, int rows, int64_t matrix, int64_t m0, int64_t n0,
                                int gap) {
  CALL_BEGIN();
  args = uniform(args), block = uniform(block), rows = uniform(rows), matrix = uniform(matrix), m0 = uniform(m0);
  n0 = uniform(n0), gap = uniform(gap);
  const int64_t columns = args->n - n0;
  const tdm_type out = (tdm_type)args->out;
  const shifted_rows r = make_shifted_rows(args, matrix, m0, n0);
  if (out == TDM_F16)
    store_shifted<COLUMNS, AT_ONCE>(&r, block, rows, columns, gap, TDM_F16);
  else
    store_shifted<COLUMNS, AT_ONCE>(&r, block, rows, columns, gap, TDM_BF16);
  CALL_END();
}

/* Any end but GEMM_DIRECT: ROWS rows of the block, from (m0, n0) of C on. end: of the argument. */
template <int ROWS, int COLUMNS, store_kind KIND, int MOST_AT_ONCE>
DEVICE void store_by_calls(constant_args *args, int end, LDS f32x4 *block, int64_t matrix, int64_t m0, int64_t n0, int gap) {
  enum { ALL = ROWS * (COLUMNS / 4) / WAVE, AT_ONCE = ALL < MOST_AT_ONCE ? ALL : MOST_AT_ONCE };
  enum { WIDE = ALL < 2 ? ALL : 2, SHIFTED = ALL < 4 ? ALL : 4 };
  /* All at once: one after another, each waits. */
  asm volatile("" ::"s"(args->dwords), "s"(args->n), "s"(args->out), "s"(args->alpha), "s"(args->beta), "s"(args->step_count));
  const bool whole = args->dwords && n0 + COLUMNS + gap <= args->n;
  const bool shifted = end >= GEMM_NEAR && !whole && args->out != TDM_F32;
  if (!shifted || args->alpha != 1 || args->beta != 0 || args->step_count > 0)
    block_store_chain<COLUMNS, KIND, AT_ONCE, WIDE>(args, shifted, block, ROWS, matrix, m0, n0, gap);
  if (shifted) block_store_shifted<COLUMNS, SHIFTED>(args, block, ROWS, matrix, m0, n0, gap);
}

/* ROWS rows of the block, from (m0, n0) of C on, for kernels that have prepared nothing. */
template <int ROWS, int COLUMNS = BLOCK_COLUMNS, store_kind KIND = KEPT, int MOST_AT_ONCE = 8>
DEVICE void block_store(LDS f32x4 *block, int64_t matrix, int64_t m0, int64_t n0, int gap) {
  constant_args *args = end_args();
  const int end = args->end;
  if (end != GEMM_DIRECT) return store_by_calls<ROWS, COLUMNS, KIND, MOST_AT_ONCE>(args, end, block, matrix, m0, n0, gap);
  const direct_end prepared = prepare_direct(end_fields_of(args), (uint32_t)matrix, (int)m0, (int)n0);
  store_direct<ROWS, COLUMNS, KIND>(&prepared, block, 0, gap);
}

#endif
