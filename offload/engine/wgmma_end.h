/* From the sums of a warpgroup to the output. Each wave takes its 16 lines by itself, wg_chunk columns at a time: it puts a
 * chunk into registers (wg_begin_chunk), the op makes of them what it stores (wg_chain), and they leave (wg_end_chunk). This
 * code exists once; only what reads sums, which have no index, stands there for each chunk.
 *
 * In the short way a chunk stays in the order of the matrix unit, and the results go through a buffer in shared memory, so
 * that they leave in lines of 128 bytes. It takes results of the operands' type, if C and what is added can be accessed in
 * aligned pieces of 16 bytes. Otherwise the sums go through the buffer first. Then a
 * lane has vectors of 4 neighbours in a row of C, or, if C can't be accessed in aligned vectors, single columns, so that the
 * lanes of an access are neighbours instead. In all ways the matrix that is added is read ahead. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_END_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_END_H

#include "offload/device/math.h"
#include "wgmma_loop.h"

typedef float wg_four __attribute__((vector_size(16), may_alias));
typedef float wg_two __attribute__((vector_size(8), may_alias));
typedef uint32_t wg_word __attribute__((may_alias));
typedef uint16_t wg_half __attribute__((may_alias));
typedef float wg_float __attribute__((may_alias));
typedef uint32_t wg_words __attribute__((vector_size(8), may_alias));

enum {
  WG_VECTORS = 4,
  WG_PITCH = 40,  /* floats from line to line of the buffer: four lines' pairs of columns are in different banks */
  WG_GROUP = 8,   /* more floats after four lines: then columns of four of a lane's lines are in different banks, too */
  WG_SECOND = 16, /* where the second weight's columns begin in the buffer */
};

/* 16 bytes as they were read: 4 elements of f32, in the first half 4 of 16 bits, 4 single elements, or a piece of a line. */
typedef uint32_t wg_raw __attribute__((vector_size(16), may_alias));

typedef enum wg_order { WG_SHORT_WAY, WG_IN_VECTORS, WG_SINGLE } wg_order;

/* A lane's elements of a chunk, 4 for each of its vectors. WG_SHORT_WAY: v[g] has columns 8 g + 2 (lane % 4) and the next, of
 * row lane / 4, and of 8 rows below. WG_IN_VECTORS: v[i] are 4 neighbours in a row of C, and v[i + 1] row_step rows below.
 * WG_SINGLE: v[0][0], v[0][1], ... are in one column, each row_step rows below the one before. */
typedef struct wg_part {
  wg_four v[WG_VECTORS];
  wg_four up[WG_VECTORS];   /* of the second weight */
  wg_raw ahead[WG_VECTORS]; /* of the residual, or of C as it was */
  wg_raw bias;
  const epilogue_step *step; /* of the epilogue. These are read once: in the loop over chunks each read would take its time */
  int steps;
  float alpha;
  wg_order order;
  wg_address words;       /* WG_SHORT_WAY: where the elements' place in the buffer begins */
  int batch, row, column; /* of the first element */
  int row_step, rows_left, columns_left;
} wg_part;

TDM_INLINE wg_address wg_line_at(wg_address buffer, int line) { return buffer + (line * WG_PITCH + line / 4 * WG_GROUP) * 4; }

TDM_INLINE void wg_put(wg_address buffer, const float *sums, int columns, int lane) {
  WG_UNROLL
  for (int h = 0; h < 2; h++) {
    const wg_address to = wg_line_at(buffer, lane / 4 + 8 * h) + lane % 4 * 2 * 4;
    WG_UNROLL
    for (int g = 0; g < columns / 8; g++)
      WG_AT(wg_two, to + g * 8 * 4) = (wg_two){sums[4 * g + 2 * h], sums[4 * g + 2 * h + 1]};
  }
}

