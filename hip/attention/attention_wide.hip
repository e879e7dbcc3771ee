/* Flash attention for head_dim above 128, up to 256, of f16 and bf16: 4 waves, one on each SIMD, so that each has 512
 * registers. A wave has 32 rows of queries. It multiplies and computes probabilities at the same time:
 *
 *   S'(i) = K(i) Q'
 *   O' += V(i - 1)' P'(i - 1)        and between these products P'(i) = 2^(scale S'(i) - reference)
 *
 * LDS has two stages of keys and two of values. There is one barrier for each tile, before the last products of the second
 * part, which are multiplied while the first keys of the next tile are read. At the barrier of tile i, K(i + 1) and V(i) have
 * arrived; their loads began in tile i, when K(i - 1) and V(i - 2) were no longer read. docs/attention.md has the clocks. */
#include "key_tile.h"

#include "query_rows.h"

#include "memory_rows.h"
#include "repeat.h"

/* Reads of LDS are started this many products before they are needed. After the barrier come the last products. */
enum { AHEAD = 8, AFTER_BARRIER = 4 };

template <int head>
constexpr int BLOCKS = KEYS<head> / 32;
template <int head>
constexpr int STEPS = KEYS<head> / 16;
template <int head>
constexpr int SCORE_PRODUCTS = BLOCKS<head> * head / 16;
template <int head>
constexpr int VALUE_PRODUCTS = STEPS<head> * head / 32;

template <int head>
struct alignas(1024) wide_tiles {
  char k[2][HALF_TILE<head>], v[2][HALF_TILE<head>];
};

/* What a wave has in registers. */
template <int head>
struct wide : fast_rows<head> {
  f32x16 s[BLOCKS<head>];
  u32x4 p[STEPS<head>], k[AHEAD], v[AHEAD];
  lane_places<head> at;
  tile_source next_k, next_v;
  tile_buffer k_from, v_from; /* what is loaded now */
  tile_load<head> load;
  LDS wide_tiles<head> *tiles;
};

/* Pins sums to their place, as in_order() does, in the half of the registers that only products use. */
DEVICE f32x16 in_accumulators(f32x16 x) {
  asm volatile("" : "+a"(x));
  return x;
}

template <int head>
DEVICE void read_key_chunk(wide<head> *w, uint32_t stage, int n) {
  lane_places<head> at = w->at;
  at.tile = stage * HALF_TILE<head>;
  w->k[n % AHEAD] = read_keys(&at, n % BLOCKS<head>, n / BLOCKS<head>);
}

template <int head>
DEVICE void read_value_chunk(wide<head> *w, uint32_t stage, int n) {
  lane_places<head> at = w->at;
  at.tile = stage * HALF_TILE<head>;
  w->v[n % AHEAD] = read_values(&at, n % (head / 32), n / (head / 32));
}

template <int head>
DEVICE void read_first_keys(wide<head> *w, uint32_t stage) {
#pragma unroll
  for (int n = 0; n < AHEAD; n++) read_key_chunk(w, stage, n);
}

/* A part of the loads of the next keys and of this tile's values. `stage` has this tile's keys. */
template <int head>
DEVICE void load_step(wide<head> *w, uint32_t stage, int step) {
  if (step == 0) {
    w->k_from = settled_buffer(&w->next_k);
    w->v_from = settled_buffer(&w->next_v);
    next_tile<head>(&w->next_k);
    next_tile<head>(&w->next_v);
  }
  tile_step<head>(&w->load, step, w->tiles->k[stage ^ 1], w->tiles->v[stage], w->k_from, w->v_from);
}
template <int head>
DEVICE void load_all(wide<head> *w, uint32_t stage) {
#pragma unroll
  for (int step = 0; step < LOAD_STEPS<head>; step++) load_step(w, stage, step);
}

/* The step after product n of a tile's, if any: they are spread, because 32 KiB of loads in flight fill the vL1D, and end early
 * enough to arrive at the barrier. */
template <int head>
DEVICE void load_after(wide<head> *w, uint32_t stage, int n) {
  const int step = ((n - 1) * 4 + 10) / 11;
  if (n == 1 + step * 11 / 4 && step < LOAD_STEPS<head>) load_step(w, stage, step);
}

/* Waits until the next keys and this tile's values have arrived for all waves. */
template <int head>
DEVICE void arrive(wide<head> *w, uint32_t stage) {
  tile_finish(&w->load, w->tiles->k[stage ^ 1], w->tiles->v[stage]);
  tile_arrived();
}

