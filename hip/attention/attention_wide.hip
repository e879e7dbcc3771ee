/* Flash attention for head_dim above 192, up to 256, and decode above 128, of f16 and bf16: 4 waves, one on each SIMD, so that
 * each has 512 registers. A wave has 32 rows of queries. It multiplies and computes probabilities at the same time:
 *
 *   S'(i) = K(i) Q'
 *   O' += V(i - 1)' P'(i - 1)        and between these products P'(i) = 2^(scale S'(i) - reference)
 *
 * LDS has two stages of keys and two of values. There is one barrier for each tile, before the last products of the second
 * part, which are multiplied while the first keys of the next tile are read. At the barrier of tile i, K(i + 1) and V(i) have
 * arrived; their loads began in tile i, when K(i - 1) and V(i - 2) were no longer read. docs/attention.md has the clocks. */
#include "key_tile.h"

#include "query_rows.h"

#include "last_part.h"
#include "lds_rows.h"
#include "memory_rows.h"
#include "repeat.h"

/* Reads of LDS are started AHEAD products before they are needed: there are no registers for more. AFTER_BARRIER: the last
 * products. */
enum { AHEAD = 6, AFTER_BARRIER = 4 };

/* Aligned, because an exclusive or with HALF_TILE takes an address from one stage to the other. */
template <int head>
struct alignas(2 * HALF_TILE<head>) wide_tiles {
  char k[2][HALF_TILE<head>], v[2][HALF_TILE<head>];
};
/* After the loop a wave's rows of O go through LDS, and on gfx950 its rows of Q before it, where values come later. */
static_assert(4 * ROWS_BYTES<256> <= sizeof(wide_tiles<256>), "room for the rows of all waves");

/* What a wave has in registers. */
template <int head>
struct wide : fast_rows<head> {
  f32x16 s[BLOCKS<head>];
  u32x4 p[STEPS<head>], next_p[STEPS<head>], k[AHEAD], v[AHEAD];
  lane_places<head> at; /* each address of a key is of the next chunk that it reads; values: of the last tile that was added */
  coming next_k, next_v;
  tile_load<head> load;
  LDS wide_tiles<head> *tiles;
};

/* Pins sums to their place, as in_order() does, in the half of the registers that only products use. */
DEVICE f32x16 in_accumulators(f32x16 x) {
  asm volatile("" : "+a"(x));
  return x;
}

/* In assembly: else clang would keep the addresses of both stages. */
template <int head>
DEVICE void other_stage(uint32_t *at) {
  asm volatile("v_xor_b32 %0, %1, %0" : "+v"(*at) : "s"(HALF_TILE<head>));
}

/* Every chunk of keys is read once for each tile, so its address moves on with its last block. */
template <int head>
DEVICE void read_key_chunk(wide<head> *w, int n) {
  w->k[n % AHEAD] = read_keys(&w->at, n % BLOCKS<head>, n / BLOCKS<head>);
  if (n % BLOCKS<head> == BLOCKS<head> - 1) other_stage<head>(&w->at.k[n / BLOCKS<head>]);
}

template <int head>
DEVICE void read_value_chunk(wide<head> *w, int n) {
  w->v[n % AHEAD] = read_values(&w->at, n % (head / 32), n / (head / 32));
}

template <int head>
DEVICE void read_first_keys(wide<head> *w) {
#pragma unroll
  for (int n = 0; n < AHEAD; n++) read_key_chunk(w, n);
}

/* A part of the loads of the next keys and of this tile's values. `stage` has this tile's keys. The scalar unit's work for them
 * is in parts of its own: all of it between two products makes the second one late. */
template <int head>
constexpr int LOAD_PARTS = LOAD_STEPS<head> + 4;
template <int head>
DEVICE void load_part(wide<head> *w, uint32_t stage, int part) {
  const int step = part - 2;
  switch (step) {
    case -2: find_length<head>(&w->next_k); break;
    case -1: find_length<head>(&w->next_v); break;
    case LOAD_STEPS<head>: advance<head>(&w->next_k); break;
    case LOAD_STEPS<head> + 1: advance<head>(&w->next_v); break;
    default:
      tile_step<head>(&w->load, step, w->tiles->k[stage ^ 1], w->tiles->v[stage], buffer_of(&w->next_k), buffer_of(&w->next_v));
  }
}
template <int head>
DEVICE void load_all(wide<head> *w, uint32_t stage) {
#pragma unroll
  for (int part = 0; part < LOAD_PARTS<head>; part++) load_part(w, stage, part);
}

/* The part after product n of a tile's, if any: they are spread over two thirds of the products (44 of 64 with 256 columns),
 * because 32 KiB of loads in flight fill the vL1D, and end early enough to arrive at the barrier. */
