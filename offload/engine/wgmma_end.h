/* From the sums of a warpgroup to the output. Each wave takes its 16 lines by itself, wg_chunk columns at a time: through a
 * buffer in shared memory from the order of the matrix unit to vectors of 4 neighbours in a row of C. The code exists once;
 * only what reads registers, which have no index, stands there for each chunk. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_END_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_END_H

#include "offload/device/math.h"
#include "wgmma_loop.h"

typedef float wg_four __attribute__((vector_size(16), may_alias));
typedef float wg_two __attribute__((vector_size(8), may_alias));
typedef uint32_t wg_word __attribute__((may_alias));
typedef uint32_t wg_words __attribute__((vector_size(8), may_alias));

enum {
  WG_VECTORS = 4,
  WG_PITCH = 40,  /* floats from line to line of the buffer: four lines' pairs of columns are in different banks */
  WG_SECOND = 16, /* where the second weight's columns begin in the buffer */
};

/* A lane's vectors of a chunk, in C: vector i is in row + i * row_step, and all of them in columns column to column + 3. */
typedef struct wg_part {
  wg_four v[WG_VECTORS];
  int batch, row, column;
  int row_step, rows_left; /* vector i is inside if i * row_step < rows_left */
  int count;               /* of the 4 columns, those inside; 0 or less: none */
  bool aligned;            /* are vectors in C and the residual aligned? */
} wg_part;

TDM_INLINE void wg_put(wg_address buffer, const float *sums, int columns, int lane) {
  wg_address to = buffer + ((lane / 4) * WG_PITCH + lane % 4 * 2) * 4;
  WG_UNROLL
  for (int g = 0; g < columns / 8; g++) WG_UNROLL
  for (int h = 0; h < 2; h++)
    WG_AT(wg_two, to + (h * 8 * WG_PITCH + g * 8) * 4) = (wg_two){sums[4 * g + 2 * h], sums[4 * g + 2 * h + 1]};
}

/* The chunk of a wave into its buffer. */
TDM_INLINE void wg_put_chunk(wg_address buffer, const float *sums, int chunk, int lane, wg_kind kind) {
  const int columns = wg_chunk(kind.n, kind.weights);
  WG_UNROLL
  for (int c = 0; c < kind.n / columns; c++) {
    if (c != chunk) continue;
    WG_UNROLL
    for (int w = 0; w < kind.weights; w++)
      wg_put(buffer + w * WG_SECOND * 4, sums + w * kind.n / 2 + c * columns / 2, columns, lane);
  }
}

/* Where a lane's first vector is in a chunk: its line, and its column or the first of them. The next vector is row_step
 * lines below, or, if swapped, as many columns to the right. */
TDM_INLINE int wg_line_of(int lane, int columns, bool swapped) { return swapped ? lane % 4 * 4 : lane / (columns / 4); }
TDM_INLINE int wg_column_of(int lane, int columns, bool swapped) { return swapped ? lane / 4 : lane % (columns / 4) * 4; }
TDM_INLINE int wg_row_step(int columns, bool swapped) { return swapped ? 8 : 128 / columns; }

/* Vector i of weight w from the buffer. */
TDM_INLINE wg_four wg_take(wg_address buffer, int i, int w, int lane, int columns, bool swapped) {
  int line = wg_line_of(lane, columns, swapped), column = wg_column_of(lane, columns, swapped) + w * WG_SECOND;
  wg_address at = buffer + (line * WG_PITCH + column) * 4;
  if (!swapped) return WG_AT(wg_four, at + i * wg_row_step(columns, false) * WG_PITCH * 4);
  wg_four v;
  WG_UNROLL
  for (int e = 0; e < 4; e++) v[e] = WG_AT(float, at + (e * WG_PITCH + i * wg_row_step(columns, true)) * 4);
  return v;
}

/* The part of a tile's first chunk. line0: of the wave. */
TDM_INLINE wg_part wg_first_part(const wg_args *args, wg_tile tile, int line0, int lane, int columns, bool swapped) {
  const int line = line0 + wg_line_of(lane, columns, swapped), column = tile.q0 + wg_column_of(lane, columns, swapped);
  wg_part x = {.batch = tile.batch,
               .row = swapped ? column : line,
               .column = swapped ? line : column,
               .row_step = wg_row_step(columns, swapped),
               .aligned = args->vectors != 0};
  x.rows_left = (swapped ? args->columns : args->lines) - x.row;
  x.count = (swapped ? args->lines : args->columns) - x.column;
  return x;
}

