/* Turns: tiles of an XCD that share lines begin at different K steps (engine/tile.h). */
#ifndef TANDEM_HIP_HOST_TURNS_H
#define TANDEM_HIP_HOST_TURNS_H

#include "tile_parts.h"

/* The tiles of an XCD that are computed at the same time and share lines: rows and columns of tiles. */
typedef struct hip_shared_tiles {
  double m, n;
  double l2; /* what they read of the operands, as a share of the XCD's L2 */
} hip_shared_tiles;

/* of_xcd_parts: how many of a tile's parts an XCD has at the same time. */
hip_shared_tiles tdm_hip_shared_tiles(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int64_t k,
                                      int parts, int of_xcd_parts);
/* Both operands must be shared: a load waits for all those before it, so one operand's hits save nothing beside the other's
 * misses. What the first tile reads must still be in the L2, or most of it, when the others need it. Where rows straddle
 * cache lines the room of the vL1D is what limits all tiles, so it pays for more bytes: 1500x1100x3000 nn and 2000x2000x2000
 * tn bf16, with 1.4 and 1.5 times the L2, take 9 and 6 % less predicted clocks with turns. 128x14336x4096 nn, with 7 times,
 * takes 15 % more. */
bool tdm_hip_may_take_turns(const hip_shared_tiles *s, bool straddles);
/* turn_m or turn_n of the kernels' arguments: by which share of K (TILE_TURN_BITS) a tile begins later than its neighbour.
 * tiles: m or n of those that share lines. */
static inline uint32_t tdm_hip_turn(double tiles) { return (uint32_t)((1 << TILE_TURN_BITS) / tiles); }
/* hip_tile_work.hits of tiles that take turns and whose rows don't straddle lines. */
double tdm_hip_turn_hits(const tdm_plan *plan, const hip_shared_tiles *s);

#endif
