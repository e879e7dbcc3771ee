/* The end of a tile whose sums have only to be multiplied by alpha, to get bias, one function and residual, and to be rounded,
 * in whole fours that begin at dwords: most products of a transformer. What else an epilogue may be is in store.h. */
#ifndef TANDEM_HIP_GEMM_DIRECT_H
#define TANDEM_HIP_GEMM_DIRECT_H

#include "block.h"
#include "epilogue.h"
#include "hip/device/call.h"

/* Rows of C, of partial sums or of what is added, from a block's first row and column on: a buffer that ends with the matrix,
 * which masks the rows after the last one. */
typedef struct end_rows {
  const char *first;
  uint32_t length, row_bytes;
} end_rows;

/* From row m0 and column n0 of a matrix on, where `left` rows and `columns` columns are left. shift: of an element's size.
 * Offsets in MOST_ROWS rows fit in 32 bits (GEMM_MOST_LEADING). */
DEVICE end_rows make_end_rows(const void *array, int64_t stride, int64_t ld, uint32_t matrix, int m0, int n0, int left,
                              int columns, int shift) {
  enum { MOST_ROWS = 256 };
  const uint32_t row_bytes = (uint32_t)ld << shift, rows = (uint32_t)(left < MOST_ROWS ? left : MOST_ROWS);
  const char *first = (const char *)array + ((uint64_t)(uint32_t)m0 * row_bytes + ((uint32_t)n0 << shift));
  if (__builtin_expect(matrix > 0, 0)) first += (matrix * stride) << shift;
  const bool some = left > 0 && columns > 0;
  return (end_rows){first, some ? (rows - 1) * row_bytes + ((uint32_t)columns << shift) : 0, row_bytes};
}

/* Of a block of C. */
typedef struct direct_end {
  end_rows c, residual;
  uint32_t columns; /* of C, from the block's first one on: a multiple of 4 */
  int out;          /* tdm_type */
  float alpha;
} direct_end;

/* In scalar registers, where each store needs it: the compiler lost sight of that in the loop over K. */
DEVICE end_rows uniform_rows(end_rows r) { return (end_rows){uniform(r.first), uniform(r.length), uniform(r.row_bytes)}; }
DEVICE direct_end uniform_end(const direct_end *e) {
  return (direct_end){uniform_rows(e->c), uniform_rows(e->residual), uniform(e->columns), uniform(e->out), uniform(e->alpha)};
}

/* What it is prepared from. */
typedef struct end_fields {
  const void *c, *residual, *bias;
  float *partial;
  int64_t m, n, ldc, ldr, stride_c, stride_r, ldp;
  int out, end, map;
  float alpha;
} end_fields;
/* args: gemm_args or constant_args. */
template <typename args>
DEVICE end_fields end_fields_of(const args *g) {
  return (end_fields){g->c,        g->residual, g->bias, g->partial, g->m,   g->n,   g->ldc,  g->ldr,
                      g->stride_c, g->stride_r, g->ldp,  g->out,     g->end, g->map, g->alpha};
}

/* For the block from (m0, n0) on. A tile prepares this while its first loads are on their way: after the loop it takes 400
 * clocks, in which the wave does nothing else. */
DEVICE direct_end prepare_direct(end_fields f, uint32_t matrix, int m0, int n0) {
  /* All at once: one after another, each waits 120 clocks. */
  asm volatile("" : "+s"(f.c), "+s"(f.residual), "+s"(f.n), "+s"(f.ldc), "+s"(f.ldr), "+s"(f.stride_c), "+s"(f.stride_r));
  asm volatile("" : "+s"(f.out), "+s"(f.end), "+s"(f.alpha), "+s"(f.partial), "+s"(f.m), "+s"(f.ldp));
  if (__builtin_expect(f.partial != nullptr, 0))
    f.out = TDM_F32, f.c = f.partial, f.n = f.ldc = f.ldp, f.stride_c = f.m * f.ldp;
  direct_end e = {};
  const int shift = f.out == TDM_F32 ? 2 : 1, columns = (int)f.n - n0, left = (int)f.m - m0;
  e.out = f.out;
  e.columns = (uint32_t)(columns > 0 ? columns : 0);
  e.c = make_end_rows(f.c, f.stride_c, f.ldc, matrix, m0, n0, left, columns, shift);
  if (f.end == GEMM_ADDS) {
    e.alpha = f.alpha;
    if (f.residual != nullptr) e.residual = make_end_rows(f.residual, f.stride_r, f.ldr, matrix, m0, n0, left, columns, shift);
  }
  return uniform_end(&e); /* now, not where it is used */
}

