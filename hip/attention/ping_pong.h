/* The loop over tiles of keys on gfx950, by two groups of waves that alternate: while one multiplies, the other one turns
 * scores into probabilities. docs/attention.md explains it with its clocks.
 *
 *   slot        |  1   |  2   |  3   |  4   |  5   | ...
 *   waves 0-3   | M(0) | S(0) | M(1) | S(1) | M(2) |       M(i): S' = K(i) Q', then O' += V(i - 1)' P(i - 1)'
 *   waves 4-7   |      | M(0) | S(0) | M(1) | S(1) |       S(i): P(i) from S'
 *          each | is a barrier of all 8 waves
 *
 * Waves w and w + 4 share a SIMD. A slot has the products of a whole tile (1024 clocks with head_dim 128; 640 and 768 with 160
 * and 192, whose tiles have 32 keys), and the exponentials of the other group's tile are issued between them. S(i) reads the
 * first chunks of K(i + 1) from LDS, M(i) the others and V(i - 1). M(i) also starts to load K(i + 2) and V(i + 1).
 *
 * LDS has three stages of keys and three of values, and each wave's own rows of Q, which become its rows of O.
 *
 *   May a stage be overwritten?  K(i - 1) is read for the last time in M(i - 1) of waves 4-7, one slot before M(i) of waves 0-3
 *                                asks for K(i + 2); and V(i - 2) too.
 *   Has it arrived?              At the end of S(i) a wave waits for its part of K(i + 2), and at the end of M(i + 1) for that
 *                                of V(i + 1). The slot's barrier says the same of all waves. So a tile of keys has 2 slots
 *                                to arrive, and a tile of values 3. */
#ifndef TANDEM_HIP_ATTENTION_PING_PONG_H
#define TANDEM_HIP_ATTENTION_PING_PONG_H

#include "stages.h"

#include "seen_values.h"
#include "unit_parts.h"

template <int head>
using flash_stages = stages<head>;

/* ---- The multiplying slot ---- */

/* A slot reads the other keys, then values, of which two reads make a chunk. Two SIMDs have 8 reads on their way at most, about
 * one in 8 clocks, so the reads are spread evenly: with two after each of the first products, and none later, reads waited for
 * room, and products for reads. A slot of head_dim 128 took 1,245 clocks, and takes 1,092. The last read starts a step of
 * values before the end, and in tiles of 32 keys three products before it: of three to five, three took the fewest
 * predicted clocks. How many reads are started before product `n`: */
template <int head>
DEVICE constexpr int started_reads(int n) {
  const int all = LATE_KEYS<head> + VALUE_READS<head>,
            last = SCORE_PRODUCTS<head> + VALUE_PRODUCTS<head> - (BLOCKS<head> == 2 ? head / 32 : 3);
  const int reads = (n * all + last - 1) / last;
  return reads < all ? reads : all;
}

/* And how many of them product n needs. */
template <int head>
DEVICE constexpr int needed_reads(int n) {
  const int before = SCORE_PRODUCTS<head>;
  return n >= before            ? LATE_KEYS<head> + (n - before + 1) * 2
         : n < EARLY_KEYS<head> ? 0
                                : (n / BLOCKS<head> + 1) * BLOCKS<head> - EARLY_KEYS<head>;
}
template <int head>
DEVICE constexpr bool reads_in_time(void) {
  for (int n = 0; n < SCORE_PRODUCTS<head> + VALUE_PRODUCTS<head>; n++)
    if (needed_reads<head>(n) > started_reads<head>(n)) return false;
  return true;
}

/* Each address moves to the next stage after its last read. */
template <int head>
DEVICE void start_reads(pong<head> *w, u32x4 *v, int begin, int end) {
  static_assert(reads_in_time<head>(), "a product waits for a read that comes after it");
#pragma unroll
  for (int n = begin; n < end; n++) {
    if (n < LATE_KEYS<head>) {
      const int key = EARLY_KEYS<head> + n;
      start_key_reads(w, key, key + 1);
      if ((key + 1) % BLOCKS<head> == 0)
        turn_addresses<TILE_BYTES<head>>(w->at.k + key / BLOCKS<head>, 1, w->turn == STAGES - 1);
    } else if (v != nullptr) {
      const int half = (n - LATE_KEYS<head>) % 2, chunk = (n - LATE_KEYS<head>) / 2, step = chunk / (head / 32),
                d = chunk % (head / 32);
      u32x2 words = lds_read_transposed_unordered(w->at.v[d], (16 * step + 8 * half) * WIDTH<head> * 2);
      v[chunk][2 * half] = words[0];
      v[chunk][2 * half + 1] = words[1];
      if (half == 1 && chunk + head / 32 >= VALUE_PRODUCTS<head>) /* from the stage before this tile's */
        turn_addresses<TILE_BYTES<head>>(w->at.v + d, 1, w->turn == 0);
    }
  }
}

