/* The loop of ping_pong.h for a chip whose loads go through registers to LDS, which has room for two stages of keys and two
 * of values.
 *
 *   slot        |  1   |  2   |  3   |  4   |  5   | ...
 *   waves 0-3   | M(0) | S(0) | M(1) | S(1) | M(2) |       M(i): S' = K(i) Q', then O' += V(i - 1)' P(i - 1)'
 *   waves 4-7   | W    | M(0) | S(0) | M(1) | S(1) |       S(i): P(i) from S'; and W
 *          each | is a barrier of all 8 waves
 *
 * W writes the wave's part of the next tile, which has arrived in registers, to LDS, and starts to load the one after it. In
 * S(i) waves 0-3 write K(i + 1) and V(i), and waves 4-7, which are one slot behind, K(i + 2) and V(i + 1).
 *
 *   May a stage be overwritten?  K(i + 1) takes the stage of K(i - 1), which waves 4-7 read for the last time in slot 2 i.
 *                                It is written in slots 2 i + 1 and 2 i + 2. V(i) takes that of V(i - 2), read until slot 2 i
 *                                too, and is written in the same slots.
 *   Has it arrived?              Before the barrier of its slot a wave waits until what it wrote is in LDS. K(i + 1) and V(i)
 *                                are read from slot 2 i + 3 on.
 *
 * The last products of M come after the slot's barrier: they are multiplied while the other group's first keys come from LDS.
 * W is in the middle of S: at its beginning, its writes would delay those reads. */
#ifndef TANDEM_HIP_ATTENTION_REGISTER_LOADS_H
#define TANDEM_HIP_ATTENTION_REGISTER_LOADS_H

#include "lds_rows.h"
#include "memory_rows.h"
#include "seen_values.h"
#include "unit_parts.h"

enum { READS_AHEAD = 6 }; /* chunks, of a product each: 32 products of 64 clocks are a slot with head_dim 128 */
/* Products after the barrier. With head_dim 64 a slot is as long as the exponentials, which would wait for them. */
template <int head>
constexpr int AFTER_BARRIER = head > 64 ? 2 : 0;

/* Aligned, because an exclusive or with HALF_TILE takes an address from one stage to the other. */
template <int head>
struct alignas(2 * HALF_TILE<head>) two_stages {
  char k[2][HALF_TILE<head>], v[2][HALF_TILE<head>];
};

template <int head>
using flash_stages = two_stages<head>;

/* The tiles of keys and of values that are loaded next: values are those of the tile before. */
typedef struct next_tiles {
  const char *k, *v;
  int64_t k_step, v_step;      /* bytes from one tile to the next */
  uint32_t k_row, v_row;       /* bytes from one row to the next, */
  uint32_t k_end, v_end;       /* and how many more the last row has */
  int left, rows, rows_before; /* rows from this tile of keys on, in it, and in the one before */
} next_tiles;

/* In assembly, because of two comparisons clang makes one of the VALU's. */
DEVICE int least_here(int x, int most) {
  asm volatile("s_min_i32 %0, %0, %1" : "+s"(x) : "s"(most) : "scc");
  return x;
}
DEVICE int most_here(int x, int least) {
  asm volatile("s_max_i32 %0, %0, %1" : "+s"(x) : "s"(least) : "scc");
  return x;
}
template <int head>
DEVICE void next_rows(next_tiles *n) {
  n->rows_before = n->rows;
  n->left = (int)add_here((uint32_t)n->left, (uint32_t)-KEYS<head>);
  n->rows = least_here(most_here(n->left, 0), KEYS<head>);
}

/* What a wave that multiplies has in registers. */
template <int head>
struct row_products : fast_rows<head> {
  f32x16 s[BLOCKS<head>];
  u32x4 p[STEPS<head>];
  lane_places<head> at;
  bool grows; /* the last tile had a larger maximum than the reference */
};

template <int head>
struct turns : row_products<head> {
  next_tiles next;
  tile_load<head> load;
  uint32_t k_to, v_to; /* the stages that W writes */
};

/* ---- W ---- */

