/* What a workgroup needs to find its tile and its part of K without a division (engine/find_tile.h). */
#ifndef TANDEM_HIP_ARGS_FIND_TILE_H
#define TANDEM_HIP_ARGS_FIND_TILE_H

#include "divisor.h"
#include "src/base/order.h"

enum { HIP_PART_UNIT = 128 }; /* bytes along k: a K split consists of whole units, except the last one */

typedef struct hip_order_divisors {
  hip_divisor parts;              /* K splits */
  hip_divisor xcds, matrix, band; /* matrix, band: the tiles of one */
  hip_divisor window, rest;       /* tile rows of a band, and of the last one */
} hip_order_divisors;

#ifndef __HIP__
static inline hip_order_divisors hip_order_divisors_of(tdm_order order, int parts) {
  const unsigned rest = order.tiles_m % order.window;
  return (hip_order_divisors){hip_divisor_of(parts),
                              hip_divisor_of(order.xcds),
                              hip_divisor_of((int64_t)order.tiles_m * order.tiles_n),
                              hip_divisor_of((int64_t)order.window * order.tiles_n),
                              hip_divisor_of(order.window),
                              hip_divisor_of(rest > 0 ? rest : order.window)};
}
#endif

#endif