/* The chunk of a wave in the order of the matrix unit. */
TDM_INLINE void wg_pick_chunk(float *v, const float *sums, int chunk, int weight, wg_kind kind) {
  wg_pick(v, sums + weight * kind.n / 2, kind.n / 2, chunk, wg_chunk(kind.n, kind.weights) / 2);
}

/* The chunk into the wave's buffer. */
TDM_INLINE void wg_put_chunk(wg_address buffer, const float *sums, int chunk, int lane, wg_kind kind) {
  WG_UNROLL
  for (int w = 0; w < kind.weights; w++) {
    float v[4 * WG_VECTORS];
    wg_pick_chunk(v, sums, chunk, w, kind);
    wg_put(buffer + w * WG_SECOND * 4, v, wg_chunk(kind.n, kind.weights), lane);
  }
}

/* Where a lane's elements begin, as C's row and column in a chunk, which has 16 lines by `columns`; swapped: the other way
 * round. */
typedef struct wg_begin {
  int row, column, row_step;
} wg_begin;

TDM_INLINE wg_begin wg_begin_of(int lane, int columns, bool swapped, wg_order order) {
  const wg_begin across = order == WG_IN_VECTORS ? (wg_begin){lane / 4, lane % 4 * 4, 8} : (wg_begin){lane / 16, lane % 16, 2};
  if (swapped) return across; /* 16 lines are 16 columns of C */
  if (order == WG_IN_VECTORS) return (wg_begin){lane / (columns / 4), lane % (columns / 4) * 4, 128 / columns};
  return (wg_begin){lane / columns, lane % columns, 32 / columns};
}

/* The lane's elements of weight w from the buffer. The three ways do not share a loop: all loads are outstanding together. */
TDM_INLINE void wg_take(wg_four *v, const wg_part *x, wg_address buffer, int w, int lane, int columns, bool swapped) {
  const int vectors = columns / 8;
  const bool whole = x->order == WG_IN_VECTORS;
  const wg_begin at = wg_begin_of(lane, columns, swapped, x->order);
  const wg_address second = buffer + w * WG_SECOND * 4;
  if (!swapped && whole) {
    WG_UNROLL
    for (int i = 0; i < vectors; i++) v[i] = WG_AT(wg_four, wg_line_at(second, at.row + i * at.row_step) + at.column * 4);
  } else if (!swapped) {
    WG_UNROLL
    for (int i = 0; i < 4 * vectors; i++)
      v[i / 4][i % 4] = WG_AT(float, wg_line_at(second, at.row + i * at.row_step) + at.column * 4);
  } else {
    const int line_step = whole ? 1 : 0, vector_step = whole ? at.row_step : 4 * at.row_step, step = whole ? 0 : at.row_step;
    WG_UNROLL
    for (int i = 0; i < 4 * vectors; i++)
      v[i / 4][i % 4] =
          WG_AT(float, wg_line_at(second, at.column + i % 4 * line_step) + (at.row + i / 4 * vector_step + i % 4 * step) * 4);
  }
}

/* The part of a tile's chunk, not in the short way. line0: of the wave. */
TDM_INLINE wg_part wg_part_of(const wg_args *args, wg_tile tile, int line0, int chunk, int lane, int columns, bool swapped) {
  const wg_order order = args->vectors ? WG_IN_VECTORS : WG_SINGLE;
  const wg_begin at = wg_begin_of(lane, columns, swapped, order);
  const int q0 = tile.q0 + chunk * columns;
  wg_part x = {.order = order,
               .batch = tile.batch,
               .row = (swapped ? q0 : line0) + at.row,
               .column = (swapped ? line0 : q0) + at.column,
               .row_step = at.row_step};
  x.rows_left = (swapped ? args->columns : args->lines) - x.row;
  x.columns_left = (swapped ? args->lines : args->columns) - x.column;
  return x;
}