/* S'. values: the first values of the tile before are read meanwhile, and the next tiles' loads begin. */
template <int head>
DEVICE void multiply_keys(wide<head> *w, uint32_t stage, bool values, tdm_type type) {
#pragma unroll
  for (int n = 0; n < SCORE_PRODUCTS<head>; n++) {
    const int b = n % BLOCKS<head>, i = n / BLOCKS<head>, next = n + AHEAD - SCORE_PRODUCTS<head>;
    w->s[b] = in_accumulators(mfma(w->k[n % AHEAD], w->q[i], i == 0 ? (f32x16)0 : w->s[b], type));
    if (next < 0)
      read_key_chunk(w, stage, n + AHEAD);
    else if (values)
      read_value_chunk(w, stage ^ 1, next);
    if (values) load_after(w, stage, n);
    keep_order();
  }
}

/* O' *= factor, if any of `lanes` is set. The branch is in the assembly: around a branch in C, clang would move O' from these
 * registers to others and back. */
#define MULTIPLY_ACCUMULATORS(operand)                                                                      \
  FIRST_REGISTER("first", operand)                                                                          \
  ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\tv_accvgpr_read_b32 %8, a[first+\\n]\n\t" \
  "v_mul_f32 %8, %8, %10\n\tv_accvgpr_write_b32 a[first+\\n], %8\n\t.endr\n\t"
DEVICE void multiply_if(uint64_t lanes, f32x16 o[8], float factor) {
  float product;
  asm volatile("s_cmp_eq_u64 %9, 0\n\ts_cbranch_scc1 .Lkeep%=\n\ts_nop 15\n\ts_nop 3\n\t" /* as wait_products() */
               MULTIPLY_ACCUMULATORS("%0") MULTIPLY_ACCUMULATORS("%1") MULTIPLY_ACCUMULATORS("%2") MULTIPLY_ACCUMULATORS("%3")
                   MULTIPLY_ACCUMULATORS("%4") MULTIPLY_ACCUMULATORS("%5") MULTIPLY_ACCUMULATORS("%6")
                       MULTIPLY_ACCUMULATORS("%7") ".Lkeep%=:\n\ts_nop 1"
               : "+a"(o[0]), "+a"(o[1]), "+a"(o[2]), "+a"(o[3]), "+a"(o[4]), "+a"(o[5]), "+a"(o[6]), "+a"(o[7]), "=&v"(product)
               : "s"(lanes), "v"(factor)
               : "scc");
}

/* The end of a tile: its sum, or the tile again with another reference. */
template <int head>
DEVICE void add_sum(wide<head> *w, float sum, float scale, tdm_type type) {
  static_assert(head == 256, "multiply_if takes 8 blocks");
  const uint64_t again = __builtin_amdgcn_ballot_w64(!(sum <= LARGEST_SUM));
  float factor = 1;
  for (bool go = again != 0; __builtin_expect(go, 0); go = once())
    sum = repeat_tile<BLOCKS<head>>(w, w->s, w->p, scale, &factor, type);
  multiply_if(again, w->o, factor);
  w->sum += sum;
}

/* Tile i, of which every row of the wave sees all keys, after a first tile. */
template <int head>
DEVICE void whole_tile(wide<head> *w, uint32_t stage, float scale, tdm_type type) {
  static_assert(VALUE_PRODUCTS<head> == 16 * BLOCKS<head>, "two products for two scores");
  multiply_keys(w, stage, true, type);
  u32x4 p[STEPS<head>];
  f32x2 x = 0;
  float sum = 0, base = w->base;
#pragma unroll
  for (int n = 0; n < VALUE_PRODUCTS<head>; n++) {
    const int d = n % (head / 32), step = n / (head / 32), after = n - (VALUE_PRODUCTS<head> - AFTER_BARRIER);
    const int b = n / 16, r = n % 16 / 2 * 2;
    if (after == 0) arrive(w, stage);
    if (n % 2 == 0) { /* one wait for two products */
      w->v[n % AHEAD] = in_order(w->v[n % AHEAD]);
      w->v[(n + 1) % AHEAD] = in_order(w->v[(n + 1) % AHEAD]);
    }
    w->o[d] = in_accumulators(mfma(w->v[n % AHEAD], w->p[step], w->o[d], type));
    if (n + AHEAD < VALUE_PRODUCTS<head>) read_value_chunk(w, stage ^ 1, n + AHEAD);
    for (int k = after * AHEAD / AFTER_BARRIER; after >= 0 && k < (after + 1) * AHEAD / AFTER_BARRIER; k++)
      read_key_chunk(w, stage ^ 1, k);
    load_after(w, stage, SCORE_PRODUCTS<head> + n);
    if (n % 2 == 0) {
      x = (f32x2){__builtin_fmaf(w->s[b][r], scale, -base), __builtin_fmaf(w->s[b][r + 1], scale, -base)};
      x = in_order((f32x2){__builtin_amdgcn_exp2f(x[0]), __builtin_amdgcn_exp2f(x[1])});
    } else {
      asm volatile("v_add_f32 %0, %0, %1\n\tv_add_f32 %0, %0, %2" : "+v"(sum) : "v"(x[0]), "v"(x[1])); /* not packed */
      p[2 * b + r / 8][r % 8 / 2] = in_order(pack_two(x[0], x[1], type));
    }
    keep_order();
  }
#pragma unroll
  for (int i = 0; i < STEPS<head>; i++) w->p[i] = p[i];
  add_sum(w, sum, scale, type);
}

