/* Turns: tiles of an XCD that share lines begin at different K steps (engine/tile.h). */
#ifndef TANDEM_HIP_HOST_TURNS_H
#define TANDEM_HIP_HOST_TURNS_H

#include "tile_parts.h"

/* The tiles of an XCD that are computed at the same time and share lines: rows and columns of tiles. */
typedef struct hip_shared_tiles {
  double m, n;
  double l2; /* what they read of the operands, as a share of the XCD's L2 */
} hip_shared_tiles;
/* Do they share lines of both operands, and does the L2 keep them (hip_tile_work.shared)? */
static inline bool tdm_hip_all_shared(const hip_shared_tiles *s) { return s->m > 1 && s->n > 1 && s->l2 <= 1; }

/* Do rows straddle lines? */
static inline bool tdm_hip_straddles(const hip_tile_work *work) { return work->again_a > 0 || work->again_b > 0; }

/* of_xcd_parts: how many of a tile's parts an XCD has at the same time. */
hip_shared_tiles tdm_hip_shared_tiles(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int64_t k,
                                      int parts, int of_xcd_parts);
/* Both operands must be shared: a load waits for all those before it, so one operand's hits save nothing beside the other's
 * misses. Turns pay where what the tiles read fits in the L2. Where rows straddle cache lines the room of the vL1D is what
 * limits all tiles, so they pay for more bytes: 1500x1100x3000 nn and 2000x2000x2000 tn bf16, with 1.4 and 1.5 times the L2,
 * take 9 and 6 % less predicted clocks with turns.
 *
 * For more bytes than that, turns pay if the estimate says so. A line must stay in the L2 only until the neighbour's turn, an
 * s->m-th or s->n-th of K later: bf16 nt by 128x128 on gfx950, 8 x 4 tiles in an XCD, took 35,745 predicted clocks for
 * 2048x2048x2048 (1.5 times the L2), and 107,078 for a K of 8192 (6 times); 40,834 and 143,970 without turns. But all tiles
 * begin with lines that no other has loaded, and HBM must bring them at once: where it is busy anyway, as in 256x16384x2048
 * nt, they took 48,641 and 45,569. work: of the estimate without turns. */
bool tdm_hip_takes_turns(const tdm_plan *plan, const hip_tile_shape *tile, const hip_tile_work *work, const hip_shared_tiles *s,
                         bool straddles);
/* turn_m or turn_n of the kernels' arguments: by which share of K (TILE_TURN_BITS) a tile begins later than its neighbour.
 * tiles: m or n of those that share lines. */
static inline uint32_t tdm_hip_turn(double tiles) { return (uint32_t)((1 << TILE_TURN_BITS) / tiles); }
/* hip_tile_work.hits of tiles that take turns and whose rows don't straddle lines. */
double tdm_hip_turn_hits(const tdm_plan *plan, const hip_shared_tiles *s);

#endif