/* S' of a tile of keys. v: reads of values that are started meanwhile, or NULL. */
template <int head>
DEVICE void multiply_keys(pong<head> *w, u32x4 *v, tdm_type type) {
  set_priority<1>();
#pragma unroll
  for (int n = 0; n < SCORE_PRODUCTS<head>; n++) {
    const int b = n % BLOCKS<head>, i = n / BLOCKS<head>;
    keep_order();
    if (b == 0 && needed_reads<head>(n) > 0) {
      const int most = v == nullptr && started_reads<head>(n) > LATE_KEYS<head> ? LATE_KEYS<head> : started_reads<head>(n);
      wait_lds_but(most - needed_reads<head>(n));
#pragma unroll
      for (int b = 0; b < BLOCKS<head>; b++) w->k[b][i] = in_order(w->k[b][i]);
      keep_order();
    }
    w->s[b] = in_order(mfma(w->k[b][i], w->q[i], i == 0 ? (f32x16)0 : w->s[b], type));
    start_reads(w, v, started_reads<head>(n), started_reads<head>(n + 1));
#pragma unroll
    for (int part = parts_before<head>(n); part < parts_before<head>(n + 1); part++) load_part(w, part);
  }
  keep_order();
}

/* Ends the slot: for this wave, the values that the next one multiplies have arrived; the other group has its probabilities.
 * last: of the launch's slots; no wave waits for its end. */
template <int head>
DEVICE void end_multiplying(bool last = false) {
  keep_order();
  wait_memory<2 * LOADS<head>>();
  keep_order();
  if (!last) barrier();
  keep_order();
}

/* O' += V' P' of the tile before. The last product comes after the slot's barrier, so that the matrix unit has work
 * while one group hands over to the other. */
template <int head>
DEVICE void multiply_tile(pong<head> *w, u32x4 *v, tdm_type type, bool last = false) {
  const int before = SCORE_PRODUCTS<head>, all = before + VALUE_PRODUCTS<head>, of_step = head / 32;
#pragma unroll
  for (int i = before; i < all; i++) {
    const int d = (i - before) % of_step, step = (i - before) / of_step;
    wait_lds_but(started_reads<head>(i) - needed_reads<head>(i));
    if (i == all - 1) end_multiplying<head>(last); /* nothing of its stages is on its way any more */
    keep_order();
    v[i - before] = in_order(v[i - before]);
    w->o[d] = in_order(mfma(v[i - before], w->p[step], w->o[d], type));
    start_reads(w, v, started_reads<head>(i), started_reads<head>(i + 1));
  }
  keep_order();
}

/* M(i) for a tile of keys and the tile before it, whose values every query of the wave sees. */
template <int head>
DEVICE void multiply_slot(pong<head> *w, tdm_type type) {
  u32x4 v[VALUE_PRODUCTS<head>];
  multiply_keys(w, v, type);
  multiply_tile(w, v, type);
}

/* ---- The slot of probabilities ---- */

/* Packed f32 waits for the matrix unit, which the other group uses. So only these last pairs of a tile are packed, where the
 * VALU has more to do than the matrix unit. */
enum { PACKED = 2 };

/* S(i): `next` has the keys of the next tile, which are read one by one, because the other group reads, too; key: the first of
 * this one. Pairs of scores go through three steps: an instruction for a pair comes between those for two others, so that none
 * waits for the one before. As a function of its own, this loop took up to a third longer: clang placed registers otherwise. */