TDM_INLINE void wg_next_part(wg_part *x, int columns, bool swapped) {
  if (swapped) {
    x->row += columns;
    x->rows_left -= columns;
  } else {
    x->column += columns;
    x->columns_left -= columns;
  }
}

/* ---- Elements of a matrix of C's shape ---- */

/* Where the first element is, and how many elements there are from row to row. */
typedef struct wg_way {
  int64_t first, ld;
} wg_way;

TDM_INLINE wg_way wg_way_in(const wg_part *x, int64_t stride, int64_t ld) {
  return (wg_way){x->batch * stride + x->row * ld + x->column, ld};
}
TDM_INLINE bool wg_inside(const wg_part *x, int row) { return row < x->rows_left && x->columns_left > 0; }

/* Element e of vector i, if the elements are single: rows below the first one. */
TDM_INLINE int wg_single_row(const wg_part *x, int i, int e) { return (4 * i + e) * x->row_step; }

/* All loads are outstanding together. */
TDM_INLINE void wg_load_typed(wg_raw *raw, const wg_part *x, const void *base, wg_way way, int vectors, tdm_type type) {
  WG_UNROLL
  for (int i = 0; i < vectors; i++) raw[i] = (wg_raw){0};
  if (x->order == WG_IN_VECTORS) {
    WG_UNROLL
    for (int i = 0; i < vectors; i++) {
      const int row = i * x->row_step;
      const int64_t at = way.first + row * way.ld;
      if (!wg_inside(x, row)) continue;
      if (type == TDM_F32) {
        raw[i] = *(const WG_GLOBAL wg_raw *)((const float *)base + at);
      } else {
        const wg_words two = *(const WG_GLOBAL wg_words *)((const uint16_t *)base + at);
        raw[i][0] = two[0], raw[i][1] = two[1];
      }
    }
    return;
  }
  WG_UNROLL
  for (int i = 0; i < vectors; i++) WG_UNROLL
  for (int e = 0; e < 4; e++) {
    const int row = wg_single_row(x, i, e);
    const int64_t at = way.first + row * way.ld;
    if (wg_inside(x, row))
      raw[i][e] = type == TDM_F32 ? ((const WG_GLOBAL wg_word *)base)[at] : ((const WG_GLOBAL wg_half *)base)[at];
  }
}

TDM_INLINE float wg_half_value(uint32_t half, tdm_type type) {
  return type == TDM_F16 ? tdm_f16_to_f32((uint16_t)half) : tdm_bf16_to_f32((uint16_t)half);
}
TDM_INLINE wg_two wg_two_of(uint32_t word, tdm_type type) {
  return (wg_two){wg_half_value(word & 0xffff, type), wg_half_value(word >> 16, type)};
}

/* 4 elements: of f32, single, or in two words. */
TDM_INLINE wg_four wg_raw_values(wg_raw raw, bool single, tdm_type type) {
  if (type == TDM_F32)
    return (wg_four){tdm_from_bits(raw[0]), tdm_from_bits(raw[1]), tdm_from_bits(raw[2]), tdm_from_bits(raw[3])};
  if (single)
    return (wg_four){wg_half_value(raw[0], type), wg_half_value(raw[1], type), wg_half_value(raw[2], type),
                     wg_half_value(raw[3], type)};
  const wg_two first = wg_two_of(raw[0], type), second = wg_two_of(raw[1], type);
  return (wg_four){first[0], first[1], second[0], second[1]};
}