/* The lane's fours of these rows. */
DEVICE lane_fours fours_of(const end_rows *r, block_lane at, int bytes) {
  return (lane_fours){make_short_buffer(r->first, r->length), (uint32_t)(at.column * bytes), r->row_bytes};
}

/* The lane's four of the bias, from column n0 on, where `columns` are left; 0 if there is none. */
template <int COLUMNS, int BYTES>
DEVICE four_words<BYTES> ask_bias(uint32_t columns, const void *bias, int64_t n0, int gap) {
  const lane_fours from = {make_buffer((const char *)bias + n0 * BYTES, bias != NULL ? (int64_t)columns * BYTES : 0),
                           (uint32_t)lane_of_block<COLUMNS>(gap).column * BYTES, 0};
  four_words<BYTES> words;
  load_fours<1, BYTES>(&words, &from, 0, 0);
  return words;
}

/* Asks for the lines of what is added to a block of ROWS rows and COLUMNS columns, for a dword of each. They come to the
 * L2, from where the end loads them in 300 clocks. Nobody uses the dwords, but their registers are not free until they have
 * arrived. */
template <int ROWS, int COLUMNS>
struct asked_lines {
  enum { LINE = 128, OF_ROW = (COLUMNS * 4 + LINE - 1) / LINE + 1 /* at most, f32 */ };
  enum { COUNT = (ROWS * OF_ROW + WAVE - 1) / WAVE };
  uint32_t words[COUNT];
};
template <int ROWS, int COLUMNS>
DEVICE void ask_lines(asked_lines<ROWS, COLUMNS> *x, const direct_end *e) {
  typedef asked_lines<ROWS, COLUMNS> block;
  const buffer rows = make_short_buffer(e->residual.first, e->residual.length);
  /* Only of the block's own columns: where the residual is C, others write what follows. */
  const int columns = e->columns < COLUMNS ? (int)e->columns : COLUMNS, lane = lane_index();
  const int of_row = e->out == TDM_F32 ? columns * 4 : columns * 2;
  const bool cut = (((uint32_t)(uintptr_t)e->residual.first | e->residual.row_bytes) % block::LINE) != 0;
  const int lines = of_row == 0 ? 0 : (of_row + block::LINE - 1) / block::LINE + cut; /* cut: ends within one more line */
#pragma unroll
  for (int i = 0; i < block::COUNT; i++) {
    const int row = (i * WAVE + lane) % ROWS, line = (i * WAVE + lane) / ROWS;
    const int at = line * block::LINE < of_row ? line * block::LINE : of_row - 4;
    const uint32_t offset = line < lines ? (uint32_t)row * e->residual.row_bytes + (uint32_t)at : OUTSIDE;
    x->words[i] = __builtin_amdgcn_raw_buffer_load_b32(rows, (int)offset, 0, 0);
  }
}
template <int ROWS, int COLUMNS>
DEVICE void have_lines(const asked_lines<ROWS, COLUMNS> *x) {
#pragma unroll
  for (int i = 0; i < asked_lines<ROWS, COLUMNS>::COUNT; i++) asm volatile("" : : "v"(x->words[i]));
}

/* ---- Stores ---- */

/* Fours of a lane in `rows` rows of the block, several at a time: one alone would wait for its read of LDS, 65 clocks.
 * row0: the block's first row, of those that were prepared. A row costs a read of LDS, the rounding, an addition and a
 * store. */
