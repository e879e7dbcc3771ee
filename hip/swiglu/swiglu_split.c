/* K splits of swiglu's narrow tiles, in one launch (engine/last_part.h). A run that falls back has no split. */
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

static tdm_cost cost_of_parts(const tdm_plan *plan, const hip_tile_shape *tile, const void *work) {
  const hip_tile_output output = output_of(plan);
  hip_tile_work of = *(const hip_tile_work *)work;
  tdm_cost cost;
  if (tile->split > 1) of.of_cu = tdm_hip_parts_of_cu(plan, &output, tile, tile->split);
  tdm_hip_tile_cost(plan, tile, &of, &cost);
  if (tile->split > 1) cost.clocks += tdm_hip_last_clocks(plan, &output, tile, tile->split);
  return cost;
}

tdm_cost swiglu_best_split(const tdm_plan *plan, const hip_tile_shape *tile, const hip_tile_work *work, int *split) {
  const hip_tile_output output = output_of(plan);
  tdm_cost cost;
  *split = 1;
  if (tile->last_adds) return tdm_hip_best_parts(plan, &output, *tile, plan->desc.swiglu.k, cost_of_parts, work, split);
  tdm_hip_tile_cost(plan, tile, work, &cost);
  return cost;
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
