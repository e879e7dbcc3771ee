/* The rows of Q and O of a wave between registers and memory, through a part of LDS of the wave's own: so that loads and stores
 * are whole lines. Included after key_tile.h and query_rows.h. */
#ifndef TANDEM_HIP_ATTENTION_LDS_ROWS_H
#define TANDEM_HIP_ATTENTION_LDS_ROWS_H

#include "hip/device/fours.h"

/* Eight waves with more than 128 columns store 128 of them at a time. */
template <int head>
constexpr int STORED_COLUMNS = THREADS<head> == FAST_THREADS && head > 128 ? 128 : WIDTH<head>;
template <int head>
constexpr int ROWS_BYTES = 32 * STORED_COLUMNS<head> * 2; /* of a wave */

/* Where the parts of a wave's rows are that its lane moves between memory and LDS: place n * 64 + lane of 16 bytes. */
template <int head>
DEVICE uint32_t rows_offset(int n, uint32_t lane, const tile_source *s) {
  const int parts = WIDTH<head> / 32; /* 16 rows; then the swizzle begins again */
  return piece_offset<head>(s, (uint32_t)(n % parts * WAVE) + lane, key_place<head>) +
         (uint32_t)(n / parts * 16) * (uint32_t)s->stride;
}

#if CHIP_TRANSPOSED_LDS_READS
/* Columns from `column` on. */
template <int head>
DEVICE void load_lds_rows(LDS char *rows, const attention_args *a, const attention_work *work, int64_t first, int column) {
  tile_source from = source_of(work->q + 2 * first * a->q_stride.row, a->q_stride.row, work->rows - first, a->head_dim);
  from.base += 2 * column;
  from.left -= 2 * column;
  from.chunks -= (uint32_t)column / 8;
  buffer q = make_short_buffer(from.base, tile_length(&from));
#pragma unroll
  for (int n = 0; n < WIDTH<head> / 16; n++)
    buffer_load_to_lds(q, rows_offset<head>(n, (uint32_t)lane_index(), &from), rows + n * WAVE * CHUNK);
}

/* The caller has waited for the loads. */
template <int head>
DEVICE void start_row_reads(u32x4 *q, const LDS char *rows, int chunks) {
  uint32_t at = lds_address(rows) + keys_of_lane<head>();
#pragma unroll
  for (int s = 0; s < chunks; s++) q[s] = lds_read_unordered(at ^ (uint32_t)(s * 2 * CHUNK), 0);
}
template <int head, int chunks>
DEVICE void take_row_reads(wave_rows<head, chunks> *w, uint32_t sign) {
  wait_lds();
#pragma unroll
  for (int s = 0; s < chunks; s++) w->q[s] = in_order(w->q[s]) ^ sign;
}
#endif

/* The columns 32 begin .. 32 end - 1 of O, divided by the sum, to LDS. */
template <int begin, int end, int head, int chunks>
DEVICE void write_columns(const wave_rows<head, chunks> *w, LDS char *rows, uint32_t at, float factor, tdm_type type) {
#pragma unroll
  for (int d = begin; d < end; d++)
#pragma unroll
    for (int r = 0; r < 16; r += 4) {
      f32x4 x = {w->o[d][r], w->o[d][r + 1], w->o[d][r + 2], w->o[d][r + 3]};
      x = w->seen > 0 ? x * factor : (f32x4)0;
      *(LDS u32x2 *)(rows + (at ^ (uint32_t)((4 * (d - begin) + r / 4) * CHUNK))) = four_words_of(x, type);
    }
}

/* And from there to memory. */
template <int columns>
DEVICE void store_columns(const LDS char *rows, buffer o, uint32_t lane, const tile_source *to, uint32_t first_byte) {
#pragma unroll
  for (int n = 0; n < columns / 16; n++) {
    u32x4 words = *(const LDS u32x4 *)(rows + (n * WAVE + (int)lane) * CHUNK);
    __builtin_amdgcn_raw_buffer_store_b128(words, o, (int)(rows_offset<columns>(n, lane, to) + first_byte), 0, 0);
  }
}

template <int head, int chunks>
DEVICE void store_lds_rows(const wave_rows<head, chunks> *w, const attention_args *a, const attention_work *work, int64_t first,
                           LDS char *rows, tdm_type type) {
  uint32_t lane = (uint32_t)lane_index();
  keep_in_register(&lane); /* what depends on it is not computed before the loop, and kept */
  uint32_t row = lane % 32;
  float sum = w->sum + other_half(w->sum), factor = w->seen > 0 ? 1 / sum : 0;
  const int columns = STORED_COLUMNS<head>, of_first = (head < columns ? head : columns) / 32;
  uint32_t at = (row * columns * 2 + key_place<columns>(row) * CHUNK) + lane / 32 * 8;
  write_columns<0, of_first>(w, rows, at, factor, type);
  tile_source to = source_of(work->o + 2 * first * a->o_stride.row, a->o_stride.row, work->rows - first, a->head_dim);
  buffer o = make_short_buffer(to.base, tile_length(&to));
  store_columns<columns>(rows, o, lane, &to, 0);
  if (head > columns) {
    write_columns<of_first, head / 32>(w, rows, at, factor, type);
    to.chunks -= columns / 8;
    store_columns<columns>(rows, o, lane, &to, 2 * columns);
  }
  if (lane < 32 && first + row < work->rows) store_numbers(w, work, first + row, sum);
}

#endif
