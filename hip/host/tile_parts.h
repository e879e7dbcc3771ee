/* K splits in one launch: the last workgroup of a tile adds its parts (engine/last_part.h). */
#ifndef TANDEM_HIP_HOST_TILE_PARTS_H
#define TANDEM_HIP_HOST_TILE_PARTS_H

#include "tile_launch.h"

/* What the tiles are of. */
typedef struct hip_tile_output {
  int64_t m, n, batch;
  tdm_type type; /* of what is multiplied */
} hip_tile_output;

enum { HIP_MOST_PARTS = 64 }; /* offsets in a tile's parts have 31 bits */

double tdm_hip_tiles_of(const hip_tile_output *of, const hip_tile_shape *tile);
/* Bytes of partial sums. */
double tdm_hip_tile_parts_bytes(const hip_tile_output *of, const hip_tile_shape *tile, int parts);
/* The workgroups of an XCD, if each XCD has whole tiles then, with all parts; else 0. */
unsigned tdm_hip_whole_tiles(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts);
/* The order of workgroups: of tiles, each with all its parts. */
tdm_order tdm_hip_parts_order(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts);
/* Clocks that the last workgroups of the tiles take. */
double tdm_hip_last_clocks(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts);

#endif