template <int head>
DEVICE void probability_slot(pong<head> *w, float scale, int key, bool masked, bool first, tdm_type type) {
  keep_order();
  set_priority<0>();
  if (masked)
    for (int b = 0; b < BLOCKS<head>; b++) mask_scores(&w->s[b], w->seen, key + 32 * b);
  settle_reference<BLOCKS<head>>(w, &w->grows, w->s, scale, first);
  w->turn = w->turn == STAGES - 1 ? 0 : w->turn + 1;
  const int pairs = 4 * STEPS<head>, packed_from = head <= 64 ? pairs - PACKED : pairs;
  f32x2 sums;
  f32x2 x[pairs];
#pragma unroll
  for (int k = 0; k < pairs + 2; k++) {
    keep_order();
    if (k < pairs) {
      start_key_reads(w, EARLY_KEYS<head> * k / pairs, EARLY_KEYS<head> * (k + 1) / pairs);
      x[k] = (f32x2){w->s[k / 8][k % 8 * 2], w->s[k / 8][k % 8 * 2 + 1]};
      if (k < packed_from)
        x[k] = (f32x2){__builtin_fmaf(x[k][0], scale, -w->base), __builtin_fmaf(x[k][1], scale, -w->base)};
      else
        x[k] = __builtin_elementwise_fma(x[k], (f32x2)scale, (f32x2)-w->base);
    }
    const int e = k - 1, sum = k - 2;
    if (e >= 0 && e < pairs) x[e] = (f32x2){__builtin_amdgcn_exp2f(x[e][0]), __builtin_amdgcn_exp2f(x[e][1])};
    if (sum == 0) sums = x[0];
    if (sum > 0 && sum < packed_from) add_unpacked(&sums, x[sum]);
    if (sum >= packed_from) sums += x[sum];
    if (sum >= 0) w->p[sum / 4][sum % 4] = pack_two(x[sum][0], x[sum][1], type);
  }
  float sum = sums[0] + sums[1];
  keep_order();
  turn_addresses<TILE_BYTES<head>>(w->at.k, EARLY_KEYS<head> / BLOCKS<head>, w->turn == STAGES - 1);
  wait_lds();
  take_keys(w);
  keep_order();
  add_tile_sum<BLOCKS<head>>(w, &w->grows, w->s, w->p, sum, scale, type);
#pragma unroll
  for (int i = 0; i < STEPS<head>; i++) w->p[i] = in_order(w->p[i]);
  keep_order();
  wait_memory<LOADS<head>>();
  keep_order();
  barrier();
  keep_order();
}

/* ---- The loop ---- */

/* The wave's rows of Q, to its part of LDS. Columns from 128 on come to stages that values are not loaded to before all waves
 * have read theirs. */
enum { MORE_COLUMNS = 64 };
template <int head>
DEVICE LDS char *more_rows(LDS flash_stages<head> *lds) {
  static_assert(head <= STORED_COLUMNS<head> + MORE_COLUMNS, "all columns");
  return (LDS char *)lds->v[1] + wave_index() * (32 * MORE_COLUMNS * 2);
}
template <int head>
constexpr int QUERY_LOADS = STORED_COLUMNS<head> / 16 + (head > STORED_COLUMNS<head> ? MORE_COLUMNS / 16 : 0); /* of a wave */
template <int head>
DEVICE void load_queries(LDS flash_stages<head> *lds, const attention_args *a, const attention_work *work, int64_t first) {
  load_lds_rows<STORED_COLUMNS<head>>((LDS char *)lds->rows[wave_index()], a, work, first, 0);
  if (head > STORED_COLUMNS<head>) load_lds_rows<MORE_COLUMNS>(more_rows(lds), a, work, first, STORED_COLUMNS<head>);
}
template <int head>
DEVICE void take_queries(pong<head> *w, uint32_t sign) {
  const int most = STORED_COLUMNS<head> / 16, chunks = head / 16;
  start_row_reads<STORED_COLUMNS<head>>(w->q, (LDS char *)w->lds->rows[wave_index()], chunks < most ? chunks : most);
  if (chunks > most) start_row_reads<MORE_COLUMNS>(w->q + most, more_rows(w->lds), chunks - most);
  take_row_reads(w, sign);
}

/* M(i) and S(i) of a wave whose queries see nothing of tile i. */
template <int head>
DEVICE void idle_slots(pong<head> *w) {
  settle(&w->next);
  load_tiles(w);
  end_multiplying<head>();
  wait_memory<LOADS<head>>();
  keep_order();
  barrier();
}

/* After the first keys. */
template <int head>
DEVICE void load_second_tiles(pong<head> *w) {
  keep_order();
  load_part(w, NEXT_KEYS);
  load_part(w, NEXT_ROWS);
  load_part(w, NEXT_STAGE);
  load_tiles(w);
  keep_order();
}

/* Waits for the first keys and the queries, whose loads are on their way in waves 0-3.
 *
 * The vL1D has room for half of a workgroup's queries of head_dim 128, and waves 4-7 need theirs a slot later. So they ask for
 * them after the others, and do not wait for them before the first slot; but columns from 128 on are where the first slot loads
 * values to. */
template <int head>
DEVICE void begin_loop(pong<head> *w, const attention_args *a, const attention_work *work, int64_t first, int group) {
  const bool later = head <= STORED_COLUMNS<head>;
  keep_order();
  if (group == 1) {
    barrier();
    load_queries(w->lds, a, work, first);
    if (later) {
      keep_order();
      wait_memory<QUERY_LOADS<head>>();
      barrier();
    }
    load_second_tiles(w);
  }
  wait_memory<2 * LOADS<head>>();
  keep_order();
  take_queries(w, a->sign);
  if (group == 0 || !later) barrier(); /* the first keys have arrived for all waves */
  start_key_reads(w, 0, EARLY_KEYS<head>);
  w->turn = 0;
  turn_addresses<TILE_BYTES<head>>(w->at.k, EARLY_KEYS<head> / BLOCKS<head>, false);
  wait_lds();
  take_keys(w);
}