TDM_INLINE void wg_store_typed(wg_part *x, void *base, wg_way way, int vectors, tdm_type type) {
  if (x->order == WG_IN_VECTORS) {
    WG_UNROLL
    for (int i = 0; i < vectors; i++) {
      const wg_four v = x->v[i];
      const int row = i * x->row_step;
      const int64_t at = way.first + row * way.ld;
      if (!wg_inside(x, row)) continue;
      if (type == TDM_F32)
        *(WG_GLOBAL wg_four *)((float *)base + at) = v;
      else
        *(WG_GLOBAL wg_words *)((uint16_t *)base + at) =
            (wg_words){tdm_f32_to_two(v[0], v[1], type), tdm_f32_to_two(v[2], v[3], type)};
    }
    return;
  }
  WG_UNROLL
  for (int i = 0; i < vectors; i++) WG_UNROLL
  for (int e = 0; e < 4; e++) {
    const int row = wg_single_row(x, i, e);
    const int64_t at = way.first + row * way.ld;
    if (!wg_inside(x, row)) continue;
    if (type == TDM_F32)
      ((WG_GLOBAL wg_float *)base)[at] = x->v[i][e];
    else
      ((WG_GLOBAL wg_half *)base)[at] = (uint16_t)tdm_f32_to_two(x->v[i][e], 0, type);
  }
}

TDM_INLINE void wg_store(wg_part *x, const wg_args *args, int vectors) {
  TDM_BY_TYPE((tdm_type)args->out, wg_store_typed, x, args->c, wg_way_in(x, args->stride_c, args->ldc), vectors);
}

/* The residual, or C as it was. */
TDM_INLINE void wg_load_matrix(wg_part *x, const wg_args *args, bool residual, int vectors) {
  const void *base = residual ? args->residual : args->c;
  const wg_way way = wg_way_in(x, residual ? args->stride_r : args->stride_c, residual ? args->ldr : args->ldc);
  TDM_BY_TYPE((tdm_type)args->out, wg_load_typed, x->ahead, x, base, way, vectors);
}

/* Reads what will be added to the part, not in the short way. */
TDM_INLINE void wg_read_ahead(wg_part *x, const wg_args *args, int vectors, tdm_type type) {
  if (args->ahead != WG_NOTHING) wg_load_matrix(x, args, args->ahead == WG_RESIDUAL, vectors);
  if (args->bias != NULL) {
    const wg_part row = {.order = x->order, .rows_left = 1, .columns_left = x->columns_left, .row_step = 1};
    wg_load_typed(&x->bias, &row, args->bias, (wg_way){x->column, 0}, 1, type);
  }
}

/* ---- The short way ---- */

/* Where a lane's pieces of 16 bytes are, of the columns that leave together. */
typedef struct wg_lines {
  wg_address first;  /* in the buffer */
  const char *added; /* of the matrix that is read ahead */
  char *to;
  int64_t ld, ld_added; /* bytes */
  int rows_left, columns_left;
} wg_lines;

enum { WG_LINE_PITCH = 144 /* bytes from line to line of the buffer: eight lines' words are in different banks */ };

TDM_INLINE int wg_line_columns(int n) { return n % 64 == 0 ? 64 : n % 32 == 0 ? 32 : 16; }
TDM_INLINE int wg_line_pieces(int n) { return wg_line_columns(n) / 16; } /* of a lane */
TDM_INLINE int wg_line_rows(int n) { return 256 / wg_line_columns(n); }  /* from a lane's piece to the next */

TDM_INLINE wg_lines wg_lines_of(const wg_args *args, wg_tile tile, int line0, wg_address buffer, int lane, wg_kind kind) {
  const int lanes = wg_line_columns(kind.n) / 8, row = lane / lanes, column = lane % lanes * 8;
  const bool residual = args->ahead == WG_RESIDUAL;
  const int64_t stride = residual ? args->stride_r : args->stride_c, ld = residual ? args->ldr : args->ldc;
  wg_lines x = {.first = buffer + row * WG_LINE_PITCH + column * 2, .ld = args->ldc * 2, .ld_added = ld * 2};
  x.to = (char *)args->c + (tile.batch * args->stride_c + (line0 + row) * args->ldc + tile.q0 + column) * 2;
  x.added =
      (const char *)(residual ? args->residual : args->c) + (tile.batch * stride + (line0 + row) * ld + tile.q0 + column) * 2;
  x.rows_left = args->lines - line0 - row;
  x.columns_left = args->columns - tile.q0 - column;
  return x;
}