/* O' += V' P' of tile i. */
template <int head>
DEVICE void add_values(wide<head> *w, int i, bool masked, tdm_type type) {
  lane_places<head> at = w->at;
  at.tile = (uint32_t)i % 2 * HALF_TILE<head>;
  multiply_values<STEPS<head>>(w, &at, w->p, masked, w->seen - i * KEYS<head>, type);
}

/* Any tile i; whole: the number of those that every row sees whole. */
template <int head>
DEVICE void any_tile(wide<head> *w, int i, int whole, float scale, tdm_type type) {
  uint32_t stage = (uint32_t)i % 2;
  load_all(w, stage);
  multiply_keys(w, stage, false, type);
  if (i > 0) add_values(w, i - 1, i > whole, type);
  for (int b = 0; i >= whole && b < BLOCKS<head>; b++) mask_scores(&w->s[b], w->seen, i * KEYS<head> + 32 * b);
  if (i == 0) new_reference(w, scores_max<BLOCKS<head>>(w->s) * scale);
  float sum = exponentials<BLOCKS<head>>(w->s, scale, w->base, w->p, type);
  add_sum(w, sum, scale, type);
  arrive(w, stage);
  read_first_keys(w, stage ^ 1);
}

/* In the scalar unit, so that the loops are there too. */
template <int head>
DEVICE int tiles_of(int64_t keys) {
  return (int)in_scalar((uint32_t)(keys / KEYS<head>));
}

template <int head>
DEVICE void wide_body(const attention_args *a, LDS wide_tiles<head> *tiles, bool decode, tdm_type type) {
  attention_work work = decode ? find_part(a, type) : find_work(a, WIDE_ROWS, type);
  int64_t first = work.first + wave_index() * 32;
  /* Tiles that all of the wave's rows see completely; that any of them sees; that any of the workgroup's sees. */
  int whole = tiles_of<head>(keys_seen_by_all(a, &work, first));
  int end = tiles_of<head>(keys_seen_by_any(a, &work, first, 32) + KEYS<head> - 1);
  int count = tiles_of<head>(keys_seen_by_any(a, &work, work.first, WIDE_ROWS) + KEYS<head> - 1), i = 0;
  wide<head> w;
  w.tiles = tiles;
  w.next_k = source_of(work.k, a->k_stride.row, work.keys, a->head_dim);
  w.next_v = source_of(work.v, a->v_stride.row, work.keys, a->head_dim);
  lane_places_of(&w.at, (LDS char *)tiles->k, (LDS char *)tiles->v);
  tile_places(&w.load, &w.next_k, &w.next_v);
  w.k_from = settled_buffer(&w.next_k);
  w.v_from = w.k_from;
  w.v_from.length = 0; /* no values yet */
#pragma unroll
  for (int step = 0; step < LOAD_STEPS<head>; step++)
    tile_step<head>(&w.load, step, tiles->k[0], tiles->v[0], w.k_from, w.v_from);
  next_tile<head>(&w.next_k);
  begin_rows(&w, a, &work, first);
  tile_finish(&w.load, tiles->k[0], tiles->v[0]);
  tile_arrived();
  read_first_keys(&w, 0);
  while (i < end) {
    any_tile(&w, i++, whole, a->scale, type);
    for (; i % 2 == 1 && i + 2 <= whole; i += 2) { /* two, so that the stage of each is a constant */
      whole_tile(&w, 1, a->scale, type);
      whole_tile(&w, 0, a->scale, type);
    }
  }
  if (i < count) load_all(&w, (uint32_t)i % 2);
  if (i > 0) add_values(&w, i - 1, i > whole, type);
  if (i < count) arrive(&w, (uint32_t)i % 2);
  for (i++; i < count; i++) { /* loads for the other waves */
    load_all(&w, (uint32_t)i % 2);
    arrive(&w, (uint32_t)i % 2);
  }
  store_rows(&w, a, &work, first, type);
}

#define WIDE_KERNEL(name, decode, type)                              \
  KERNEL WORKGROUP(WIDE_THREADS, 1) void name(attention_args a) {    \
    SHARED wide_tiles<256> tiles;                                    \
    wide_body<256>(&a, (LDS wide_tiles<256> *)&tiles, decode, type); \
  }
WIDE_KERNEL(flash256_f16, false, TDM_F16)
WIDE_KERNEL(flash256_bf16, false, TDM_BF16)
WIDE_KERNEL(decode256_f16, true, TDM_F16)
WIDE_KERNEL(decode256_bf16, true, TDM_BF16)
