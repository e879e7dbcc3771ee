/* K splits in one launch: the last workgroup of a tile adds its parts (engine/last_part.h). */
#ifndef TANDEM_HIP_HOST_TILE_PARTS_H
#define TANDEM_HIP_HOST_TILE_PARTS_H

#include "hip/args/find_tile.h"
#include "tile_launch.h"

/* What the tiles are of. */
typedef struct hip_tile_output {
  int64_t m, n, batch;
  tdm_type type; /* of what is multiplied */
} hip_tile_output;

enum { HIP_MOST_PARTS = 64 }; /* more are not tried; offsets in a tile's parts, of 128 KiB at most each, have 31 bits */

/* Whole units of HIP_PART_UNIT bytes along k. */
int64_t tdm_hip_units_of(int64_t k, tdm_type type);
/* Does each part of a K split have one? */
bool tdm_hip_parts_have_units(int parts, int64_t k, tdm_type type, char *reason, size_t size);
double tdm_hip_tiles_of(const hip_tile_output *of, const hip_tile_shape *tile);
/* Bytes of partial sums. */
double tdm_hip_tile_parts_bytes(const hip_tile_output *of, const hip_tile_shape *tile, int parts);
/* The workgroups of an XCD, if each XCD has whole tiles then, with all parts; else 0. */
unsigned tdm_hip_whole_tiles(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts);
/* The order of workgroups: of tiles, each with all its parts. */
tdm_order tdm_hip_parts_order(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts);
/* The workgroups of the CU with the most, if each XCD has whole tiles; else 0, as hip_tile_work.of_cu takes it. 257x515x1001
 * f32 nt of swiglu by tiles of 32x64 in 3 parts on gfx950: 33 workgroups on an XCD's 32 CUs take 41,654 predicted clocks, in
 * 2 parts 35,788. */
double tdm_hip_parts_of_cu(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts);

/* The estimate of a run with tile->split parts. */
typedef tdm_cost hip_cost_of_parts(const tdm_plan *plan, const hip_tile_shape *tile, const void *work);
/* The smallest estimate, and how many parts it has: those that the plan names, or the best number of some. */
tdm_cost tdm_hip_best_parts(const tdm_plan *plan, const hip_tile_output *of, hip_tile_shape tile, int64_t k,
                            hip_cost_of_parts *cost_of, const void *work, int *parts);

/* Clocks that the last workgroups of the tiles take. */
double tdm_hip_last_clocks(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts);

#endif
