/* Which tile a workgroup computes, and which part of K: src/base/order.h with divisions by known numbers. */
#ifndef TANDEM_HIP_ENGINE_FIND_TILE_H
#define TANDEM_HIP_ENGINE_FIND_TILE_H

#include "hip/args/find_tile.h"
#include "hip/device/types.h"

/* Without last_adds the matrices of C are in `stored` as K splits count them (gemm/k_split.h). */
typedef struct tile_part {
  uint32_t m, n, matrix, part, stored;
  uint32_t tile; /* if last_adds: the tile's number, of all matrices */
  int last_adds; /* or 0, as `none`. Not bool, which would be in VGPRs */
  int none;      /* there is no such tile: a workgroup that is only there so that each XCD has whole tiles */
} tile_part;

/* What find_tile reads, for an asm that has all of it read at once: one after another, each waits. */
#define ORDER_FIELDS(order) \
  "s"((order).tiles_m), "s"((order).tiles_n), "s"((order).count), "s"((order).xcds), "s"((order).window), "s"((order).chunk)
#define DIVISOR_FIELDS(by)                                                                                                  \
  "s"((by).parts.factor), "s"((by).parts.shift), "s"((by).xcds.factor), "s"((by).xcds.shift), "s"((by).matrix.factor),      \
      "s"((by).matrix.shift), "s"((by).band.factor), "s"((by).band.shift), "s"((by).window.factor), "s"((by).window.shift), \
      "s"((by).rest.factor), "s"((by).rest.shift)

/* tdm_order_remap. */
DEVICE uint32_t position_of(const tdm_order *order, const hip_order_divisors *by, uint32_t id) {
  const uint32_t local = quotient(id, by->xcds), xcd = id - local * order->xcds, chunk = order->chunk;
  const uint32_t round = __builtin_expect(local < chunk, 1) ? 0 : local / chunk, full = chunk * order->xcds;
  const uint32_t left = order->count - round * full, share = quotient(left, by->xcds), more = left - share * order->xcds;
  const uint32_t begins = left < full ? xcd * share + (xcd < more ? xcd : more) : xcd * chunk;
  return round * full + begins + local - round * chunk;
}

/* tdm_order_at. */
DEVICE tdm_tile tile_at(const tdm_order *order, const hip_order_divisors *by, uint32_t position) {
  const uint32_t matrix = quotient(position, by->matrix), at = position - matrix * order->tiles_m * order->tiles_n;
  const uint32_t band = quotient(at, by->band), first = band * order->window, left = order->tiles_m - first;
  const bool last = left < order->window;
  const uint32_t height = last ? left : order->window, within = at - first * order->tiles_n;
  hip_divisor rest = by->rest, window = by->window;
  asm volatile("" : "+s"(rest.factor), "+s"(rest.shift), "+s"(window.factor), "+s"(window.shift)); /* else it is loaded here */
  const hip_divisor of_height = {last ? rest.factor : window.factor, last ? rest.shift : window.shift};
  const uint32_t n = quotient(within, of_height);
  return (tdm_tile){first + within - n * height, n, matrix};
}

/* last_adds: the last workgroup of a tile adds its parts (last_part.h), which have neighbouring places then. */
DEVICE tile_part find_tile(const tdm_order *order, const hip_order_divisors *by, uint32_t parts, uint32_t matrices,
                           bool last_adds) {
  const uint32_t position = position_of(order, by, (uint32_t)__builtin_amdgcn_workgroup_id_x());
  const uint32_t tile = quotient(position, by->parts);
  if (__builtin_expect(!last_adds, 1)) {
    const tdm_tile at = tile_at(order, by, position);
    const uint32_t matrix = quotient(at.matrix, by->parts);
    return (tile_part){at.m, at.n, matrix, at.matrix - matrix * parts, at.matrix, 0, false, false};
  }
  const tdm_tile at = tile_at(order, by, tile);
  return (tile_part){at.m, at.n, at.matrix, position - tile * parts, at.matrix, tile, true, at.matrix >= matrices};
}

#endif