template <int head, bool units>
DEVICE void flash_body(const attention_args *a, LDS flash_stages<head> *lds, tdm_type type) {
  const attention_work work = find_queries<units>(a, type);
  const int64_t first = work.first;
  pong<head> w;
  w.lds = lds;
  tile_source k = source_of(work.k, a->k_stride.row, work.keys, a->head_dim),
              v = source_of(work.v, a->v_stride.row, work.keys, a->head_dim);
  uint32_t part = lds_address(lds->k[0]) + (uint32_t)wave_index() * WAVE * CHUNK;
  w.next = (next_tiles){in_scalars(k.base),
                        in_scalars(v.base),
                        KEYS<head> * k.stride,
                        KEYS<head> * v.stride,
                        (uint32_t)k.stride,
                        (uint32_t)v.stride,
                        (uint32_t)(2 * a->head_dim - k.stride),
                        (uint32_t)(2 * a->head_dim - v.stride),
                        0,
                        (int)in_scalar((uint32_t)work.keys),
                        0,
                        0,
                        part,
                        part,
                        part + (STAGES - 1) * TILE_BYTES<head>};
  w.next.rows = w.next.left > KEYS<head> ? KEYS<head> : w.next.left;
  w.grows = false;
#pragma unroll
  for (int n = 0; n < LOADS<head>; n++) {
    w.k_from[n] = piece_offset<head>(&k, (uint32_t)(n * FAST_THREADS + thread_index()), key_place<head>);
    w.v_from[n] = piece_offset<head>(&v, (uint32_t)(n * FAST_THREADS + thread_index()), value_place<head>);
    keep_in_register(&w.k_from[n]);
    keep_in_register(&w.v_from[n]);
  }
  const int group = wave_index() / 4;
  load_part(&w, KEYS_LENGTH);
  load_part(&w, FIRST_OF_KEYS);
  load_part(&w, SECOND_OF_KEYS);
  keep_order();
  if (group == 0) {
    load_queries(lds, a, &work, first);
    keep_order();
    barrier();
    load_second_tiles(&w);
  }
  int whole = (int)in_scalar(
      (uint32_t)(keys_seen_by_all(a, &work, first) / KEYS<head>)); /* tiles that all of the wave's rows see completely */
  int end = (int)in_scalar((uint32_t)((keys_seen_by_any(a, &work, first, 32) + KEYS<head> - 1) / KEYS<head>));
  int count = (int)in_scalar((uint32_t)((keys_seen_by(a, &work, work.last) + KEYS<head> - 1) / KEYS<head>));
  lane_places_of(&w.at, (LDS char *)lds->k[0], (LDS char *)lds->v[0]);
  begin_sums(&w, a, &work, first + lane_index() % 32);
  begin_loop(&w, a, &work, first, group);
  if (group == 1) wait_memory<LOADS<head>>(); /* its part of the second keys has arrived */
  if (group == 1) barrier();                  /* one slot later */
  keep_order();

  int i = 0;
  if (end > 0) {
    multiply_keys(&w, (u32x4 *)nullptr, type);
    end_multiplying<head>();
    probability_slot(&w, a->scale, 0, whole == 0, true, type);
    for (i = 1; i < whole; i++) {
      multiply_slot(&w, type);
      probability_slot(&w, a->scale, 0, false, false, type);
    }
    for (; i < end; i++) {
      multiply_slot(&w, type);
      probability_slot(&w, a->scale, i * KEYS<head>, true, false, type);
    }
    settle(&w.next);
    load_tiles(&w);
    u32x4 v[VALUE_PRODUCTS<head>];
    start_reads(&w, v, LATE_KEYS<head>, started_reads<head>(SCORE_PRODUCTS<head>));
    multiply_tile(&w, v, type, group == 1 && i == count);
    if (i < count) {
      wait_memory<LOADS<head>>();
      keep_order();
      barrier();
    }
    i++;
  }
  for (; i < count; i++) idle_slots(&w);
  if (i == count) end_multiplying<head>(group == 1);
  wait_memory<0>(); /* zeros after the last tile */
  keep_order();
  if (hides_values(a) && __builtin_expect(found_nan(&w), 0)) compute_seen<head, units>(&w, type);
  if (units && a->splits > 1)
    end_unit(&w, (LDS char *)w.lds, type);
  else
    store_lds_rows(&w, a, &work, first, (LDS char *)w.lds->rows[wave_index()], type);
}

#endif
