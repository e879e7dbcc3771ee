/* The results of a wave whose values are not finite, for the loops of two groups of waves (ping_pong.h,
 * register_loads.h).
 *
 * A product of the probability 0 with NaN or infinity is NaN, and stays it. The loop multiplies tiles that some query does not
 * see whole as any other tile, and a wave with NaN in its results computes them again here, with keys and values from memory:
 * a value counts only for the queries that see it. That is slow, and rare. To look at the values before the first tile took
 * each causal workgroup 3,000 to 6,000 clocks: they were 64 KiB with head_dim 128, and came before the tiles. */
#ifndef TANDEM_HIP_ATTENTION_SEEN_VALUES_H
#define TANDEM_HIP_ATTENTION_SEEN_VALUES_H

#include "slots.h"

/* Is a result of a query that sees any key NaN? */
template <int head, int chunks>
DEVICE bool found_nan(const wave_rows<head, chunks> *w) {
  bool odd = false;
#pragma unroll
  for (int d = 0; d < head / 32; d++)
#pragma unroll
    for (int r = 0; r < 16; r += 2) odd |= __builtin_isunordered(w->o[d][r], w->o[d][r + 1]);
  return __builtin_amdgcn_ballot_w64(odd && w->seen > 0) != 0;
}

/* 32 keys' values in memory. */
template <int head>
struct values_in_memory {
  buffer v;
  uint32_t row, columns; /* bytes from one row to the next; columns of a row */
};

template <int head>
DEVICE u32x4 read_values_of_step(const values_in_memory<head> *at, int block, int s) {
  const uint32_t column = (uint32_t)(32 * block + lane_index() % 32), key = (uint32_t)(16 * s + lane_index() / 32 * 4);
  const uint32_t from = column < at->columns ? key * at->row + column * 2 : NOT_IN_TILE;
  u32x4 x = 0;
#pragma unroll
  for (int n = 0; n < 8; n++) {
    const uint16_t value =
        (uint16_t)__builtin_amdgcn_raw_buffer_load_b16(at->v, (int)(from + (uint32_t)(n / 4 * 8 + n % 4) * at->row), 0, 0);
    x[n / 2] |= (uint32_t)value << n % 2 * 16;
  }
  return x;
}

/* The buffer of the rows from `row` on. */
DEVICE buffer rows_from(const tile_source *s, int64_t row) {
  const tile_source rest = {s->base + row * s->stride, s->stride, s->left - row * s->stride, s->chunks};
  return make_short_buffer(rest.base, tile_length(&rest));
}

/* Queries come from memory too: with 192 columns no registers are left to keep them until the end. */
template <int head, bool units>
DEVICE void compute_seen(wave_rows<head, head / 16> *w, tdm_type type) {
  const attention_args a = attention_args_again();
  const attention_work work = find_queries<units>(&a, type);
  const int64_t first = work.first, keys = keys_seen_by_any(&a, &work, first, 32);
  const tile_source q = source_of(work.q + 2 * first * a.q_stride.row, a.q_stride.row, work.rows - first, a.head_dim);
  const tile_source k = source_of(work.k, a.k_stride.row, work.keys, a.head_dim),
                    v = source_of(work.v, a.v_stride.row, work.keys, a.head_dim);
  uint32_t lane = (uint32_t)lane_index();
  keep_in_register(&lane);
  begin_sums(w, &a, &work, first + lane % 32);
#pragma nounroll
  for (int64_t key = 0; key < keys; key += 32) {
    const buffer queries = rows_from(&q, 0), from = rows_from(&k, key);
    f32x16 s = 0;
#pragma unroll
    for (uint32_t i = 0; i < head / 16; i++) {
      const uint32_t chunk = 2 * i + lane / 32;
      const uint32_t none = chunk < k.chunks ? 0 : NOT_IN_TILE, at = chunk * CHUNK;
      const u32x4 row = buffer_load(queries, none | (lane % 32 * (uint32_t)q.stride + at));
      keep_order(); /* one chunk at a time */
      s = mfma(buffer_load(from, none | (lane % 32 * (uint32_t)k.stride + at)), row ^ a.sign, s, type);
    }
    mask_scores(&s, w->seen, (int)key);
    u32x4 p[2];
    float factor;
    const float sum = repeat_tile<1>(w, &s, p, a.scale, &factor, type);
    rescale(w, factor);
    w->sum += sum;
    const values_in_memory<head> values = {rows_from(&v, key), (uint32_t)v.stride, (uint32_t)a.head_dim};
    multiply_seen<2>(w, &values, p, (int)key, type);
  }
}

#endif
