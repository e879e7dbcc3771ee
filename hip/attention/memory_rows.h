/* The rows of Q and O of a wave, directly between registers and memory, for 16-bit types. Included after key_tile.h and
 * query_rows.h. */
#ifndef TANDEM_HIP_ATTENTION_MEMORY_ROWS_H
#define TANDEM_HIP_ATTENTION_MEMORY_ROWS_H

#include "key_splits.h"

template <int head>
using fast_rows = wave_rows<head, head / 16>;

/* The lane's part of a row of Q on its way. */
template <int head>
struct coming_rows {
  u32x4 chunk[head / 16];
  bool inside[head / 16]; /* of the row's head_dim */
};

template <int head>
DEVICE coming_rows<head> load_rows(const attention_args *a, const attention_work *work, int64_t row) {
  const uint32_t rows = (uint32_t)work->rows,
                 inside = (uint32_t)row < rows ? (uint32_t)row : rows - 1; /* others aren't stored */
  const char *q = work->q + 2 * row_offset(a, work, &a->q_stride, inside) + lane_index() / 32 * CHUNK;
  coming_rows<head> coming;
#pragma unroll
  for (int s = 0; s < head / 16; s++) { /* not in branches: each load would wait for the one before */
    coming.inside[s] = 16 * s + lane_index() / 32 * 8 < (int)a->head_dim;
    coming.chunk[s] = *(const u32x4 *)(q + (coming.inside[s] ? s * 2 * CHUNK : 0));
  }
  return coming;
}

template <int head>
DEVICE void take_rows(fast_rows<head> *w, const coming_rows<head> *coming, uint32_t sign) {
#pragma unroll
  for (int s = 0; s < head / 16; s++) w->q[s] = coming->inside[s] ? coming->chunk[s] ^ sign : (u32x4)0;
}

template <int head>
DEVICE void begin_rows(fast_rows<head> *w, const attention_args *a, const attention_work *work, int64_t first) {
  coming_rows<head> coming = load_rows<head>(a, work, first + lane_index() % 32);
  take_rows(w, &coming, a->sign);
  begin_sums(w, a, work, first + lane_index() % 32);
}

/* Where the lane's results begin in one of few parts, in 16 bytes. */
template <int head>
DEVICE uint32_t lane_of_part(uint32_t wave, uint32_t lane) {
  return wave * (head / 8) * WAVE + lane;
}

DEVICE f32x4 four_of(const f32x16 *x, int r) { return (f32x4){(*x)[r], (*x)[r + 1], (*x)[r + 2], (*x)[r + 3]}; }

/* Stores the lane's sums in a part: those of row `row`, or of few parts in the place of wave `wave`. any: else they are 0. */
template <int head>
DEVICE void store_sums(const fast_rows<head> *w, const attention_args *a, float *results, uint32_t wave, uint32_t row,
                       uint32_t lane, bool any) {
  const uint32_t head_dim = (uint32_t)a->head_dim;
  if (a->few_parts) {
    f32x4 *part = (f32x4 *)results + lane_of_part<head>(wave, lane);
#pragma unroll
    for (int i = 0; i < head / 8; i++) /* head_dim is a multiple of 8, and so for both halves of the wave */
      if (8u * i < head_dim) part[i * WAVE] = any ? four_of(&w->o[i / 4], i % 4 * 4) : (f32x4)0;
  } else {
    f32x4 *part = (f32x4 *)results + (row * head_dim / 4 + lane / 32);
#pragma unroll
    for (int i = 0; i < head / 8; i++)
      if (8u * i < head_dim) part[i * 2] = any ? four_of(&w->o[i / 4], i % 4 * 4) : (f32x4)0;
  }
}

template <int head>
DEVICE void store_rows(const fast_rows<head> *w, const attention_args *a, const attention_work *work, int64_t first,
                       tdm_type type) {
  uint32_t lane = (uint32_t)lane_index();
  keep_in_register(&lane); /* what depends on it is not computed before the loops, and kept */
  const uint32_t row = (uint32_t)first + lane % 32, of_part = row % GENERAL_ROWS, head_dim = (uint32_t)a->head_dim;
  float sum = w->sum + other_half(w->sum);
  if (row >= (uint32_t)work->rows) return;
  if (work->part != nullptr) {
    store_sums(w, a, work->part, (uint32_t)first % GENERAL_ROWS / 32, of_part, lane, true);
  } else {
    char *o = work->o + 2 * row_offset(a, work, &a->o_stride, row) + lane / 32 * 8;
#pragma unroll
    for (int i = 0; i < head / 8; i++)
      if (8u * i < head_dim) store_four(o, 8 * i, w->seen > 0 ? four_of(&w->o[i / 4], i % 4 * 4) * (1 / sum) : (f32x4)0, type);
  }
  if (lane < 32) store_numbers(w, work, row, sum);
}

#endif
