/* What a wave of the loop of gfx950 (ping_pong.h) has in registers, the stages of keys and values in LDS, and how they are
 * filled and read. */
#ifndef TANDEM_HIP_ATTENTION_STAGES_H
#define TANDEM_HIP_ATTENTION_STAGES_H

#include "key_tile.h"
#include "query_rows.h"

#include "lds_rows.h"

enum { STAGES = 3 };

template <int head>
constexpr uint32_t TILE_BYTES = HALF_TILE<head>;

template <int head>
struct alignas(1024) stages {
  char k[STAGES][TILE_BYTES<head>];
  char v[STAGES][TILE_BYTES<head>];
  char rows[FAST_THREADS / WAVE][ROWS_BYTES<head>];
};

template <int head>
constexpr int LOADS = TILE_BYTES<head> / (FAST_THREADS * CHUNK); /* of a wave for a tile of keys, or of values */

/* The tiles of keys and of values that are loaded next. All of it stays in SGPRs, and is little: the scalar unit works for it
 * while the matrix unit multiplies. */
typedef struct next_tiles {
  const char *k, *v;
  int64_t k_step, v_step; /* bytes from one tile to the next */
  uint32_t k_row, v_row;  /* bytes from one row to the next, */
  uint32_t k_end, v_end;  /* and how many more the last row has */
  uint32_t length;
  int left, rows, rows_before;  /* rows from this tile of keys on, in it, and in the one before: in the tile of values */
  uint32_t stage, stage_before; /* the wave's parts of their stages, and of the last stage */
  uint32_t last;
} next_tiles;

/* What a wave has in registers. */
template <int head>
struct pong : wave_rows<head, head / 16> {
  f32x16 s[BLOCKS<head>];
  u32x4 p[STEPS<head>], k[BLOCKS<head>][head / 16];
  lane_places<head> at; /* keys: those that a slot of probabilities reads in the next tile's stage, the others in this tile's */
  uint32_t turn;        /* this tile's stage */
  uint32_t k_from[LOADS<head>], v_from[LOADS<head>];
  next_tiles next;
  LDS stages<head> *lds;
  bool grows; /* the last tile had a larger maximum than the reference */
};

/* Moves addresses to the next stage, where they are: computed from the first stage's, they would take as many registers again.
 * last: they are in the last stage. */
template <int bytes, int stages = STAGES>
DEVICE void turn_addresses(uint32_t *at, int count, bool last) {
  const uint32_t step = last ? (uint32_t)(1 - stages) * bytes : bytes;
#pragma unroll
  for (int i = 0; i < count; i++) asm volatile("v_add_u32 %0, %1, %0" : "+v"(at[i]) : "s"(step));
}

template <int head>
constexpr int EARLY_KEYS = SCORE_PRODUCTS<head> / 4 * 2; /* chunks of keys that the slot before has read */
template <int head>
constexpr int LATE_KEYS = SCORE_PRODUCTS<head> - EARLY_KEYS<head>;
template <int head>
constexpr int VALUE_READS = VALUE_PRODUCTS<head> * 2;

/* ---- Loads ---- */

/* The compiler moves them to VGPRs for some loops, where load-to-LDS can't have them. */
DEVICE void settle(next_tiles *n) {
  n->k = in_scalars(n->k);
  n->v = in_scalars(n->v);
  n->left = (int)in_scalar((uint32_t)n->left);
  n->rows = (int)in_scalar((uint32_t)n->rows);
  n->rows_before = (int)in_scalar((uint32_t)n->rows_before);
  n->stage = in_scalar(n->stage);
  n->stage_before = in_scalar(n->stage_before);
}

/* The buffer's length: `rows` rows, and zeros for the rest of the tile. */
DEVICE uint32_t length_of(int rows, uint32_t row_bytes, uint32_t last_bytes) {
  rows = scalar_here(rows);
  return scalar_here(rows > 0 ? (uint32_t)rows * row_bytes + last_bytes : 0);
}

