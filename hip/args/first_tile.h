/* The tiles of a launch in six dwords: what a workgroup needs to find its tile before anything has come from memory. Shared by
 * host and device. */
#ifndef TANDEM_HIP_ARGS_FIRST_TILE_H
#define TANDEM_HIP_ARGS_FIRST_TILE_H

#include <stdbool.h>
#include <stdint.h>

#include "preloaded.h"
#include "src/base/order.h"

enum {
  HIP_TILE_UNKNOWN, /* the rest says nothing, and find_tile.h has to be asked */
  HIP_TILE_WHOLE,   /* one matrix, in whole tiles */
  HIP_TILE_PARTS,   /* one matrix, in one band; the last of a tile's workgroups adds their parts (engine/last_part.h) */
  /* One matrix, in one band. All tiles of a part come before those of the next part, and another launch adds the parts. */
  HIP_TILE_SPLIT,
  HIP_TILE_TURNS /* as HIP_TILE_WHOLE, and with turns (hip_first_with_turns) */
};

typedef struct hip_first_tile {
  /* n / by for n < 2^16 is (n + 1) times this >> 32: it is (2^32 - 1) / by, by from 1 to 2^16. */
  uint32_t of_band, of_window, of_rest; /* by the tiles of a band, its rows, and the rows of the last one */
  uint16_t tiles_m, tiles_n;
  uint16_t share;          /* workgroups of an XCD ... */
  uint8_t window, more;    /* ... and one more for so many of them */
  uint8_t last_m, last_n;  /* lines of the last tile in m and in n, but one */
  uint8_t xcds_log2, kind; /* HIP_TILE_UNKNOWN, ... */
} hip_first_tile;
/* Of HIP_TILE_PARTS: of_band is by the parts, and of_rest has their number and, from bit 16 on, how many have a unit more. Of
 * HIP_TILE_SPLIT: of_band is by the tiles, of_rest has the units of a part and how many have one more, and window is the number
 * of parts. */

/* n / by, where `multiplier` is by's. */
TDM_ORDER_FUNCTION uint32_t hip_short_quotient(uint32_t n, uint32_t multiplier) {
  return (uint32_t)((uint64_t)(n + 1) * multiplier >> 32);
}

/* tdm_order_remap: of workgroup `id`. */
TDM_ORDER_FUNCTION uint32_t hip_first_place(const hip_first_tile *t, uint32_t id) {
  const uint32_t local = id >> t->xcds_log2, xcd = id & ((1u << t->xcds_log2) - 1);
  return local + xcd * t->share + (xcd < t->more ? xcd : t->more);
}

/* HIP_TILE_TURNS stores the turns of engine/tile.h in share and more. Those follow from the number of tiles. */
typedef struct hip_first_turns {
  uint32_t m, n;
} hip_first_turns;
enum { HIP_TURN_N_SHIFT = 8 }; /* the lower bits are dropped, which moves a tile's first K step by less than 1/256 of K */
TDM_ORDER_FUNCTION hip_first_turns hip_take_turns(hip_first_tile *t) {
  const hip_first_turns turns = {t->share, (uint32_t)t->more << HIP_TURN_N_SHIFT};
  const uint32_t count = (uint32_t)t->tiles_m * t->tiles_n;
  t->share = (uint16_t)(count >> t->xcds_log2), t->more = (uint8_t)(count & ((1u << t->xcds_log2) - 1));
  return turns;
}

/* tdm_order_group, of HIP_TILE_WHOLE. */
TDM_ORDER_FUNCTION tdm_tile hip_first_tile_at(const hip_first_tile *t, uint32_t place) {
  const uint32_t first = hip_short_quotient(place, t->of_band) * t->window, left = t->tiles_m - first;
  const uint32_t height = left < t->window ? left : t->window, within = place - first * t->tiles_n;
  tdm_tile at;
  at.n = hip_short_quotient(within, left < t->window ? t->of_rest : t->of_window);
  at.m = first + within - at.n * height;
  at.matrix = 0;
  return at;
}