template <int head>
DEVICE void load_after(wide<head> *w, uint32_t stage, int n) {
  const int products = SCORE_PRODUCTS<head> + VALUE_PRODUCTS<head>;
  const int of_320 = products * 11 > 320 ? products * 11 : 320, part = ((n - 1) * 320 + of_320 - 1) / of_320; /* one at most */
  static_assert(1 + (LOAD_PARTS<head> - 1) * of_320 / 320 < products - AFTER_BARRIER, "all begin before the barrier");
  if (n == 1 + part * of_320 / 320 && part < LOAD_PARTS<head>) load_part(w, stage, part);
}

/* Waits until the next keys and this tile's values have arrived for all waves. */
template <int head>
DEVICE void arrive(wide<head> *w, uint32_t stage) {
  tile_finish(&w->load, w->tiles->k[stage ^ 1], w->tiles->v[stage]);
  tile_arrived();
}

/* S'. values: the first values of the tile before are read meanwhile, and the next tiles' loads begin. What the VALU has to do
 * between tiles is here, where it has time: in moves of clang's own, P' would take 64 clocks without a product. */
template <int head>
DEVICE void multiply_keys(wide<head> *w, uint32_t stage, bool values, tdm_type type) {
  const int value_places = sizeof w->at.v / 4;
  static_assert(value_places <= SCORE_PRODUCTS<head> - AHEAD && 4 * STEPS<head> <= SCORE_PRODUCTS<head>, "one after a product");
#pragma unroll
  for (int n = 0; n < SCORE_PRODUCTS<head>; n++) {
    const int b = n % BLOCKS<head>, i = n / BLOCKS<head>, next = n + AHEAD - SCORE_PRODUCTS<head>;
    w->s[b] = in_accumulators(mfma(w->k[n % AHEAD], w->q[i], i == 0 ? (f32x16)0 : w->s[b], type));
    if (next < 0)
      read_key_chunk(w, n + AHEAD);
    else if (values)
      read_value_chunk(w, next);
    if (values && n < value_places) other_stage<head>(&w->at.v[n]);
    if (values && n < 4 * STEPS<head>) {
      uint32_t word;
      asm volatile("v_mov_b32 %0, %1" : "=v"(word) : "v"(w->next_p[n / 4][n % 4]));
      w->p[n / 4][n % 4] = word;
    }
    if (values) load_after(w, stage, n);
    keep_order();
  }
}

/* O' *= factor, if any of `lanes` is set. The branch is in the assembly: around a branch in C, clang would move O' from these
 * registers to others and back. */
#define MULTIPLY_ACCUMULATORS(operand)                                                                        \
  FIRST_REGISTER("first", operand)                                                                            \
  ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\tv_accvgpr_read_b32 %[x], a[first+\\n]\n\t" \
  "v_mul_f32 %[x], %[x], %[factor]\n\tv_accvgpr_write_b32 a[first+\\n], %[x]\n\t.endr\n\t"
#define SKIP_UNLESS "s_cmp_eq_u64 %[lanes], 0\n\ts_cbranch_scc1 .Lkeep%=\n\ts_nop 15\n\ts_nop 3\n\t" /* as wait_products() */
#define MULTIPLY_FIVE         \
  MULTIPLY_ACCUMULATORS("%0") \
  MULTIPLY_ACCUMULATORS("%1") MULTIPLY_ACCUMULATORS("%2") MULTIPLY_ACCUMULATORS("%3") MULTIPLY_ACCUMULATORS("%4")
#define FIVE "+a"(o[0]), "+a"(o[1]), "+a"(o[2]), "+a"(o[3]), "+a"(o[4])
#define MULTIPLY_IF(blocks, ...)                          \
  asm volatile(SKIP_UNLESS blocks ".Lkeep%=:\n\ts_nop 1"  \
               : __VA_ARGS__, [x] "=&v"(product)          \
               : [lanes] "s"(lanes), [factor] "v"(factor) \
               : "scc")
template <int head>
DEVICE void multiply_if(uint64_t lanes, f32x16 *o, float factor) {
  float product;
  static_assert(head == 160 || head == 192 || head == 256, "blocks of 32 columns");
  if constexpr (head == 160)
    MULTIPLY_IF(MULTIPLY_FIVE, FIVE);
  else if constexpr (head == 192)
    MULTIPLY_IF(MULTIPLY_FIVE MULTIPLY_ACCUMULATORS("%5"), FIVE, "+a"(o[5]));
  else
    MULTIPLY_IF(MULTIPLY_FIVE MULTIPLY_ACCUMULATORS("%5") MULTIPLY_ACCUMULATORS("%6") MULTIPLY_ACCUMULATORS("%7"), FIVE,
                "+a"(o[5]), "+a"(o[6]), "+a"(o[7]));
}

