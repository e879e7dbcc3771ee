/* Flash attention for head_dim up to 128 of f16 and bf16: 8 waves, each with 32 rows of queries, loop over tiles of 64
 * keys.
 *
 *   S' = K Q'                        32 keys x 32 queries per instruction; transposed, so that a lane has one query
 *   P' = 2^(scale S' - reference)    scale has the factor log2(e)
 *   O' += V' P'                      the lane has the probabilities where the instruction needs them: nothing moves
 *
 * Tiles alternate between two buffers in LDS: one is read while the other is loaded, with one barrier per tile. That is
 * gfx942; gfx950 has loops of its own (ping_pong.h, decode_loop.h). */
#include "key_tile.h"

#include "query_rows.h"

#include "last_part.h"
#include "memory_rows.h"

#if CHIP_TRANSPOSED_LDS_READS
#include "decode_loop.h"
#include "ping_pong.h"
#else
enum { BLOCKS = FAST_KEYS / 32, STEPS = FAST_KEYS / 16 };
#endif

/* One tile of keys; `key` is the first. masked: some rows don't see all of them. */
template <int head>
DEVICE void add_tile(fast_rows<head> *w, const lane_places<head> *t, float scale, int key, bool masked, tdm_type type) {
  f32x16 s[BLOCKS];
#pragma unroll
  for (int b = 0; b < BLOCKS; b++) s[b] = 0;
#pragma unroll
  for (int i = 0; i < head / 16; i++) {
    if (i % 2 == 0) keep_order(); /* as in multiply_all */
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) s[b] = mfma(read_keys<head>(t, b, i), w->q[i], s[b], type);
  }
  for (int b = 0; masked && b < BLOCKS; b++) mask_scores(&s[b], w->seen, key + 32 * b);
  u32x4 p[STEPS];
  make_probabilities<BLOCKS>(w, s, scale, p, type);
  multiply_values<STEPS>(w, t, p, masked, w->seen - key, type);
}

/* The state of a workgroup's loop: its buffers in LDS, and the outstanding loads. */
template <int head>
struct walk {
  LDS tile<head> *tiles;
  lane_places<head> lane;
  tile_source k, v;
  tile_load<head> load;
  int count; /* tiles */
};

/* Releases the previous tile, waits for tile i in buffer i % 2, and starts to load tile i + 1. */
template <int head>
DEVICE void enter_tile(walk<head> *t, int i, int place) {
  tile_arrived();
  next_tile<head>(&t->k);
  next_tile<head>(&t->v);
  LDS tile<head> *to = t->tiles + (place ^ 1);
  if (i + 1 < t->count) tile_begin(&t->load, to->k, to->v, &t->k, &t->v);
}

template <int head>
DEVICE void leave_tile(walk<head> *t, int i, int place) {
  LDS tile<head> *to = t->tiles + (place ^ 1);
  if (i + 1 < t->count) tile_finish(&t->load, to->k, to->v);
}

template <int head>
DEVICE void walk_tile(walk<head> *t, fast_rows<head> *w, const attention_args *a, int i, int place, bool masked,
                      tdm_type type) {
  enter_tile(t, i, place);
  add_tile(w, &t->lane, a->scale, i * FAST_KEYS, masked, type);
  leave_tile(t, i, place);
}