template <int ROWS, int COLUMNS, store_kind KIND, tdm_type OUT>
DEVICE void store_rounded(const direct_end *e, LDS const f32x4 *block, int row0, int gap) {
  enum { STEP = WAVE / (COLUMNS / 4), AT_ONCE = 8 };
  const block_lane at = lane_of_block<COLUMNS>(gap);
  if ((uint32_t)at.column >= e->columns) return;
  const buffer to = make_short_buffer(e->c.first, e->c.length);
  uint32_t offset = (uint32_t)(row0 + at.row) * e->c.row_bytes + (uint32_t)at.column * tdm_bytes(OUT);
#pragma unroll
  for (int first = 0; first < ROWS; first += AT_ONCE * STEP) {
    f32x4 x[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
      if (first + i * STEP < ROWS) x[i] = block_four<COLUMNS>(block, at, first + i * STEP);
    keep_order();
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
      if (first + i * STEP < ROWS) {
        buffer_store_four<KIND>(to, offset, x[i], OUT);
        offset += STEP * e->c.row_bytes;
      }
  }
}

/* Applies a function to four fours, which stay in registers. Called, because inlined it would be most of a kernel's code. */
typedef struct four_fours {
  f32x4 of[4];
} four_fours;
CALLED f32x16 map_sixteen(f32x16 x, int op, float value) {
  CALL_BEGIN();
  four_fours fours = __builtin_bit_cast(four_fours, x);
  map_fours<4, true>(fours.of, (tdm_epilogue_op)uniform(op), uniform(value));
  CALL_END();
  return __builtin_bit_cast(f32x16, fours);
}
template <int COUNT>
DEVICE void map_added(f32x4 *x, int op, float value) {
#pragma unroll
  for (int first = 0; first < COUNT; first += 4) {
    four_fours fours = {};
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (first + i < COUNT) fours.of[i] = x[first + i];
    fours = __builtin_bit_cast(four_fours, map_sixteen(__builtin_bit_cast(f32x16, fours), op, value));
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (first + i < COUNT) x[first + i] = fours.of[i];
  }
}

/* The same with alpha, bias, a function and residual. */
template <int ROWS, int COLUMNS, store_kind KIND, int AT_ONCE, bool MAPS, tdm_type OUT>
DEVICE void store_added(const direct_end *e, f32x4 bias, LDS const f32x4 *block, int row0, int gap) {
  constant_args *args = end_args();
  const int map = MAPS && OUT != TDM_F32 ? args->map : (int)TDM_BIAS;
  enum { STEP = WAVE / (COLUMNS / 4), BYTES = tdm_bytes(OUT) };
  const block_lane at = lane_of_block<COLUMNS>(gap);
  if ((uint32_t)at.column >= e->columns) return;
  const lane_fours to = fours_of(&e->c, at, BYTES), from = fours_of(&e->residual, at, BYTES);
  const float alpha = in_order(e->alpha);
#pragma unroll
  for (int first = 0; first < ROWS; first += AT_ONCE * STEP) {
    f32x4 x[AT_ONCE];
    four_words<BYTES> words[AT_ONCE];
    if (e->residual.length > 0) load_fours<AT_ONCE, BYTES>(words, &from, row0 + first + at.row, STEP);
    keep_order();
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) x[i] = alpha * block_four<COLUMNS>(block, at, first + i * STEP) + bias;
    if (map != TDM_BIAS) map_added<AT_ONCE>(x, map, args->map_value);
    if (e->residual.length > 0)
#pragma unroll
      for (int i = 0; i < AT_ONCE; i++) x[i] += four_of<BYTES>(words[i], OUT);
    store_fours<AT_ONCE, BYTES, KIND>(&to, row0 + first + at.row, STEP, x, OUT);
  }
}

/* Sums that have only to be rounded. row0: the block's first row, of those on that `prepared` begins with. */
template <int ROWS, int COLUMNS, store_kind KIND>
DEVICE void store_direct(const direct_end *prepared, LDS const f32x4 *block, int row0, int gap) {
  const direct_end e = uniform_end(prepared);
  switch (e.out) {
    case TDM_F32: store_rounded<ROWS, COLUMNS, KIND, TDM_F32>(&e, block, row0, gap); break;
    case TDM_F16: store_rounded<ROWS, COLUMNS, KIND, TDM_F16>(&e, block, row0, gap); break;
    case TDM_BF16: store_rounded<ROWS, COLUMNS, KIND, TDM_BF16>(&e, block, row0, gap); break;
  }
}

/* The same with alpha, bias, a function and residual. bias: as ask_bias has loaded it. MOST: fours at a time. MAPS: there may
 * be a function. */
template <int ROWS, int COLUMNS, store_kind KIND, int BYTES, int MOST = 8, bool MAPS = true>
DEVICE void store_adding(const direct_end *prepared, four_words<BYTES> bias_words, LDS const f32x4 *block, int row0, int gap,
                         tdm_type type) {
  enum {
    ALL = ROWS * (COLUMNS / 4) / WAVE,
    AT_ONCE = ALL < MOST ? ALL : MOST,
    HALF = MOST / 2,
    WIDE = ALL < HALF ? ALL : HALF
  };
  const f32x4 bias = four_of<BYTES>(bias_words, type);
  const direct_end e = uniform_end(prepared);
  switch (e.out) {
    case TDM_F32: store_added<ROWS, COLUMNS, KIND, WIDE, MAPS, TDM_F32>(&e, bias, block, row0, gap); break;
    case TDM_F16: store_added<ROWS, COLUMNS, KIND, AT_ONCE, MAPS, TDM_F16>(&e, bias, block, row0, gap); break;
    case TDM_BF16: store_added<ROWS, COLUMNS, KIND, AT_ONCE, MAPS, TDM_BF16>(&e, bias, block, row0, gap); break;
  }
}

#endif