template <int head>
DEVICE void write_tile(turns<head> *w) {
  finish_keys(&w->load, at_lds(w->k_to));
  finish_values(&w->load, at_lds(w->v_to));
  w->k_to ^= HALF_TILE<head>;
  w->v_to ^= HALF_TILE<head>;
}

/* The buffer's length: `rows` rows, and zeros for the rest of the tile. */
DEVICE tile_buffer rows_of(const char *base, int rows, uint32_t row_bytes, uint32_t last_bytes) {
  return (tile_buffer){base, rows > 0 ? (uint32_t)rows * row_bytes + last_bytes : 0, row_bytes};
}

/* Where they come from is computed by the scalar unit, in assembly: clang would compute it in VGPRs, and move it back. */
template <int head>
DEVICE void load_tile(turns<head> *w) {
  next_tiles *n = &w->next;
  begin_keys(&w->load, rows_of(n->k, n->rows, n->k_row, n->k_end));
  begin_values(&w->load, rows_of(n->v, n->rows_before, n->v_row, n->v_end));
  n->k = advance_here(n->k, n->k_step);
  n->v = advance_here(n->v, n->v_step);
  next_rows<head>(n);
}

/* ---- M ---- */

/* Chunk s of a block's keys. After 8 chunks the swizzle begins again, so the rest is a constant. */
template <int head>
constexpr int KEY_ADDRESSES = head / 16 < 8 ? head / 16 : 8;
template <int head>
DEVICE u32x4 read_key_chunk(const row_products<head> *w, int s, int block) {
  return lds_read_unordered(w->at.k[s % 8], block * 32 * WIDTH<head> * 2 + s / 8 * 16 * CHUNK);
}

/* Read n of a slot: chunks of keys, then of values. */
template <int head>
DEVICE u32x4 start_read(const row_products<head> *w, int n) {
  const int of_values = n - SCORE_PRODUCTS<head>, d = of_values % (head / 32), step = of_values / (head / 32);
  return of_values < 0 ? read_key_chunk(w, n / BLOCKS<head>, n % BLOCKS<head>)
                       : lds_read_unordered(w->at.v[step], 32 * d * KEYS<head> * 2);
}

/* Two products at a time, in turns: one that adds to the result of the one before would wait for it. */
template <int head>
DEVICE void two_products(row_products<head> *w, const u32x4 *x, int n, tdm_type type) {
#pragma unroll
  for (int part = 0; part < mfma_parts(type); part++)
#pragma unroll
    for (int i = n; i < n + 2; i++) {
      const int value = i - SCORE_PRODUCTS<head>, d = value % (head / 32);
      if (value < 0)
        w->s[i % BLOCKS<head>] = mfma_part(x[i], w->q[i / BLOCKS<head>],
                                           i < BLOCKS<head> && part == 0 ? (f32x16)0 : w->s[i % BLOCKS<head>], type, part);
      else
        w->o[d] = mfma_part(x[i], w->p[value / (head / 32)], w->o[d], type, part);
    }
}

/* M(i), or a part of it: the products begin .. end - 1. ends_slot: the slot's barrier comes before the last ones. */
template <int head>
DEVICE void multiply(row_products<head> *w, int begin, int end, bool ends_slot, tdm_type type) {
  u32x4 x[SCORE_PRODUCTS<head> + VALUE_PRODUCTS<head>];
  keep_order();
  if (ends_slot) set_priority<1>();
#pragma unroll
  for (int n = begin; n < begin + READS_AHEAD; n++) x[n] = start_read(w, n);
#pragma unroll
  for (int n = begin; n < end; n += 2) {
    const int started = n + READS_AHEAD < end ? n + READS_AHEAD : end;
    if (ends_slot && AFTER_BARRIER<head> > 0 && n == end - AFTER_BARRIER<head>)
      end_slot();
    else
      wait_lds_but(started - n - 2);
    keep_order();
#pragma unroll
    for (int i = n; i < n + 2; i++) x[i] = in_order(x[i]);
    two_products(w, x, n, type);
#pragma unroll
    for (int i = n; i < n + 2; i++) {
      const int d = (i - SCORE_PRODUCTS<head>) % (head / 32);
      if (i < SCORE_PRODUCTS<head>)
        w->s[i % BLOCKS<head>] = in_order(w->s[i % BLOCKS<head>]);
      else
        w->o[d] = in_order(w->o[d]);
      if (i + READS_AHEAD < end) x[i + READS_AHEAD] = start_read(w, i + READS_AHEAD);
    }
    keep_order();
  }
  if (ends_slot && AFTER_BARRIER<head> == 0) end_slot();
}