template <int head>
DEVICE void fast_body(const attention_args *a, LDS tile<head> *tiles, bool decode, tdm_type type) {
  const int wave = wave_index();
  attention_work work = decode ? find_part(a, type) : find_work(a, FAST_ROWS, type);
  int64_t first = work.first + wave_index() * 32;
  int whole = (int)(keys_seen_by_all(a, &work, first) / FAST_KEYS); /* tiles that all of the wave's rows see completely */
  int end = (int)((keys_seen_by_any(a, &work, first, 32) + FAST_KEYS - 1) / FAST_KEYS), i = 0;
  fast_rows<head> w;
  walk<head> t;
  t.tiles = tiles;
  t.k = source_of(work.k, a->k_stride.row, work.keys, a->head_dim);
  t.v = source_of(work.v, a->v_stride.row, work.keys, a->head_dim);
  t.count = (int)((keys_seen_by_any(a, &work, work.first, FAST_ROWS) + FAST_KEYS - 1) / FAST_KEYS);
  lane_places_of(&t.lane, (LDS char *)tiles->k, (LDS char *)tiles->v);
  tile_places(&t.load, &t.k, &t.v);
  begin_rows(&w, a, &work, first);
  if (t.count > 0) {
    tile_begin(&t.load, tiles->k, tiles->v, &t.k, &t.v);
    tile_finish(&t.load, tiles->k, tiles->v);
  }
  /* Two tiles per round, so that the buffer of each is a constant; then the tiles that need a mask, and those that the wave
   * only loads for others. A branch within one loop would cost moves of O in every round. All waves pass `count` barriers. */
  for (; i + 2 <= whole; i += 2) {
    t.lane.tile = 0;
    walk_tile(&t, &w, a, i, 0, false, type);
    t.lane.tile = sizeof(tile<head>);
    walk_tile(&t, &w, a, i + 1, 1, false, type);
  }
  t.lane.tile = 0;
  for (; i < end; i++) {
    walk_tile(&t, &w, a, i, i % 2, i >= whole, type);
    other_tile(&t.lane);
  }
  for (; i < t.count; i++) {
    enter_tile(&t, i, i % 2);
    leave_tile(&t, i, i % 2);
  }
  store_rows(&w, a, &work, first, type);
  if (decode) end_part<head>(a, wave, (LDS char *)tiles, type);
}

#define FAST_KERNEL(name, head, decode, type)                     \
  KERNEL WORKGROUP(FAST_THREADS, 2) void name(attention_args a) { \
    SHARED alignas(2 * sizeof(tile<head>)) tile<head> tiles[2];   \
    fast_body<head>(&a, (LDS tile<head> *)tiles, decode, type);   \
  }
#if CHIP_TRANSPOSED_LDS_READS
#define FLASH_KERNEL(name, head, type)                            \
  KERNEL WORKGROUP(FAST_THREADS, 2) void name(attention_args a) { \
    SHARED stages<head> lds;                                      \
    ping_pong<head>(&a, (LDS stages<head> *)&lds, type);          \
  }
#define DECODE_KERNEL(name, head, type)                                     \
  KERNEL WORKGROUP(FAST_THREADS, 2) void name(attention_args a) {           \
    SHARED alignas(2 * sizeof(tile<head>)) tile<head> tiles[DECODE_STAGES]; \
    decode_body<head>(&a, (LDS tile<head> *)tiles, type);                   \
  }
#else
#define FLASH_KERNEL(name, head, type) FAST_KERNEL(name, head, false, type)
#define DECODE_KERNEL(name, head, type) FAST_KERNEL(name, head, true, type)
#endif
FLASH_KERNEL(flash64_f16, 64, TDM_F16)
FLASH_KERNEL(flash64_bf16, 64, TDM_BF16)
FLASH_KERNEL(flash96_f16, 96, TDM_F16)
FLASH_KERNEL(flash96_bf16, 96, TDM_BF16)
FLASH_KERNEL(flash128_f16, 128, TDM_F16)
FLASH_KERNEL(flash128_bf16, 128, TDM_BF16)
DECODE_KERNEL(decode64_f16, 64, TDM_F16)
DECODE_KERNEL(decode64_bf16, 64, TDM_BF16)
DECODE_KERNEL(decode96_f16, 96, TDM_F16)
DECODE_KERNEL(decode96_bf16, 96, TDM_BF16)
DECODE_KERNEL(decode128_f16, 128, TDM_F16)
DECODE_KERNEL(decode128_bf16, 128, TDM_BF16)