TDM_INLINE void wg_next_part(wg_part *x, int columns, bool swapped) {
  if (swapped) {
    x->row += columns;
    x->rows_left -= columns;
  } else {
    x->column += columns;
    x->count -= columns;
  }
}

/* ---- Vectors of a matrix of C's shape ---- */

/* Element offsets of the first vector, and from one vector to the next. */
typedef struct wg_way {
  int64_t first, next;
} wg_way;

TDM_INLINE wg_way wg_way_in(const wg_part *x, int64_t stride, int64_t ld) {
  return (wg_way){x->batch * stride + x->row * ld + x->column, x->row_step * ld};
}
TDM_INLINE bool wg_inside(const wg_part *x, int i) { return i * x->row_step < x->rows_left; }

TDM_INLINE wg_four wg_load_four(const void *base, int64_t at, tdm_type type) {
  if (type == TDM_F32) return *(const WG_GLOBAL wg_four *)((const float *)base + at);
  wg_words two = *(const WG_GLOBAL wg_words *)((const uint16_t *)base + at);
  wg_four v;
  WG_UNROLL
  for (int e = 0; e < 4; e++) {
    uint16_t word = (uint16_t)(two[e / 2] >> 16 * (e % 2));
    v[e] = type == TDM_F16 ? tdm_f16_to_f32(word) : tdm_bf16_to_f32(word);
  }
  return v;
}

TDM_INLINE wg_four wg_load_some(const void *base, int64_t at, int count, tdm_type type) {
  wg_four v = {0};
  WG_UNROLL
  for (int e = 0; e < 4; e++)
    if (e < count) v[e] = tdm_load(base, at + e, type);
  return v;
}

/* Drops vector 0, moves the others up, and appends `last`. A loop that is not unrolled can then work on v[0] each time:
 * registers have no index. */
TDM_INLINE void wg_rotate(wg_four *v, int vectors, wg_four last) {
  WG_UNROLL
  for (int i = 0; i + 1 < vectors; i++) v[i] = v[i + 1];
  v[vectors - 1] = last;
}

/* x += factor * matrix. All loads of whole vectors are outstanding together. */
TDM_INLINE void wg_add_typed(wg_part *x, const void *base, wg_way way, float factor, int vectors, tdm_type type) {
  if (x->aligned && x->count >= 4) {
    wg_four more[WG_VECTORS];
    WG_UNROLL
    for (int i = 0; i < vectors; i++)
      more[i] = wg_inside(x, i) ? wg_load_four(base, way.first + i * way.next, type) : (wg_four){0};
    WG_UNROLL
    for (int i = 0; i < vectors; i++) x->v[i] += factor * more[i];
    return;
  }
  WG_NO_UNROLL
  for (int i = 0; i < vectors; i++) {
    wg_four more = wg_load_some(base, way.first + i * way.next, wg_inside(x, i) ? x->count : 0, type);
    wg_rotate(x->v, vectors, x->v[0] + factor * more);
  }
}

TDM_INLINE void wg_store_typed(wg_part *x, void *base, wg_way way, int vectors, tdm_type type) {
  if (x->aligned && x->count >= 4) {
    WG_UNROLL
    for (int i = 0; i < vectors; i++) {
      if (!wg_inside(x, i)) continue;
      int64_t at = way.first + i * way.next;
      wg_four v = x->v[i];
      if (type == TDM_F32)
        *(WG_GLOBAL wg_four *)((float *)base + at) = v;
      else
        *(WG_GLOBAL wg_words *)((uint16_t *)base + at) =
            (wg_words){tdm_f32_to_two(v[0], v[1], type), tdm_f32_to_two(v[2], v[3], type)};
    }
    return;
  }
  WG_NO_UNROLL
  for (int i = 0; i < vectors; i++) {
    int count = wg_inside(x, i) ? x->count : 0;
    WG_UNROLL
    for (int e = 0; e < 4; e++)
      if (e < count) tdm_store(base, way.first + i * way.next + e, type, x->v[0][e]);
    wg_rotate(x->v, vectors, x->v[0]);
  }
}

TDM_INLINE void wg_store(wg_part *x, const wg_args *args, int vectors) {
  TDM_BY_TYPE((tdm_type)args->out, wg_store_typed, x, args->c, wg_way_in(x, args->stride_c, args->ldc), vectors);
}

