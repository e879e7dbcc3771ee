/* K splits of swiglu's narrow tiles, in one launch (engine/last_part.h). A run that falls back has no split. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hip/host/tile_parts.h"
#include "swiglu.h"

static hip_tile_output output_of(const tdm_plan *plan) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  return (hip_tile_output){d->m, d->n, 1, d->type};
}

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

tdm_cost swiglu_best_split(const tdm_plan *plan, const hip_tile_shape *tile, const hip_tile_work *work, int *split) {
  static const int splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  enum { LEAST_UNITS = 4 }; /* of a part */
  const hip_tile_output output = output_of(plan);
  const int named = tile->last_adds ? plan->tuning.of[TDM_TUNE_SPLIT] : 1;
  const double of_xcd = (double)plan->context->hip->compute_units / plan->context->hip->xcds;
  tdm_cost best = {0};
  *split = 1;
  for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++) {
    hip_tile_shape tried = *tile;
    tdm_cost cost;
    tried.split = named > 0 ? named : splits[i];
    if (named == 0 && i > 0 && tdm_hip_units_of(plan->desc.swiglu.k, plan->desc.swiglu.type) / tried.split < LEAST_UNITS) break;
    hip_tile_work of = *work;
    /* 257x515x1001 f32 nt on gfx950 by tiles of 32x64 in 3 parts: 33 workgroups on 32 CUs take 41,652 predicted clocks, in 2
     * parts 35,685. */
    if (tried.split > 1) of.of_cu = ceil(tdm_hip_whole_tiles(plan, &output, &tried, tried.split) / of_xcd);
    tdm_hip_tile_cost(plan, &tried, &of, &cost);
    if (tried.split > 1) cost.clocks += tdm_hip_last_clocks(plan, &output, &tried, tried.split);
    if (i == 0 || cost.clocks < best.clocks) best = cost, *split = tried.split;
    if (named > 0) break;
  }
  return best;
}

void swiglu_set_parts(const tdm_plan *plan, const hip_tile_kernel *kernel, swiglu_args *args) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const hip_tile_output output = output_of(plan);
  const int parts = swiglu_parts(plan, kernel);
  const int64_t units = tdm_hip_units_of(args->k, d->type);
  args->order = parts > 1 ? tdm_hip_parts_order(plan, &output, &kernel->tile, parts)
                          : tdm_hip_tiles(plan, d->m, d->n, 1, kernel->tile.m, kernel->tile.n);
  args->by = hip_order_divisors_of(args->order, parts);
  args->parts = parts;
  args->part_units = units / parts;
  args->longer_parts = (int32_t)(units % parts);
}

void swiglu_set_part_pointers(const tdm_plan *plan, swiglu_args *args) {
  args->tile_parts = args->parts > 1 ? plan->workspace : NULL;
  args->counters = args->parts > 1 ? plan->table : NULL;
}

tdm_status swiglu_prepare_split(tdm_plan *plan, const hip_tile_kernel *kernel) {
  const int parts = swiglu_parts(plan, kernel);
  if (parts == 1 || plan->empty) return TDM_OK;
  const hip_tile_output output = output_of(plan);
  const size_t tiles = (size_t)tdm_hip_tiles_of(&output, &kernel->tile), used = strlen(plan->explain);
  plan->workspace_bytes = (size_t)tdm_hip_tile_parts_bytes(&output, &kernel->tile, parts);
  snprintf(plan->explain + used, sizeof plan->explain - used,
           "split: %d K splits, %zu bytes of partial sums, added by the last workgroup of each tile\n", parts,
           plan->workspace_bytes);
  return tdm_hip_upload_counters(plan, NULL, 0, tiles);
}