/* The end of a tile: its sum, or the tile again with another reference, if any of the lanes `again` needs it. */
DEVICE uint64_t lanes_again(float sum) { return __builtin_amdgcn_ballot_w64(!(sum <= LARGEST_SUM)); }
template <int head>
DEVICE void add_sum(wide<head> *w, float sum, uint64_t again, float scale, tdm_type type) {
  float factor = 1;
  for (bool go = again != 0; __builtin_expect(go, 0); go = once())
    sum = repeat_tile<BLOCKS<head>>(w, w->s, w->next_p, scale, &factor, type);
  multiply_if<head>(again, w->o, factor);
  w->sum += sum;
}

/* One of PROBABILITY_STEPS between the products of a tile: the exponentials of two scores, then their sum and their place. */
template <int head>
constexpr int PROBABILITY_STEPS = 16 * BLOCKS<head>;
template <int head>
DEVICE void probability_step(wide<head> *w, int step, f32x2 *x, float *sum, float scale, float base, tdm_type type) {
  const int b = step / 16, r = step % 16 / 2 * 2;
  if (step % 2 == 0) {
    *x = (f32x2){__builtin_fmaf(w->s[b][r], scale, -base), __builtin_fmaf(w->s[b][r + 1], scale, -base)};
    *x = in_order((f32x2){__builtin_amdgcn_exp2f((*x)[0]), __builtin_amdgcn_exp2f((*x)[1])});
  } else {
    asm volatile("v_add_f32 %0, %0, %1\n\tv_add_f32 %0, %0, %2" : "+v"(*sum) : "v"((*x)[0]), "v"((*x)[1])); /* not packed */
    w->next_p[2 * b + r / 8][r % 8 / 2] = in_order(pack_two((*x)[0], (*x)[1], type));
  }
}

/* Tile i, of which every row of the wave sees all keys, after a first tile. */
template <int head>
DEVICE void whole_tile(wide<head> *w, uint32_t stage, float scale, tdm_type type) {
  const int products = VALUE_PRODUCTS<head>, summed = products - 2; /* the sum is compared before the last product */
  multiply_keys(w, stage, true, type);
  f32x2 x = 0;
  float sum = 0, base = w->base;
  uint64_t again = 0;
#pragma unroll
  for (int n = 0; n < products; n++) {
    const int d = n % (head / 32), step = n / (head / 32), after = n - (products - AFTER_BARRIER);
    if (after == 0) arrive(w, stage);
    if (n % 2 == 0) { /* one wait for two products */
      w->v[n % AHEAD] = in_order(w->v[n % AHEAD]);
      w->v[(n + 1) % AHEAD] = in_order(w->v[(n + 1) % AHEAD]);
    }
    w->o[d] = in_accumulators(mfma(w->v[n % AHEAD], w->p[step], w->o[d], type));
    if (n + AHEAD < products) read_value_chunk(w, n + AHEAD);
#pragma unroll
    for (int k = after * AHEAD / AFTER_BARRIER; after >= 0 && k < (after + 1) * AHEAD / AFTER_BARRIER; k++)
      read_key_chunk(w, k);
    load_after(w, stage, SCORE_PRODUCTS<head> + n);
#pragma unroll
    for (int k = n * PROBABILITY_STEPS<head> / summed; n < summed && k < (n + 1) * PROBABILITY_STEPS<head> / summed; k++)
      probability_step(w, k, &x, &sum, scale, base, type);
    if (n == summed) {
      again = lanes_again(sum);
      asm volatile("" : "+s"(again)); /* compared here */
    }
    keep_order();
  }
  add_sum(w, sum, again, scale, type);
}

/* O' += V' P' of tile i. hidden: some row does not see keys of it that are there. (After the last key,
 * values are 0, unless rows of V overlap.) */
template <int head>
DEVICE void add_values(wide<head> *w, int i, bool hidden, tdm_type type) {
#pragma unroll
  for (uint32_t n = 0; n < sizeof w->at.v / 4; n++) other_stage<head>(&w->at.v[n]);
  multiply_values<STEPS<head>>(w, &w->at, w->next_p, hidden, i * KEYS<head>, type);
}

/* Any tile i; whole: the number of those that every row sees whole. */
template <int head>
DEVICE void any_tile(wide<head> *w, int i, int whole, bool hides, float scale, tdm_type type) {
  uint32_t stage = (uint32_t)i % 2;
  load_all(w, stage);
  multiply_keys(w, stage, false, type);
  if (i > 0) add_values(w, i - 1, hides && i > whole, type);
  for (int b = 0; i >= whole && b < BLOCKS<head>; b++) mask_scores(&w->s[b], w->seen, i * KEYS<head> + 32 * b);
  if (i == 0) new_reference(w, scores_max<BLOCKS<head>>(w->s) * scale);
  float sum = exponentials<BLOCKS<head>>(w->s, scale, w->base, w->next_p, type);
  add_sum(w, sum, lanes_again(sum), scale, type);
  arrive(w, stage);
  read_first_keys(w);
}