/* A part of K: `count` values from `first` on, of the tile whose number is `tile`. Of HIP_TILE_PARTS there is none if at.n is
 * tiles_n or more. */
typedef struct hip_first_part {
  tdm_tile at;
  uint32_t tile, part, first, count;
} hip_first_part;
/* values: of a unit. split: of HIP_TILE_SPLIT; a constant, as the kinds have few instructions in common. */
TDM_ORDER_FUNCTION hip_first_part hip_first_part_at(const hip_first_tile *t, uint32_t place, uint32_t k, uint32_t values,
                                                    bool split) {
  const uint32_t low = t->of_rest & 0xffff, longer = t->of_rest >> 16, quotient = hip_short_quotient(place, t->of_band);
  const uint32_t parts = split ? t->window : low, units = split ? low : hip_short_quotient(k / values, t->of_band);
  hip_first_part p;
  p.part = split ? quotient : place - quotient * parts;
  p.tile = split ? place - quotient * t->tiles_m * t->tiles_n : quotient;
  p.at.n = hip_short_quotient(p.tile, t->of_window);
  p.at.m = p.tile - p.at.n * t->tiles_m;
  p.at.matrix = 0;
  p.first = (p.part * units + (p.part < longer ? p.part : longer)) * values;
  p.count = p.part + 1 == parts ? k - p.first : (units + (p.part < longer)) * values;
  return p;
}

#ifndef __HIP__
/* HIP_TILE_UNKNOWN unless there are 2^i XCDs, one round of workgroups, and small numbers. parts: K splits, of `units` units
 * together (k_part.h). last_adds: a tile's last workgroup adds them; else they are matrices of the order. */
static inline hip_first_tile hip_first_tile_of(tdm_order order, int parts, bool last_adds, int64_t units, int64_t m, int64_t n,
                                               int tile_m, int tile_n) {
  enum { BELOW = 1 << 16, BYTE = 256 };
  const unsigned share = order.count / order.xcds, more = order.count % order.xcds, rest = order.tiles_m % order.window;
  hip_first_tile t = {0};
  if (share + (more > 0) > order.chunk || order.count >= BELOW || (order.xcds & (order.xcds - 1)) != 0) return t;
  if (order.xcds > BYTE || order.window >= BYTE) return t;
  const bool split = parts > 1 && !last_adds;
  if (parts > 1 && (order.window != order.tiles_m || units >= BELOW || (split && parts >= BYTE))) return t;
  t.of_band = UINT32_MAX / (parts > 1 && last_adds ? (unsigned)parts : order.window * order.tiles_n);
  t.of_window = UINT32_MAX / order.window;
  t.of_rest = rest > 0 ? UINT32_MAX / rest : t.of_window;
  if (parts > 1) t.of_rest = (uint32_t)(split ? units / parts : parts) | (uint32_t)(units % parts) << 16;
  t.tiles_m = (uint16_t)order.tiles_m, t.tiles_n = (uint16_t)order.tiles_n;
  t.share = (uint16_t)share, t.more = (uint8_t)more, t.window = split ? (uint8_t)parts : (uint8_t)order.window;
  t.last_m = (uint8_t)((m - 1) % tile_m), t.last_n = (uint8_t)((n - 1) % tile_n);
  while (1u << t.xcds_log2 < order.xcds) t.xcds_log2++;
  t.kind = split ? HIP_TILE_SPLIT : parts > 1 ? HIP_TILE_PARTS : HIP_TILE_WHOLE;
  return t;
}
/* m, n: the turns, below 2^16. */
static inline hip_first_tile hip_first_with_turns(hip_first_tile t, hip_first_turns turns) {
  enum { MOST = UINT8_MAX };
  const uint32_t n = (turns.n + (1u << HIP_TURN_N_SHIFT) / 2) >> HIP_TURN_N_SHIFT;
  if (t.kind != HIP_TILE_WHOLE) return (hip_first_tile){0};
  t.share = (uint16_t)turns.m, t.more = (uint8_t)(n < MOST ? n : MOST);
  t.kind = HIP_TILE_TURNS;
  return t;
}
#endif

#endif
