/* The rows of Q and O of a wave between registers and memory, through a part of LDS of the wave's own: so that loads and stores
 * are whole lines. Included after key_tile.h and query_rows.h. */
#ifndef TANDEM_HIP_ATTENTION_LDS_ROWS_H
#define TANDEM_HIP_ATTENTION_LDS_ROWS_H

#include "hip/device/fours.h"

/* Where the parts of a wave's rows are that its lane moves between memory and LDS: place n * 64 + lane of 16 bytes. */
template <int head>
DEVICE uint32_t rows_offset(int n, uint32_t lane, const tile_source *s) {
  const int parts = WIDTH<head> / 32; /* 16 rows; then the swizzle begins again */
  return piece_offset<head>(s, (uint32_t)(n % parts * WAVE) + lane, key_place<head>) +
         (uint32_t)(n / parts * 16) * (uint32_t)s->stride;
}

#if CHIP_TRANSPOSED_LDS_READS
template <int head>
DEVICE void load_lds_rows(LDS char *rows, const attention_args *a, const attention_work *work, int64_t first) {
  tile_source from = source_of(work->q + 2 * first * a->q_stride.row, a->q_stride.row, work->rows - first, a->head_dim);
  buffer q = make_short_buffer(from.base, tile_length(&from));
#pragma unroll
  for (int n = 0; n < WIDTH<head> / 16; n++)
    buffer_load_to_lds(q, rows_offset<head>(n, (uint32_t)lane_index(), &from), rows + n * WAVE * CHUNK);
}

/* The caller has waited for the loads. */
template <int head, int chunks>
DEVICE void read_lds_rows(wave_rows<head, chunks> *w, const LDS char *rows, uint32_t sign) {
  uint32_t at = lds_address(rows) + keys_of_lane<head>();
#pragma unroll
  for (int s = 0; s < head / 16; s++) w->q[s] = lds_read_unordered(at ^ (uint32_t)(s * 2 * CHUNK), 0);
  wait_lds();
#pragma unroll
  for (int s = 0; s < head / 16; s++) w->q[s] = in_order(w->q[s]) ^ sign;
}
#endif

template <int head, int chunks>
DEVICE void store_lds_rows(const wave_rows<head, chunks> *w, const attention_args *a, const attention_work *work, int64_t first,
                           LDS char *rows, tdm_type type) {
  uint32_t lane = (uint32_t)lane_index();
  keep_in_register(&lane); /* what depends on it is not computed before the loop, and kept */
  uint32_t row = lane % 32;
  float sum = w->sum + other_half(w->sum), factor = w->seen > 0 ? 1 / sum : 0;
  uint32_t at = (row * WIDTH<head> * 2 + key_place<head>(row) * CHUNK) + lane / 32 * 8;
#pragma unroll
  for (int d = 0; d < head / 32; d++)
#pragma unroll
    for (int r = 0; r < 16; r += 4) {
      f32x4 x = {w->o[d][r], w->o[d][r + 1], w->o[d][r + 2], w->o[d][r + 3]};
      x = w->seen > 0 ? x * factor : (f32x4)0;
      *(LDS u32x2 *)(rows + (at ^ (uint32_t)((4 * d + r / 4) * CHUNK))) = four_words_of(x, type);
    }
  tile_source to = source_of(work->o + 2 * first * a->o_stride.row, a->o_stride.row, work->rows - first, a->head_dim);
  buffer o = make_short_buffer(to.base, tile_length(&to));
#pragma unroll
  for (int n = 0; n < WIDTH<head> / 16; n++) {
    u32x4 words = *(LDS u32x4 *)(rows + (n * WAVE + (int)lane) * CHUNK);
    __builtin_amdgcn_raw_buffer_store_b128(words, o, (int)rows_offset<head>(n, lane, &to), 0, 0);
  }
  if (lane < 32 && first + row < work->rows) store_numbers(w, work, first + row, sum);
}

#endif