/* In the scalar unit, so that the loops are there too. */
template <int head>
DEVICE int tiles_of(int64_t keys) {
  return (int)in_scalar((uint32_t)(keys / KEYS<head>));
}

template <int head>
DEVICE void wide_body(const attention_args *a, LDS wide_tiles<head> *tiles, bool decode, tdm_type type) {
  if (!decode) load_work_arguments(a);
  attention_work work = decode ? find_part(a, type) : find_work(a, WIDE_ROWS, type);
  if (decode) find_results(a, &work, type);
  int64_t first = work.first + wave_index() * 32;
  /* Tiles that all of the wave's rows see completely; that any of them sees; that any of the workgroup's sees. */
  int whole = tiles_of<head>(keys_seen_by_all(a, &work, first));
  int end = tiles_of<head>(keys_seen_by_any(a, &work, first, 32) + KEYS<head> - 1);
  int count = tiles_of<head>(keys_seen_by_any(a, &work, work.first, WIDE_ROWS) + KEYS<head> - 1), i = 0;
  const bool hides = hides_values(a);
  wide<head> w;
  w.tiles = tiles;
  tile_source k = source_of(work.k, a->k_stride.row, work.keys, a->head_dim),
              v = source_of(work.v, a->v_stride.row, work.keys, a->head_dim);
  const int keys = (int)in_scalar((uint32_t)work.keys);
  w.next_k = coming_of<head>(&k, keys);
  w.next_v = coming_of<head>(&v, keys);
  lane_places_of(&w.at, (LDS char *)tiles->k[0], (LDS char *)tiles->v[1]); /* the first values come after a turn */
  tile_places(&w.load, &k, &v);
  LDS char *rows = (LDS char *)tiles + wave_index() * ROWS_BYTES<head>;
  const bool through_lds = CHIP_TRANSPOSED_LDS_READS && !decode;
#if CHIP_TRANSPOSED_LDS_READS
  if (through_lds) load_lds_rows<head>(rows + sizeof tiles->k, a, &work, first, 0);
#endif
  find_length<head>(&w.next_k); /* of the values, whose length is still 0, nothing is loaded */
#pragma unroll
  for (int step = 0; step < LOAD_STEPS<head>; step += CHIP_TRANSPOSED_LDS_READS ? 2 : 1) /* keys, and on gfx942 no values */
    tile_step<head>(&w.load, step, tiles->k[0], tiles->v[0], buffer_of(&w.next_k), buffer_of(&w.next_v));
  advance<head>(&w.next_k);
#if CHIP_TRANSPOSED_LDS_READS
  if (through_lds) {
    begin_sums(&w, a, &work, first + lane_index() % 32);
    wait_memory<LOAD_STEPS<head> / 2>();
    keep_order();
    start_row_reads<head>(w.q, rows + sizeof tiles->k, head / 16);
    take_row_reads(&w, a->sign);
  }
#endif
  if (!through_lds) begin_rows(&w, a, &work, first);
  tile_finish(&w.load, tiles->k[0], tiles->v[0]);
  tile_arrived();
  read_first_keys(&w);
  while (i < end) {
    any_tile(&w, i++, whole, hides, a->scale, type);
    for (; i < whole; i++) whole_tile(&w, (uint32_t)i % 2, a->scale, type);
  }
  if (i < count) load_all(&w, (uint32_t)i % 2);
  if (i > 0) add_values(&w, i - 1, hides && i > whole, type);
  if (i < count) arrive(&w, (uint32_t)i % 2);
  for (i++; i < count; i++) { /* loads for the other waves */
    load_all(&w, (uint32_t)i % 2);
    arrive(&w, (uint32_t)i % 2);
  }
  if (decode) {
    store_rows(&w, a, &work, first, type);
    end_part<head>(wave_index(), (LDS char *)tiles, type);
  } else {
    sync_lds(); /* the last tile is no longer read */
    store_lds_rows(&w, a, &work, first, rows, type);
  }
}

#define WIDE_KERNEL(name, head, decode, type)                          \
  KERNEL WORKGROUP(WIDE_THREADS, 1) void name(attention_args a) {      \
    SHARED wide_tiles<head> tiles;                                     \
    wide_body<head>(&a, (LDS wide_tiles<head> *)&tiles, decode, type); \
  }
WIDE_KERNEL(flash256_f16, 256, false, TDM_F16)
WIDE_KERNEL(flash256_bf16, 256, false, TDM_BF16)
WIDE_KERNEL(decode256_f16, 256, true, TDM_F16)
WIDE_KERNEL(decode256_bf16, 256, true, TDM_BF16)