/* In assembly: else clang would keep the addresses of both stages. */
template <int head>
DEVICE void other_stage(uint32_t *at, int count) {
#pragma unroll
  for (int i = 0; i < count; i++) asm volatile("v_xor_b32 %0, %1, %0" : "+v"(at[i]) : "s"(HALF_TILE<head>));
}

/* ---- S ---- */

/* 2^(scale s - base) of 8 scores, packed. Packed f32 waits for the matrix unit, which the other group uses. */
DEVICE u32x4 eight_exponentials(const f32x16 s, int from, float scale, float base, f32x2 *sum, tdm_type type) {
  u32x4 p;
  float x[8];
#pragma unroll
  for (int r = 0; r < 8; r += 2) {
    x[r] = __builtin_fmaf(s[from + r], scale, -base);
    x[r + 1] = __builtin_fmaf(s[from + r + 1], scale, -base);
    /* Four scores before the exponentials that wait for them: clang put one just after the other. */
    if (r % 4 == 2) asm("" : "+v"(x[r - 2]), "+v"(x[r - 1]), "+v"(x[r]), "+v"(x[r + 1]));
  }
#pragma unroll
  for (int r = 0; r < 8; r += 2) {
    f32x2 both = {__builtin_amdgcn_exp2f(x[r]), __builtin_amdgcn_exp2f(x[r + 1])};
    add_unpacked(sum, both);
    p[r / 2] = pack_two(both[0], both[1], type);
  }
  return p;
}

/* S(i); key: the first of the tile. */
template <int head>
DEVICE void probability_slot(turns<head> *w, float scale, int key, bool masked, bool first, tdm_type type) {
  keep_order();
  set_priority<0>();
  if (masked)
    for (int b = 0; b < BLOCKS<head>; b++) mask_scores(&w->s[b], w->seen, key + 32 * b);
  settle_reference<BLOCKS<head>>(w, &w->grows, w->s, scale, first);
  f32x2 sums = 0;
#pragma unroll
  for (int i = 0; i < STEPS<head>; i++) {
    keep_order();
    w->p[i] = eight_exponentials(w->s[i / 2], i % 2 * 8, scale, w->base, &sums, type);
    if (i == 1) {
      write_tile(w);
      load_tile(w);
    }
  }
  float sum = sums[0] + sums[1];
  keep_order();
  other_stage<head>(w->at.k, KEY_ADDRESSES<head>);
  other_stage<head>(w->at.v, STEPS<head>);
  add_tile_sum<BLOCKS<head>>(w, &w->grows, w->s, w->p, sum, scale, type);
#pragma unroll
  for (int i = 0; i < STEPS<head>; i++) w->p[i] = in_order(w->p[i]);
  end_slot();
}

/* Of a wave that only loads: W, and a slot. */
template <int head>
DEVICE void idle_slot(turns<head> *w) {
  write_tile(w);
  load_tile(w);
  end_slot();
}

/* ---- The loop ---- */

/* The lane's parts of its query. */
template <int head>
DEVICE void load_queries(turns<head> *w, const attention_args *a, const attention_work *work, int64_t first) {
  const uint32_t lane = (uint32_t)lane_index();
  tile_source from = source_of(work->q + 2 * first * a->q_stride.row, a->q_stride.row, work->rows - first, a->head_dim);
  buffer q = make_short_buffer(from.base, tile_length(&from));
#pragma unroll
  for (uint32_t s = 0; s < head / 16; s++) {
    const uint32_t chunk = 2 * s + lane / 32;
    w->q[s] = buffer_load(q, chunk < from.chunks ? lane % 32 * (uint32_t)from.stride + chunk * CHUNK : NOT_IN_TILE) ^ a->sign;
  }
}

