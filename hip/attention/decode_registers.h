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

/* What the loads of keys read. */
DEVICE attention_args args_of_keys(const attention_first *f, tdm_type type) {
  if (__builtin_expect(f->known, 1)) return known_args(f, type);
  const attention_args a = attention_args_again();
  load_key_arguments(&a);
  return a;
}

/* Waves 4-7. The first keys are on their way before the argument has come from memory. After the last tile they load nothing,
 * and write zeros to the stage that is not read: a branch would make them wait for all loads. */
template <int head>
DEVICE void load_all_keys(const attention_first *first, LDS two_stages<head> *lds, tdm_type type) {
  attention_args values = ask_values();
  const attention_args a = args_of_keys(first, type);
  const part_keys part = find_keys(&a, find_place(&a), type);
  const int keys = (int)in_scalar(part.keys), count = tiles_of_keys(part.keys);
  decode_load<head> even, odd;
  tile_source k_source = source_of(part.k, a.k_stride.row, keys, a.head_dim);
  coming k = coming_of<head>(&k_source, keys);
  key_places(&even, &k_source);
  find_length<head>(&k);
  begin_keys(&even, buffer_of(&k));
  advance<head>(&k);
  have_values(&values);
  tile_source v_source = source_of(find_values(&values, &part, type), values.v_stride.row, keys, a.head_dim);
  coming v = coming_of<head>(&v_source, keys);
  value_places(&even, &v_source);
  odd = even;
  find_length<head>(&v);
  begin_values(&even, buffer_of(&v));
  advance<head>(&v);
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

/* ---- A tile whose products and exponentials overlap, with head_dim up to 64 ----
 *
 * The SIMD has no other wave that computes, so this one does both at once: while the scores of keys 32-63 are multiplied, those
 * of keys 0-31 become probabilities; while these are multiplied by their values, keys 32-63 follow. One after the other, a tile
 * of 71 rows took 2,520 clocks, of which 1,024 are products and 512 exponentials, and its bytes take 2,080. */
enum { PAIRS = 8 }; /* pairs of scores of 32 keys */

/* Product n of a tile, in this order: scores of keys 0-31, of keys 32-63; values of 16 keys at a time. */
template <int head>
DEVICE u32x4 start_tile_read(const row_products<head> *w, int n) {
  const int chunks = head / 16, value = n - SCORE_PRODUCTS<head>;
  return value < 0 ? lds_read_unordered(w->at.k[n % chunks], n / chunks * 32 * WIDTH<head> * 2)
                   : lds_read_unordered(w->at.v[value / (head / 32)], 32 * (value % (head / 32)) * KEYS<head> * 2);
}

/* Pair i of 32 keys, whose exponents are in *x, and then the exponents of the next pair. Packed f32 waits for the matrix unit,
 * which is done with its product after the two exponentials. */
DEVICE f32x2 exponents_of_pair(const f32x16 *s, int i, float scale, float base) {
  return __builtin_elementwise_fma((f32x2){(*s)[2 * i], (*s)[2 * i + 1]}, (f32x2)scale, (f32x2)-base);
}
DEVICE void exponentials_of_pair(const f32x16 *s, f32x2 *x, u32x4 *p, int i, float scale, float base, f32x2 *sum,
                                 tdm_type type) {
  f32x2 y = {__builtin_amdgcn_exp2f((*x)[0]), __builtin_amdgcn_exp2f((*x)[1])};
  keep_order();
  *sum += y;
  p[i / 4][i % 4] = pack_two(y[0], y[1], type);
  if (i + 1 < PAIRS) *x = exponents_of_pair(s, i + 1, scale, base);
  keep_order();
}

/* A tile that all rows see whole, and whose reference is there. */
template <int head>
DEVICE void decode_whole_tile(row_products<head> *w, float scale, tdm_type type) {
  const int scores = SCORE_PRODUCTS<head>, all = scores + VALUE_PRODUCTS<head>, half = VALUE_PRODUCTS<head> / 2;
  u32x4 x[all];
  f32x2 sums[BLOCKS<head>] = {}, exponents;
  sync_lds();
  keep_order();
#pragma unroll
  for (int n = 0; n < READS_AHEAD; n++) x[n] = start_tile_read(w, n);
#pragma unroll
  for (int n = 0; n < all; n++) {
    const int value = n - scores, d = value % (head / 32), started = n + READS_AHEAD < all ? n + READS_AHEAD : all;
    if (n == scores || n == scores + half) { /* all probabilities of a block are there */
      const int b = n == scores ? 0 : 1;
      add_tile_sum<1>(w, &w->grows, w->s + b, w->p + 2 * b, sums[b][0] + sums[b][1], scale, type);
      keep_order();
      w->p[2 * b] = in_order(w->p[2 * b]);
      w->p[2 * b + 1] = in_order(w->p[2 * b + 1]);
    }
    wait_lds_but(started - n - 1); /* product n has what it reads */
    keep_order();
    x[n] = in_order(x[n]);
#pragma unroll
    for (int part = 0; part < mfma_parts(type); part++) {
      if (value < 0)
        w->s[n / (head / 16)] = mfma_part(x[n], w->q[n % (head / 16)],
                                          n % (head / 16) == 0 && part == 0 ? (f32x16)0 : w->s[n / (head / 16)], type, part);
      else
        w->o[d] = mfma_part(x[n], w->p[value / (head / 32)], w->o[d], type, part);
      keep_order();
      /* After product m of `of`: the scores of keys 32-63, or half of the values. */
      const int b = value < 0 ? 0 : 1, of = half * mfma_parts(type);
      const int m = (value < 0 ? n - scores / 2 : value) * mfma_parts(type) + part;
      if (m >= 0 && m < of) {
#pragma unroll
        for (int i = m * PAIRS / of; i < (m + 1) * PAIRS / of; i++) {
          if (i == 0) exponents = exponents_of_pair(&w->s[b], 0, scale, w->base);
          exponentials_of_pair(&w->s[b], &exponents, w->p + 2 * b, i, scale, w->base, &sums[b], type);
        }
      }
    }
    if (value < 0)
      w->s[n / (head / 16)] = in_order(w->s[n / (head / 16)]);
    else
      w->o[d] = in_order(w->o[d]);
    if (n + READS_AHEAD < all) x[n + READS_AHEAD] = start_tile_read(w, n + READS_AHEAD);
    keep_order();
  }
  other_stage<head>(w->at.k, head / 16);
  other_stage<head>(w->at.v, STEPS<head>);
}

/* A tile; `key` is its first key. masked: some rows don't see all of them. */
template <int head>
DEVICE void decode_tile(row_products<head> *w, float scale, int key, bool masked, tdm_type type) {
  const int scores = SCORE_PRODUCTS<head>, all = scores + VALUE_PRODUCTS<head>;
  sync_lds();
  multiply(w, 0, scores, false, type);
  for (int b = 0; masked && b < BLOCKS<head>; b++) mask_scores(&w->s[b], w->seen, key + 32 * b);
  settle_reference<BLOCKS<head>>(w, &w->grows, w->s, scale, key == 0);
  float sum = exponentials<BLOCKS<head>>(w->s, scale, w->base, w->p, type);
  add_tile_sum<BLOCKS<head>>(w, &w->grows, w->s, w->p, sum, scale, type);
#pragma unroll
  for (int i = 0; i < STEPS<head>; i++) w->p[i] = in_order(w->p[i]);
  if (masked)
    multiply_values<STEPS<head>>(w, &w->at, w->p, true, key, type);
  else
    multiply(w, scores, all, false, type);
  other_stage<head>(w->at.k, head / 16);
  other_stage<head>(w->at.v, STEPS<head>);
}

/* Waves 0-3, of which some may have no rows. */
template <int head>
DEVICE void decode_rows(const attention_args *a, attention_work *work, LDS two_stages<head> *lds, tdm_type type) {
  const int count = tiles_of_keys((uint32_t)work->keys);
  const int64_t first = work->first + wave_index() * 32;
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
  find_results(a, work, type);
  const int whole = (int)in_scalar((uint32_t)(keys_seen_by_all(a, work, first) / FAST_KEYS));
  const int end = tiles_of_keys((uint32_t)keys_seen_by_any(a, work, first, 32)); /* the rest is hidden from all rows */
  begin_sums(&w, a, work, row);
  w.grows = false;
  lane_places_of(&w.at, (LDS char *)lds->k[0], (LDS char *)lds->v[0]);
  take_rows(&w, &q, a->sign);
  int i = 0;
  while (i < whole) {
    decode_tile(&w, a->scale, i++ * FAST_KEYS, false, type);
    if constexpr (head <= 64) /* the others have no registers for it */
      for (; i < whole && !w.grows; i++) decode_whole_tile(&w, a->scale, type);
  }
  for (; i < end; i++) decode_tile(&w, a->scale, i * FAST_KEYS, true, type);
  for (; i < count; i++) sync_lds();
  store_rows(&w, a, work, first, type);
}

#endif
