/* Which tile a workgroup computes, where the first dwords of its argument say it (args/first_tile.h). */
#ifndef TANDEM_HIP_ENGINE_FIRST_TILE_H
#define TANDEM_HIP_ENGINE_FIRST_TILE_H

#include "find_tile.h"
#include "hip/args/first_tile.h"

DEVICE uint32_t first_place(const hip_first_tile *t) { return hip_first_place(t, (uint32_t)__builtin_amdgcn_workgroup_id_x()); }

/* HIP_TILE_WHOLE. */
DEVICE tile_part first_whole_tile(const hip_first_tile *t) {
  const tdm_tile at = hip_first_tile_at(t, first_place(t));
  return (tile_part){at.m, at.n, 0, 0, 0, 0, 0, 0};
}

/* HIP_TILE_PARTS, or with `split` HIP_TILE_SPLIT. values: of a unit. */
DEVICE tile_part first_part(const hip_first_tile *t, uint32_t k, uint32_t values, bool split, uint32_t *first,
                            uint32_t *count) {
  const hip_first_part p = hip_first_part_at(t, first_place(t), k, values, split);
  *first = p.first, *count = p.count;
  return (tile_part){p.at.m, p.at.n, 0, p.part, split ? p.part : 0, p.tile, !split, p.at.n >= t->tiles_n};
}

/* The lines of a tile, of `whole`: in m, and in n. */
DEVICE int first_lines_m(const hip_first_tile *t, uint32_t m, int whole) { return m + 1 == t->tiles_m ? t->last_m + 1 : whole; }
DEVICE int first_lines_n(const hip_first_tile *t, uint32_t n, int whole) { return n + 1 == t->tiles_n ? t->last_n + 1 : whole; }

#endif