TDM_INLINE void wg_read_lines(wg_part *x, const wg_lines *lines, int column, wg_kind kind) {
  WG_UNROLL
  for (int i = 0; i < wg_line_pieces(kind.n); i++) {
    const int row = i * wg_line_rows(kind.n);
    x->ahead[i] = (wg_raw){0};
    if (row < lines->rows_left && column < lines->columns_left)
      x->ahead[i] = *(const WG_GLOBAL wg_raw *)(lines->added + row * lines->ld_added + column * 2);
  }
}

TDM_INLINE void wg_put_lines(const wg_part *x, const wg_lines *lines, wg_kind kind) {
  WG_UNROLL
  for (int i = 0; i < wg_line_pieces(kind.n); i++)
    WG_AT(wg_raw, lines->first + i * wg_line_rows(kind.n) * WG_LINE_PITCH) = x->ahead[i];
}

TDM_INLINE void wg_store_lines(const wg_lines *lines, int column, wg_kind kind) {
  wg_raw line[WG_VECTORS];
  WG_UNROLL
  for (int i = 0; i < wg_line_pieces(kind.n); i++)
    line[i] = WG_AT(wg_raw, lines->first + i * wg_line_rows(kind.n) * WG_LINE_PITCH);
  WG_UNROLL
  for (int i = 0; i < wg_line_pieces(kind.n); i++) {
    const int row = i * wg_line_rows(kind.n);
    if (row < lines->rows_left && column < lines->columns_left)
      *(WG_GLOBAL wg_raw *)(lines->to + row * lines->ld + column * 2) = line[i];
  }
}

/* The word of vector g and row 8 h. */
TDM_INLINE wg_address wg_word_at(const wg_part *x, int g, int h) { return x->words + h * 8 * WG_LINE_PITCH + g * 16; }

/* ---- What an op may add ---- */

TDM_INLINE void wg_read_steps(wg_part *x, const wg_args *args) {
  x->step = args->steps <= WG_FEW ? args->few : args->step;
  x->steps = args->steps;
  x->alpha = args->alpha;
}

TDM_INLINE void wg_add_typed(wg_part *x, float factor, int vectors, tdm_type type) {
  WG_UNROLL
  for (int i = 0; i < vectors; i++) {
    wg_raw raw = x->ahead[i];
    if (x->order == WG_SHORT_WAY) raw[0] = WG_AT(wg_word, wg_word_at(x, i, 0)), raw[1] = WG_AT(wg_word, wg_word_at(x, i, 1));
    x->v[i] += factor * wg_raw_values(raw, x->order == WG_SINGLE, type);
  }
}

/* The residual, or C as it was, times factor. If both are added, C is first, and is read ahead. */
TDM_INLINE void wg_add_matrix(wg_part *x, const wg_args *args, bool residual, float factor, int vectors) {
  if (x->order != WG_SHORT_WAY && args->ahead != (residual ? WG_RESIDUAL : WG_OLD)) wg_load_matrix(x, args, residual, vectors);
  TDM_BY_TYPE((tdm_type)args->out, wg_add_typed, x, factor, vectors);
}

/* Every row has the same. */
TDM_INLINE void wg_add_bias(wg_part *x, int vectors, tdm_type type) {
  wg_four bias = wg_raw_values(x->bias, x->order == WG_SINGLE, type);
  if (x->order == WG_SINGLE) bias = (wg_four){bias[0], bias[0], bias[0], bias[0]};
  WG_UNROLL
  for (int i = 0; i < vectors; i++) {
    if (x->order == WG_SHORT_WAY) {
      const wg_two two = wg_two_of(x->bias[i], type);
      bias = (wg_four){two[0], two[1], two[0], two[1]};
    }
    x->v[i] += bias;
  }
}

#endif