/* ---- The short way: results of the operands' type, at most a bias and then a residual, the tile's columns all inside, and
 * C and the residual accessible in aligned pieces of 16 bytes. What is added comes in the order of the matrix unit. Results
 * are rounded before they go through the buffer, and leave in lines of 128 bytes. ---- */

TDM_INLINE bool wg_is_short(const wg_args *args, wg_tile tile, wg_kind kind) {
  return args->short_way && tile.q0 + kind.n <= args->columns;
}

TDM_INLINE wg_two wg_two_of(uint32_t word, tdm_type type) {
  uint16_t low = (uint16_t)word, high = (uint16_t)(word >> 16);
  return type == TDM_F16 ? (wg_two){tdm_f16_to_f32(low), tdm_f16_to_f32(high)}
                         : (wg_two){tdm_bf16_to_f32(low), tdm_bf16_to_f32(high)};
}

/* Two neighbours of the product, or of swiglu's result. */
TDM_INLINE wg_two wg_two_sums(const float *sums, float alpha, wg_kind kind) {
  if (kind.weights == 1) return (wg_two){alpha * sums[0], alpha * sums[1]};
  const float *up = sums + kind.n / 2;
  return (wg_two){tdm_silu(sums[0]) * up[0], tdm_silu(sums[1]) * up[1]};
}

TDM_INLINE void wg_end_short(const float *sums, const wg_args *args, wg_tile tile, wg_address buffer, int wave, int lane,
                             wg_kind kind) {
  enum { PITCH = 144 }; /* bytes from line to line of the buffer: eight lines' words are in different banks */
  typedef uint32_t piece __attribute__((vector_size(16), may_alias));
  const int columns = kind.n % 64 == 0 ? 64 : kind.n % 32 == 0 ? 32 : 16, lanes = columns / 8, rows = 32 / lanes;
  const int line0 = tile.p0 + wave * 16, rows_left = args->lines - line0;
  const bool has_bias = args->short_way & WG_SHORT_BIAS, has_residual = args->short_way & WG_SHORT_RESIDUAL;
  const float alpha = args->alpha;
  const int64_t ld = args->ldc, ldr = args->ldr;
  uint16_t *to = (uint16_t *)args->c + tile.batch * args->stride_c + (line0 + lane / lanes) * ld + tile.q0 + lane % lanes * 8;
  const uint16_t *residual =
      (const uint16_t *)args->residual + tile.batch * args->stride_r + (line0 + lane / 4) * ldr + tile.q0 + lane % 4 * 2;
  const uint16_t *bias = (const uint16_t *)args->bias + tile.q0 + lane % 4 * 2;
  const wg_address put = buffer + lane / 4 * PITCH + lane % 4 * 4, take = buffer + lane / lanes * PITCH + lane % lanes * 16;
  WG_UNROLL
  for (int chunk = 0; chunk < kind.n / columns; chunk++) {
    uint32_t more[2][8] = {{0}};
    if (kind.weights == 1 && has_residual) {
      WG_UNROLL
      for (int h = 0; h < 2; h++) WG_UNROLL
      for (int g = 0; g < columns / 8; g++)
        if (lane / 4 + 8 * h < rows_left)
          more[h][g] = *(const WG_GLOBAL wg_word *)(residual + h * 8 * ldr + chunk * columns + g * 8);
    }
    WG_UNROLL
    for (int g = 0; g < columns / 8; g++) {
      wg_two first = {0};
      if (kind.weights == 1 && has_bias)
        first = wg_two_of(*(const WG_GLOBAL wg_word *)(bias + chunk * columns + g * 8), kind.type);
      WG_UNROLL
      for (int h = 0; h < 2; h++) {
        wg_two x = wg_two_sums(sums + chunk * columns / 2 + 4 * g + 2 * h, alpha, kind);
        if (kind.weights == 1 && has_bias) x += first;
        if (kind.weights == 1 && has_residual) x += wg_two_of(more[h][g], kind.type);
        WG_AT(uint32_t, put + h * 8 * PITCH + g * 16) = tdm_f32_to_two(x[0], x[1], kind.type);
      }
    }
    wg_sync_wave();
    piece line[4];
    WG_UNROLL
    for (int i = 0; i < 16 / rows; i++) line[i] = WG_AT(piece, take + i * rows * PITCH);
    WG_UNROLL
    for (int i = 0; i < 16 / rows; i++)
      if (lane / lanes + i * rows < rows_left) *(WG_GLOBAL piece *)(to + i * rows * ld + chunk * columns) = line[i];
    wg_sync_wave(); /* the buffer may be written again */
  }
}

#endif