/* Load n of a tile of keys, or of values. */
template <int head>
DEVICE void load_tile(const char *base, uint32_t length, const uint32_t *from, uint32_t to, int n) {
  static_assert(LOADS<head> <= 2, "load_part has two for each tile");
  buffer resource = make_short_buffer(base, length);
  if (n < LOADS<head>) buffer_load_to_lds(resource, from[n], at_lds(to + (uint32_t)(n * FAST_THREADS * CHUNK)));
}

/* What the scalar unit does for the loads of a tile of keys, and of the values of the tile before it, in parts: it can issue
 * five instructions between two products without making the second one late. */
enum {
  KEYS_LENGTH,
  FIRST_OF_KEYS,
  SECOND_OF_KEYS,
  NEXT_KEYS,
  VALUES_LENGTH,
  FIRST_OF_VALUES,
  SECOND_OF_VALUES,
  NEXT_VALUES,
  NEXT_ROWS,
  NEXT_STAGE,
  LOAD_PARTS /* so many */
};
template <int head>
DEVICE void load_part(pong<head> *w, int part) {
  next_tiles *n = &w->next;
  switch (part) {
    case KEYS_LENGTH: n->length = length_of(n->rows, n->k_row, n->k_end); break;
    case FIRST_OF_KEYS: load_tile<head>(n->k, n->length, w->k_from, n->stage, 0); break;
    case SECOND_OF_KEYS: load_tile<head>(n->k, n->length, w->k_from, n->stage, 1); break;
    case NEXT_KEYS: n->k = advance_here(n->k, n->k_step); break;
    case VALUES_LENGTH: n->length = length_of(n->rows_before, n->v_row, n->v_end); break;
    case FIRST_OF_VALUES: load_tile<head>(n->v, n->length, w->v_from, n->stage_before + (uint32_t)sizeof w->lds->k, 0); break;
    case SECOND_OF_VALUES: load_tile<head>(n->v, n->length, w->v_from, n->stage_before + (uint32_t)sizeof w->lds->k, 1); break;
    case NEXT_VALUES: n->v = advance_here(n->v, n->v_step); break;
    case NEXT_ROWS:
      n->rows_before = n->rows;
      n->left = (int)add_here((uint32_t)n->left, (uint32_t)-KEYS<head>);
      n->rows = scalar_here(n->left < 0 ? 0 : n->left);
      n->rows = scalar_here(n->rows > KEYS<head> ? KEYS<head> : n->rows);
      break;
    case NEXT_STAGE:
      n->stage_before = scalar_here(n->stage);
      n->stage = scalar_here(n->stage == n->last ? n->last - (STAGES - 1) * TILE_BYTES<head> : n->stage + TILE_BYTES<head>);
      break;
  }
}
/* Those before product n. */
template <int head>
DEVICE constexpr int parts_before(int n) {
  const int parts = n <= 1 ? 0 : (n - 1) * (LOAD_PARTS + 1) / SCORE_PRODUCTS<head>;
  return n == SCORE_PRODUCTS<head> || parts > LOAD_PARTS ? LOAD_PARTS : parts;
}
template <int head>
DEVICE void load_tiles(pong<head> *w) {
#pragma unroll
  for (int part = 0; part < LOAD_PARTS; part++) load_part(w, part);
}

template <int head>
DEVICE void start_key_reads(pong<head> *w, int begin, int end) {
#pragma unroll
  for (int n = begin; n < end; n++)
    w->k[n % BLOCKS<head>][n / BLOCKS<head>] =
        lds_read_unordered(w->at.k[n / BLOCKS<head>], n % BLOCKS<head> * 32 * WIDTH<head> * 2);
}
template <int head>
DEVICE void take_keys(pong<head> *w) {
#pragma unroll
  for (int n = 0; n < EARLY_KEYS<head>; n++)
    w->k[n % BLOCKS<head>][n / BLOCKS<head>] = in_order(w->k[n % BLOCKS<head>][n / BLOCKS<head>]);
}

#endif
