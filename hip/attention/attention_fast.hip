/* Flash attention for head_dim 64 and 128 of f16 and bf16: 8 waves, each with 32 rows of queries, walk over tiles of 64 keys.
 *
 *   S' = K Q'                        32 keys x 32 queries an instruction; transposed, so that a lane has one query
 *   P' = 2^(scale S' - reference)    scale has the factor log2(e)
 *   O' += V' P'                      the lane has the probabilities where the instruction wants them: nothing moves
 *
 * Tiles come in turns into two places of LDS: one is read while the other is loaded, with one barrier a tile. */
#include "tile.h"

#include "rows.h"

enum { BLOCKS = FAST_KEYS / 32, STEPS = FAST_KEYS / 16 }; /* of a tile: instructions along the keys, in each product */

template <int head>
using fast_rows = wave_rows<head, head / 16>;

template <int head>
DEVICE void begin_rows(fast_rows<head> *w, const attention_args *a, const attention_work *work, int64_t first) {
  int64_t row = first + lane_index() % 32, inside = row < a->sq ? row : a->sq - 1; /* what is beyond is not stored */
  const char *q = work->q + 2 * inside * a->q_stride.row + lane_index() / 32 * CHUNK;
#pragma unroll
  for (int s = 0; s < head / 16; s++) w->q[s] = *(const u32x4 *)(q + s * 2 * CHUNK) ^ a->sign;
  begin_sums(w, a, row);
}

/* One tile of keys, the first of them `key`. masked: some rows don't see all of them. */
template <int head>
DEVICE void add_tile(fast_rows<head> *w, lane_place t, float scale, int key, bool masked, tdm_type type) {
  f32x16 s[BLOCKS];
#pragma unroll
  for (int b = 0; b < BLOCKS; b++) s[b] = 0;
#pragma unroll
  for (int i = 0; i < head / 16; i++) {
    if (i % 2 == 0) keep_order(); /* as in multiply_all */
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) s[b] = mfma_32x32(read_keys<head>(t, b, i), w->q[i], s[b], type);
  }
  for (int b = 0; masked && b < BLOCKS; b++) mask_scores(&s[b], w->seen, key + 32 * b);
  follow(w, scores_max<BLOCKS>(s) * scale);
  u32x4 p[STEPS];
  make_probabilities<BLOCKS>(w, s, scale, p, type);
  multiply_values<STEPS>(w, t, p, masked, w->seen - key, type);
}

template <int head>
DEVICE void store_rows(const fast_rows<head> *w, const attention_args *a, const attention_work *work, int64_t first,
                       tdm_type type) {
  int64_t row = first + lane_index() % 32;
  float sum = w->sum + other_half(w->sum);
  if (row >= a->sq) return;
  char *o = work->o + 2 * row * a->o_stride.row + lane_index() / 32 * 8;
#pragma unroll
  for (int d = 0; d < head / 32; d++)
#pragma unroll
    for (int r = 0; r < 16; r += 4) {
      f32x4 x = {w->o[d][r], w->o[d][r + 1], w->o[d][r + 2], w->o[d][r + 3]};
      store_four(o, 32 * d + row_of(r), w->seen > 0 ? x * (1 / sum) : (f32x4)0, type);
    }
  if (work->lse != nullptr && lane_index() < 32) work->lse[row] = log_sum(w->reference, sum);
}

template <int head>
DEVICE void fast_body(const attention_args *a, LDS tile<head> *tiles, tdm_type type) {
  attention_work work = find_work(a, FAST_ROWS, type);
  int64_t first = work.first + wave_index() * 32;
  int whole = (int)(keys_seen(a, first) / FAST_KEYS); /* tiles that all of the wave's rows see */
  int end = (int)((keys_seen_by_any(a, first, 32) + FAST_KEYS - 1) / FAST_KEYS);
  int count = (int)((keys_seen_by_any(a, work.first, FAST_ROWS) + FAST_KEYS - 1) / FAST_KEYS);
  fast_rows<head> w;
  tile_source k = source_of(work.k, a->k_stride.row, a->skv, head), v = source_of(work.v, a->v_stride.row, a->skv, head);
  tile_load<head> load;
  lane_place lane = {lds_address(tiles->k) + keys_of_lane<head>(), lds_address(tiles->v) + values_of_lane<head>()};
  begin_rows(&w, a, &work, first);
  if (count > 0) {
    tile_begin(&load, tiles, &k, &v);
    tile_finish(&load, tiles);
  }
  for (int i = 0; i < count; i++) {
    LDS tile<head> *other = tiles + (i + 1) % 2;
    lane_place now = of_tile(lane, (uint32_t)(i % 2) * (uint32_t)sizeof(tile<head>));
    tile_arrived();
    next_tile(&k);
    next_tile(&v);
    if (i + 1 < count) tile_begin(&load, other, &k, &v);
    if (i < end) add_tile(&w, now, a->scale, i * FAST_KEYS, i >= whole, type);
    if (i + 1 < count) tile_finish(&load, other);
  }
  store_rows(&w, a, &work, first, type);
}

#define FAST_KERNEL(name, head, type, waves)                          \
  KERNEL WORKGROUP(FAST_THREADS, waves) void name(attention_args a) { \
    SHARED tile<head> tiles[2];                                       \
    fast_body<head>(&a, (LDS tile<head> *)tiles, type);               \
  }
FAST_KERNEL(flash64_f16, 64, TDM_F16, 2)
FAST_KERNEL(flash64_bf16, 64, TDM_BF16, 2)
FAST_KERNEL(flash128_f16, 128, TDM_F16, 2)
FAST_KERNEL(flash128_bf16, 128, TDM_BF16, 2)