template <int head, bool units>
DEVICE void flash_body(const attention_args *a, LDS two_stages<head> *lds, tdm_type type) {
  const int scores = SCORE_PRODUCTS<head>, all = scores + VALUE_PRODUCTS<head>;
  const attention_work work = find_queries<units>(a, type);
  const int64_t first = work.first;
  turns<head> w;
  tile_source k = source_of(work.k, a->k_stride.row, work.keys, a->head_dim),
              v = source_of(work.v, a->v_stride.row, work.keys, a->head_dim);
  const int keys = (int)in_scalar((uint32_t)work.keys);
  w.next = (next_tiles){in_scalars(k.base),
                        in_scalars(v.base),
                        KEYS<head> * k.stride,
                        KEYS<head> * v.stride,
                        (uint32_t)k.stride,
                        (uint32_t)v.stride,
                        (uint32_t)(2 * a->head_dim - k.stride),
                        (uint32_t)(2 * a->head_dim - v.stride),
                        keys,
                        keys > KEYS<head> ? KEYS<head> : keys,
                        0};
  w.k_to = lds_address(lds->k[0]);
  w.v_to = lds_address(lds->v[0]);
  w.grows = false;
  tile_places(&w.load, &k, &v);
  tile_load<head> first_keys = w.load;
  begin_keys(&first_keys, rows_of(w.next.k, w.next.rows, w.next.k_row, w.next.k_end));
  w.next.k = advance_here(w.next.k, w.next.k_step);
  next_rows<head>(&w.next);
  load_tile(&w);
  load_queries(&w, a, &work, first);
  begin_sums(&w, a, &work, first + lane_index() % 32);
  const int whole = (int)in_scalar(
      (uint32_t)(keys_seen_by_all(a, &work, first) / KEYS<head>)); /* tiles that all of the wave's rows see completely */
  const int end = (int)in_scalar((uint32_t)((keys_seen_by_any(a, &work, first, 32) + KEYS<head> - 1) / KEYS<head>)),
            group = wave_index() / 4;
  const int count = (int)in_scalar((uint32_t)((keys_seen_by(a, &work, work.last) + KEYS<head> - 1) / KEYS<head>));
  lane_places_of(&w.at, (LDS char *)lds->k[0], (LDS char *)lds->v[1]); /* the first values come after a turn */
  finish_keys(&first_keys, at_lds(w.k_to));
  w.k_to ^= HALF_TILE<head>;
  end_slot();
  if (group == 1) idle_slot(&w); /* one slot later */

  int i = 0;
  if (end > 0) {
    multiply(&w, 0, scores, true, type);
    probability_slot(&w, a->scale, 0, whole == 0, true, type);
    for (i = 1; i < whole; i++) {
      multiply(&w, 0, all, true, type);
      probability_slot(&w, a->scale, 0, false, false, type);
    }
    for (; i < end; i++) {
      multiply(&w, 0, all, true, type);
      probability_slot(&w, a->scale, i * KEYS<head>, true, false, type);
    }
    multiply(&w, scores, all, true, type);
    if (i < count) idle_slot(&w);
    i++;
  }
  for (; i < count; i++) {
    end_slot();
    idle_slot(&w);
  }
  if (i == count) end_slot();
  if (hides_values(a) && __builtin_expect(found_nan(&w), 0)) compute_seen<head, units>(&w, type);
  /* Waves 0-3 have room in the stages of the keys, which nobody reads any more, waves 4-7 in those of the values. */
  LDS char *rows = (LDS char *)lds + wave_index() * ROWS_BYTES<head>;
  const bool parts = units && a->splits > 1;
  if (!parts) store_lds_rows(&w, a, &work, first, rows, type);
  if (group == 0) barrier(); /* both groups are in the same slot again */
  if (parts) end_unit(&w, (LDS char *)lds, type);
}

#endif
