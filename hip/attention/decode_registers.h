/* Decode on a chip whose loads go through registers to LDS, for head_dim up to 128, as in decode_loop.h: waves 0-3 compute, and
 * waves 4-7 load.
 *
 * LDS has two stages. While tile i is multiplied, tile i + 1 is written to the other stage, and tiles i + 2 and i + 3 are on
 * their way to registers. There is one barrier for each tile: it is in LDS, and the one before it is no longer read. */
#ifndef TANDEM_HIP_ATTENTION_DECODE_REGISTERS_H
#define TANDEM_HIP_ATTENTION_DECODE_REGISTERS_H

#include "last_part.h"
#include "register_loads.h"

enum { LOADING_THREADS = FAST_THREADS / 2 };
static_assert(GENERAL_ROWS <= 4 * 32, "rows for waves 0-3");

template <int head>
using decode_stages = two_stages<head>;

template <int head>
using decode_load = tile_load<head, LOADING_THREADS>;

template <int head>
DEVICE void load_next(decode_load<head> *load, coming *k, coming *v) {
  find_length<head>(k);
  find_length<head>(v);
  begin_keys(load, buffer_of(k));
  begin_values(load, buffer_of(v));
  advance<head>(k);
  advance<head>(v);
}

template <int head>
DEVICE void write_next(const decode_load<head> *load, LDS two_stages<head> *lds, int stage) {
  finish_keys(load, (LDS char *)lds->k[stage]);
  finish_values(load, (LDS char *)lds->v[stage]);
}

/* Waves 4-7. After the last tile they load nothing, and write zeros to the stage that is not read: a branch would make them
 * wait for all loads. */
template <int head>
DEVICE void load_all_keys(const attention_args *a, const attention_work *work, LDS two_stages<head> *lds, int count) {
  const int keys = (int)in_scalar((uint32_t)work->keys);
  tile_source k_source = source_of(work->k, a->k_stride.row, work->keys, a->head_dim),
              v_source = source_of(work->v, a->v_stride.row, work->keys, a->head_dim);
  coming k = coming_of<head>(&k_source, keys), v = coming_of<head>(&v_source, keys);
  decode_load<head> even, odd;
  tile_places(&even, &k_source, &v_source);
  odd = even;
  load_next(&even, &k, &v);
  barrier(); /* now Q is on its way too: as in decode_loop.h */
  load_next(&odd, &k, &v);
  write_next(&even, lds, 0);
  load_next(&even, &k, &v);
  for (int i = 0; i < count; i += 2) {
    sync_lds();
    write_next(&odd, lds, 1);
    load_next(&odd, &k, &v);
    if (i + 1 == count) break;
    sync_lds();
    write_next(&even, lds, 0);
    load_next(&even, &k, &v);
  }
}

/* A tile; `key` is its first key. masked: some rows don't see all of them. */
template <int head>
DEVICE void decode_tile(row_products<head> *w, float scale, int key, bool masked, tdm_type type) {
  const int scores = SCORE_PRODUCTS<head>, all = scores + VALUE_PRODUCTS<head>;
  sync_lds();
  multiply(w, 0, scores, false, type);
  for (int b = 0; masked && b < BLOCKS; b++) mask_scores(&w->s[b], w->seen, key + 32 * b);
  settle_reference<BLOCKS>(w, &w->grows, w->s, scale, key == 0);
  float sum = exponentials<BLOCKS>(w->s, scale, w->base, w->p, type);
  add_tile_sum<BLOCKS>(w, &w->grows, w->s, w->p, sum, scale, type);
#pragma unroll
  for (int i = 0; i < STEPS; i++) w->p[i] = in_order(w->p[i]);
  if (masked)
    multiply_values<STEPS>(w, &w->at, w->p, true, w->seen - key, type);
  else
    multiply(w, scores, all, false, type);
  other_stage<head>(w->at.k, head / 16);
  other_stage<head>(w->at.v, STEPS);
}

/* Waves 0-3, of which some may have no rows. */
template <int head>
DEVICE void decode_rows(const attention_args *a, const attention_work *work, LDS two_stages<head> *lds, int count,
                        tdm_type type) {
  const int64_t first = wave_index() * 32;
  if ((uint32_t)first >= (uint32_t)work->rows) {
    for (int i = -1; i < count; i++) barrier();
    return;
  }
  row_products<head> w;
  const int64_t row = first + lane_index() % 32;
  coming_rows<head> q = load_rows<head>(a, work, row);
  keep_order();
  barrier();
  keep_order();
  const int whole = (int)in_scalar((uint32_t)(keys_seen_by_all(a, work, first) / FAST_KEYS));
  begin_sums(&w, a, work, row);
  w.grows = false;
  lane_places_of(&w.at, (LDS char *)lds->k[0], (LDS char *)lds->v[0]);
  take_rows(&w, &q, a->sign);
  int i = 0;
  for (; i < whole; i++) decode_tile(&w, a->scale, i * FAST_KEYS, false, type);
  for (; i < count; i++) decode_tile(&w, a->scale, i * FAST_KEYS, true, type);
  store_rows(&w, a, work, first, type);
}

#endif
