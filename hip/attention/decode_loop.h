/* Decode on gfx950, for head_dim up to 128. A workgroup has at most 128 rows, so waves 0-3 compute, and waves 4-7 load: when
 * the vL1D has no room for a load, the wave that asks for it waits, and the others go on.
 *
 * LDS has DECODE_STAGES tiles. While one is multiplied, the next DECODE_AHEAD are on their way. There is one barrier for each
 * tile: it has arrived, and the one before it is no longer read. */
#ifndef TANDEM_HIP_ATTENTION_DECODE_LOOP_H
#define TANDEM_HIP_ATTENTION_DECODE_LOOP_H

#include "last_part.h"
#include "query_rows.h"
#include "stages.h"

#include "memory_rows.h"

enum { DECODE_AHEAD = 2, DECODE_STAGES = DECODE_AHEAD + 1, LOADING_THREADS = FAST_THREADS / 2 };
static_assert(GENERAL_ROWS <= 4 * 32, "rows for waves 0-3");

template <int head>
constexpr int DECODE_LOADS =
    (int)TILE_BYTES<head> / LOADING_THREADS / CHUNK; /* of a wave for the keys or the values of a tile */

template <int head>
struct decode_stages {
  tile<head> tiles[DECODE_STAGES];
};

/* What waves 4-7 have in registers: where the next tile is, and the lane's parts of every tile. */
template <int head>
struct decode_loads {
  coming k, v;
  uint32_t k_from[DECODE_LOADS<head>], v_from[DECODE_LOADS<head>];
  int stage;
};

/* The keys or the values of the next tile, from `c` on to LDS. */
template <int head>
DEVICE void load_half(coming *c, const uint32_t *from, LDS char *to) {
  const int wave = (wave_index() - 4) * WAVE * CHUNK;
  find_length<head>(c);
#pragma unroll
  for (int n = 0; n < DECODE_LOADS<head>; n++) load_to_lds(buffer_of(c), from[n], to + n * LOADING_THREADS * CHUNK + wave);
}

template <int head>
DEVICE void to_next(decode_loads<head> *l) {
  advance<head>(&l->k);
  advance<head>(&l->v);
  l->stage = l->stage == DECODE_STAGES - 1 ? 0 : l->stage + 1;
}

template <int head>
DEVICE void load_next(decode_loads<head> *l, LDS tile<head> *tiles) {
  LDS tile<head> *to = tiles + l->stage;
  load_half<head>(&l->k, l->k_from, to->k);
  load_half<head>(&l->v, l->v_from, to->v);
  to_next(l);
}

/* Where the lane's parts of every tile are. */
template <int head>
DEVICE void find_pieces(uint32_t *from, const tile_source *s, uint32_t place(uint32_t)) {
  const int thread = thread_index() - LOADING_THREADS;
#pragma unroll
  for (int n = 0; n < DECODE_LOADS<head>; n++) from[n] = piece_offset<head>(s, (uint32_t)(n * LOADING_THREADS + thread), place);
}

/* The first tile's loads. Of a known launch the keys are on their way before the argument has come from memory, and the values
 * wait for the loads of Q, which are needed earlier. Of others, which may have 128 rows in many units, the values come first:
 * after Q they took up to 4 % more. Returns the number of the part's keys: one at least, or the launch has none, and then the
 * buffers are empty. */
template <int head, bool known>
DEVICE int load_first(decode_loads<head> *l, const attention_first *first, LDS tile<head> *to, tdm_type type) {
  const attention_args again = known ? ask_values() : attention_args_again(), of_keys = known_args(first, type);
  if (!known) load_key_arguments(&again);
  const attention_args *a = known ? &of_keys : &again;
  const part_keys part = find_keys(a, find_place(a), type);
  const int keys = (int)in_scalar(part.keys);
  tile_source k = source_of(part.k, a->k_stride.row, keys, a->head_dim);
  l->k = coming_of<head>(&k, keys);
  find_pieces<head>(l->k_from, &k, key_place<head>);
  load_half<head>(&l->k, l->k_from, to->k);
  attention_args values = again;
  if (known) have_values(&values);
  keep_order();
  tile_source v = source_of(find_values(&values, &part, type), values.v_stride.row, keys, a->head_dim);
  l->v = coming_of<head>(&v, keys);
  find_pieces<head>(l->v_from, &v, value_place<head>);
  keep_order();
  if (known) barrier(); /* now Q is on its way, too */
  keep_order();
  load_half<head>(&l->v, l->v_from, to->v);
  keep_order();
  if (!known) barrier();
  return keys;
}

