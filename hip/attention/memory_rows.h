/* The rows of Q and O of a wave, directly between registers and memory, for 16-bit types. Included after key_tile.h and
 * query_rows.h. */
#ifndef TANDEM_HIP_ATTENTION_MEMORY_ROWS_H
#define TANDEM_HIP_ATTENTION_MEMORY_ROWS_H

template <int head>
using fast_rows = wave_rows<head, head / 16>;

template <int head>
DEVICE void begin_rows(fast_rows<head> *w, const attention_args *a, const attention_work *work, int64_t first) {
  int64_t row = first + lane_index() % 32, inside = least(row, work->rows - 1); /* rows after the last one are not stored */
  const char *q = work->q + 2 * row_offset(a, work, &a->q_stride, inside) + lane_index() / 32 * CHUNK;
  u32x4 chunk[head / 16];
  bool inside_row[head / 16];
#pragma unroll
  for (int s = 0; s < head / 16; s++) { /* not in branches: each load would wait for the one before */
    inside_row[s] = 16 * s + lane_index() / 32 * 8 < a->head_dim;
    chunk[s] = *(const u32x4 *)(q + (inside_row[s] ? s * 2 * CHUNK : 0));
  }
#pragma unroll
  for (int s = 0; s < head / 16; s++) w->q[s] = inside_row[s] ? chunk[s] ^ a->sign : (u32x4)0;
  begin_sums(w, a, work, row);
}

template <int head>
DEVICE void store_rows(const fast_rows<head> *w, const attention_args *a, const attention_work *work, int64_t first,
                       tdm_type type) {
  uint32_t lane = (uint32_t)lane_index();
  keep_in_register(&lane); /* what depends on it is not computed before the loops, and kept */
  int64_t row = first + lane % 32;
  float sum = w->sum + other_half(w->sum);
  if (row >= work->rows) return;
  char *o = work->o + 2 * row_offset(a, work, &a->o_stride, row) + lane / 32 * 8;
  float *part = work->part + row * a->head_dim + lane / 32 * 4;
#pragma unroll
  for (int d = 0; d < head / 32; d++)
#pragma unroll
    for (int r = 0; r < 16; r += 4) {
      f32x4 x = {w->o[d][r], w->o[d][r + 1], w->o[d][r + 2], w->o[d][r + 3]};
      if (32 * d + row_of(r) >= a->head_dim) continue; /* a multiple of 8, and so for both halves of the wave */
      if (work->part != nullptr)
        *(f32x4 *)(part + 32 * d + row_of(r)) = x;
      else
        store_four(o, 32 * d + row_of(r), w->seen > 0 ? x * (1 / sum) : (f32x4)0, type);
    }
  if (lane < 32) store_numbers(w, work, row, sum);
}

#endif
