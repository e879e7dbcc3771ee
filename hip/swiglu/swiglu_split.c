/* K splits of swiglu's tiles, in one launch (engine/last_part.h), and their turns. A run that falls back has neither. */
#include <stdio.h>
#include <string.h>

#include "hip/host/turns.h"
#include "swiglu.h"

int swiglu_parts(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  const int split = plan->tuning.of[TDM_TUNE_SPLIT];
  return kernel->tile.last_adds && split > 1 ? split : 1;
}

bool swiglu_supports_split(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const int parts = swiglu_parts(plan, kernel);
  if (!tdm_hip_parts_have_units(parts, d->k, d->type, reason, size)) return false;
  if (parts > HIP_MOST_PARTS) {
    snprintf(reason, size, "split = %d: at most %d", parts, HIP_MOST_PARTS);
    return false;
  }
  return tdm_hip_tiles_fit(d->m, d->n, parts, kernel->tile.m, kernel->tile.n, reason, size);
}

/* The parts of a tile are neighbours in the order of workgroups, so an XCD has all of them. */
static hip_shared_tiles shared_of(const tdm_plan *plan, const hip_tile_shape *tile, int parts) {
  const hip_tile_output output = swiglu_output(&plan->desc.swiglu);
  return tdm_hip_shared_tiles(plan, &output, tile, plan->desc.swiglu.k, parts, parts);
}

static tdm_cost cost_of_parts(const tdm_plan *plan, const hip_tile_shape *tile, const void *work) {
  /* As in gemm.c, but only where that fits: 257x515x1001 f32 nt takes 34,382 predicted clocks by 64x64 in 5 parts on gfx950,
   * and 32,393 by 32x64; 96x3000x1000 bf16 nn 28,142 and 25,766 on gfx942. */
  static const double TURNS = 0.7;
  /* Where a step is half of a line, its other half comes from the L2. By predictions of 256x5632x2048, 1536x3072x1536 and
   * 64x8192x2048 bf16 nt by 64x64 and 128x64 on gfx942. */
  static const double HALF_LINES = 0.8;
  const hip_tile_output output = swiglu_output(&plan->desc.swiglu);
  const hip_shared_tiles shared = shared_of(plan, tile, tile->split);
  hip_tile_work of = *(const hip_tile_work *)work;
  const bool straddles = tdm_hip_straddles(&of), halves = tdm_hip_half_lines(plan->context->hip->chip);
  tdm_cost cost;
  if (tile->turns && tdm_hip_takes_turns(plan, tile, work, &shared, straddles)) {
    if (straddles) {
      of.once += HIP_FIRST_TURNS;
      if (tdm_type_size(of.type) == 2 && !(halves && of.across_b)) of.latency = TURNS;
    } else {
      of.hits = tdm_hip_turn_hits(plan, &shared); /* which have the first turns */
    }
  } else if (tile->between && halves && !of.across_b) {
    of.latency = HALF_LINES;
  }
  of.shared = tile->turns && tdm_hip_all_shared(&shared);
  if (tile->split > 1) of.of_cu = tdm_hip_parts_of_cu(plan, &output, tile, tile->split);
  tdm_hip_tile_cost(plan, tile, &of, &cost);
  if (tile->split > 1) cost.clocks += tdm_hip_last_clocks(plan, &output, tile, tile->split);
  return cost;
}

tdm_cost swiglu_best_split(const tdm_plan *plan, const hip_tile_shape *tile, const hip_tile_work *work, int *split) {
  const hip_tile_output output = swiglu_output(&plan->desc.swiglu);
  tdm_cost cost;
  *split = 1;
  if (tile->last_adds) return tdm_hip_best_parts(plan, &output, *tile, plan->desc.swiglu.k, cost_of_parts, work, split);
  tdm_hip_tile_cost(plan, tile, work, &cost);
  return cost;
}

static void set_first(swiglu_args *args, const tdm_swiglu_desc *d, const hip_tile_kernel *kernel) {
  enum { DWORD = 4, LD_BELOW = 1 << 21 /* dwords */, K_BELOW = 1 << 22 };
  const int64_t in_dword = DWORD / (int64_t)tdm_type_size(d->type), below = LD_BELOW * in_dword;
  if (args->ldx >= below || args->ldg >= below || args->k >= K_BELOW) return;
  if (args->ldx % in_dword != 0 || args->ldg % in_dword != 0 || args->ldg != args->ldu) return;
  args->first.ldx = (uint64_t)(args->ldx / in_dword), args->first.ldg = (uint64_t)(args->ldg / in_dword);
  args->first.k = (uint64_t)args->k;
  args->first.tile = hip_first_tile_of(args->order, args->parts, true, tdm_hip_units_of(args->k, d->type), d->m, d->n,
                                       kernel->tile.m, kernel->tile.n);
  if (args->turn_m != 0 || args->turn_n != 0)
    args->first.tile = hip_first_with_turns(args->first.tile, (hip_first_turns){args->turn_m, args->turn_n});
}

void swiglu_set_parts(const tdm_plan *plan, const hip_tile_kernel *kernel, const hip_tile_work *work, swiglu_args *args) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const hip_tile_output output = swiglu_output(&plan->desc.swiglu);
  const int parts = swiglu_parts(plan, kernel);
  const int64_t units = tdm_hip_units_of(args->k, d->type);
  args->order = parts > 1 ? tdm_hip_parts_order(plan, &output, &kernel->tile, parts)
                          : tdm_hip_tiles(plan, d->m, d->n, 1, kernel->tile.m, kernel->tile.n);
  args->by = hip_order_divisors_of(args->order, parts);
  args->parts = parts;
  args->part_units = units / parts;
  args->longer_parts = (int32_t)(units % parts);
  hip_tile_shape tile = kernel->tile;
  tile.split = parts;
  const hip_shared_tiles shared = shared_of(plan, &tile, parts);
  if (tile.turns && tdm_hip_takes_turns(plan, &tile, work, &shared, tdm_hip_straddles(work))) {
    args->turn_m = (uint16_t)tdm_hip_turn(shared.m);
    args->turn_n = (uint16_t)tdm_hip_turn(shared.n);
  }
  set_first(args, d, kernel);
}

void swiglu_set_part_pointers(const tdm_plan *plan, swiglu_args *args) {
  args->tile_parts = args->parts > 1 ? plan->workspace : NULL;
  args->counters = args->parts > 1 ? plan->table : NULL;
}

tdm_status swiglu_prepare_split(tdm_plan *plan, const hip_tile_kernel *kernel) {
  const int parts = swiglu_parts(plan, kernel);
  if (parts == 1 || plan->empty) return TDM_OK;
  const hip_tile_output output = swiglu_output(&plan->desc.swiglu);
  const size_t tiles = (size_t)tdm_hip_tiles_of(&output, &kernel->tile), used = strlen(plan->explain);
  plan->workspace_bytes = (size_t)tdm_hip_tile_parts_bytes(&output, &kernel->tile, parts);
  snprintf(plan->explain + used, sizeof plan->explain - used,
           "split: %d K splits, %zu bytes of partial sums, added by the last workgroup of each tile\n", parts,
           plan->workspace_bytes);
  return tdm_hip_upload_counters(plan, NULL, 0, tiles);
}