/* Waves 4-7. The second tile's loads begin after Q's: after two tiles, which fill the vL1D, Q would come 1,900 clocks later. */
template <int head>
DEVICE void load_all_keys(const attention_first *first, LDS decode_stages<head> *lds, tdm_type type) {
  LDS tile<head> *tiles = (LDS tile<head> *)lds->tiles;
  decode_loads<head> l;
  l.stage = 0;
  const int keys =
      first->known ? load_first<head, true>(&l, first, tiles, type) : load_first<head, false>(&l, first, tiles, type);
  const int count = tiles_of_keys((uint32_t)keys);
  to_next(&l);
  for (int i = 1; i < DECODE_AHEAD && i < count; i++) load_next(&l, tiles);
  for (int i = 0; i < count; i++) {
    if (i + DECODE_AHEAD <= count)
      wait_memory<(DECODE_AHEAD - 1) * 2 * DECODE_LOADS<head>>();
    else
      wait_memory<0>();
    barrier();
    if (i + DECODE_AHEAD < count) load_next(&l, tiles);
  }
}

/* A tile; `key` is its first key. masked: some rows don't see all of them. Reads of LDS are started long before their use,
 * because the SIMD has no other wave that multiplies. */
template <int head>
DEVICE void decode_tile(fast_rows<head> *w, const lane_places<head> *at, float scale, int key, bool masked, tdm_type type) {
  f32x16 s[BLOCKS<head>];
  u32x4 k[head / 16][BLOCKS<head>], v[VALUE_PRODUCTS<head>], p[STEPS<head>];
#pragma unroll
  for (int n = 0; n < SCORE_PRODUCTS<head>; n++)
    k[n / BLOCKS<head>][n % BLOCKS<head>] = read_keys(at, n % BLOCKS<head>, n / BLOCKS<head>);
  keep_order();
#pragma unroll
  for (int n = 0; n < SCORE_PRODUCTS<head>; n++) {
    const int b = n % BLOCKS<head>, i = n / BLOCKS<head>;
    s[b] = mfma(k[i][b], w->q[i], i == 0 ? (f32x16)0 : s[b], type);
  }
  if (!masked) {
#pragma unroll
    for (int n = 0; n < VALUE_PRODUCTS<head>; n++) v[n] = read_values(at, n % (head / 32), n / (head / 32));
  }
  keep_order();
  for (int b = 0; masked && b < BLOCKS<head>; b++) mask_scores(&s[b], w->seen, key + 32 * b);
  make_probabilities<BLOCKS<head>>(w, s, scale, p, type);
  if (masked) {
    multiply_values<STEPS<head>>(w, at, p, true, key, type);
    return;
  }
#pragma unroll
  for (int n = 0; n < VALUE_PRODUCTS<head>; n++)
    w->o[n % (head / 32)] = mfma(v[n], p[n / (head / 32)], w->o[n % (head / 32)], type);
}

template <int head>
DEVICE void to_next_stage(lane_places<head> *at, int *stage) {
  const bool last = *stage == DECODE_STAGES - 1;
  turn_addresses<(int)sizeof(tile<head>), DECODE_STAGES>(at->k, head / 16, last);
  turn_addresses<(int)sizeof(tile<head>), DECODE_STAGES>(at->v, head / 32, last);
  *stage = last ? 0 : *stage + 1;
}

/* Waves 0-3, of which some may have no rows. */
template <int head>
DEVICE void decode_rows(const attention_args *a, attention_work *work, LDS decode_stages<head> *lds, tdm_type type) {
  const int count = tiles_of_keys((uint32_t)work->keys);
  const int64_t first = work->first + wave_index() * 32;
  if ((uint32_t)first >= (uint32_t)work->rows) {
    for (int i = -1; i < count; i++) barrier();
    return;
  }
  LDS tile<head> *tiles = (LDS tile<head> *)lds->tiles;
  fast_rows<head> w;
  lane_places<head> at;
  const int64_t row = first + lane_index() % 32;
  coming_rows<head> q = load_rows<head>(a, work, row);
  keep_order();
  barrier();
  keep_order();
  find_results(a, work, type);
  const int whole = (int)in_scalar((uint32_t)(keys_seen_by_all(a, work, first) / FAST_KEYS));
  const int end = tiles_of_keys((uint32_t)keys_seen_by_any(a, work, first, 32)); /* the rest is hidden from all rows */
  begin_sums(&w, a, work, row);
  lane_places_of(&at, (LDS char *)tiles->k, (LDS char *)tiles->v);
  take_rows(&w, &q, a->sign);
  int i = 0, stage = 0;
  for (; i < whole; i++) {
    sync_lds();
    decode_tile(&w, &at, a->scale, i * FAST_KEYS, false, type);
    to_next_stage(&at, &stage);
  }
  for (; i < end; i++) {
    sync_lds();
    decode_tile(&w, &at, a->scale, i * FAST_KEYS, true, type);
    to_next_stage(&at, &stage);
  }
  for (; i < count; i++) sync_lds();
  store_rows(&w, a, work, first, type);
}

#endif
