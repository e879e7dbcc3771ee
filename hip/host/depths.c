/* The depths of tiles: what the estimates and the plans of gemm and swiglu share. */
#include "depths.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { FRAGMENT = 16 /* lines */, PART = 64 /* bytes along k of a product */, SIMDS = 4 };

static int products_of(const hip_tile_shape *tile) { return tile->products > 1 ? tile->products : 1; }

/* Loads by cache lines have a loop of their own. */
static bool reads_between(const tdm_plan *plan, const hip_tile_shape *tile, int depth) {
  const int rows = tile->m / tile->waves_m / FRAGMENT, columns = tile->n / tile->waves_n / FRAGMENT,
            parts = HIP_PIPE_ROW(plan->context->hip->chip->lds_bytes) / PART;
  return depth != tile->cache_lines && HIP_READS_BETWEEN(products_of(tile), rows, columns, parts);
}

static size_t lds_of(const tdm_plan *plan, const hip_depth_tile *t, int depth) {
  const hip_tile_shape *tile = &t->kernel.tile;
  if (depth == 0) return 0;                                                        /* of a tile that has one depth */
  const size_t lds = plan->context->hip->chip->lds_bytes, row = HIP_PIPE_ROW(lds); /* of a line in a stage */
  const size_t stage = (size_t)(tile->m + products_of(tile) * tile->n) * row, stages = (size_t)depth;
  const int waves = tile->waves_m * tile->waves_n;
  const bool between = depth == tile->cache_lines || reads_between(plan, tile, depth);
  const bool across = t->spares_across && depth != tile->cache_lines && plan->desc.gemm.layout != TDM_NT;
  const bool spare = between && row / PART > 1 && (across || HIP_SPARES_STAGE((int)lds, (int)stage, depth, waves));
  return (stages + spare) * stage;
}

hip_tile_shape tdm_hip_at_depth(const tdm_plan *plan, const hip_depth_tile *t, int depth) {
  hip_tile_shape tile = t->kernel.tile;
  const int waves = tile.waves_m * tile.waves_n, by_lds = (int)(plan->context->hip->lds_bytes / lds_of(plan, t, depth));
  tile.resident = HIP_WAVES_OF_SIMD(by_lds, waves) * SIMDS / waves; /* a kernel has registers for as many */
  if (tile.resident > by_lds) tile.resident = by_lds;
  tile.between = reads_between(plan, &tile, depth);
  tile.last_adds = true;
  tile.ahead = depth == tile.cache_lines ? depth - 2 : depth - 1;
  return tile;
}

bool tdm_hip_supports_depth(const tdm_plan *plan, const hip_depth_tile *t, char *reason, size_t size) {
  const int depth = plan->tuning.of[TDM_TUNE_DEPTH], fewest = depth > 0 ? depth : t->least;
  if (depth > 0 && (depth < t->least || depth > t->most)) {
    snprintf(reason, size, "depth = %d: must be %d to %d", depth, t->least, t->most);
    return false;
  }
  if (lds_of(plan, t, fewest) > plan->context->hip->lds_bytes) {
    snprintf(reason, size, "depth = %d: %zu bytes of LDS, a workgroup of %s may have %zu", fewest, lds_of(plan, t, fewest),
             plan->context->hip->chip->name, plan->context->hip->lds_bytes);
    return false;
  }
  return true;
}

tdm_cost tdm_hip_best_depth(const tdm_plan *plan, const hip_depth_tile *t, hip_cost_of_depth *cost_of, hip_tries_depth *tries,
                            tdm_tuning *tuning) {
  const int named = plan->tuning.of[TDM_TUNE_DEPTH], first = named > 0 ? named : t->least, last = named > 0 ? named : t->most;
  tdm_cost best = {0};
  bool found = false;
  tdm_plan tried; /* the depth says whether operands are copied */
  memcpy(&tried, plan, offsetof(tdm_plan, lock));
  *tuning = plan->tuning;
  for (int depth = first; depth <= last && lds_of(plan, t, depth) <= plan->context->hip->lds_bytes; depth++) {
    int split;
    tried.tuning.of[TDM_TUNE_DEPTH] = depth;
    if (named == 0 && tries != NULL && !tries(&tried, t, depth)) continue;
    const tdm_cost cost = cost_of(&tried, t, depth, &split);
    if (found && cost.clocks > best.clocks) continue; /* in a tie loads have more time */
    best = cost;
    found = true;
    if (plan->kernel->takes & 1 << TDM_TUNE_DEPTH) tuning->of[TDM_TUNE_DEPTH] = depth;
    tuning->of[TDM_TUNE_SPLIT] = split > 1 ? split : plan->tuning.of[TDM_TUNE_SPLIT];
  }
  return best;
}
