/* How the tile engine of GPUs cuts an output, and what it does not support. */
#include "gpu_tile.h"

#include <limits.h>
#include <stdio.h>

/* Counts are 32-bit in the kernel. A launch with another number of threads needs the generic kernel. */
bool gpu_can_tile(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, int weights, int threads, char *reason,
                  size_t size) {
  const int64_t most = INT_MAX - GPU_TILE;
  if (!tdm_threads_fit(plan->context, threads, reason, size)) return false;
  if (m > most || n > most || k > most || batch > most) {
    snprintf(reason, size, "m, n, k and batch must be below 2^31 - %d", GPU_TILE);
    return false;
  }
  int64_t tiles_m = tdm_ceil_div(m, GPU_TILE), tiles_n = tdm_ceil_div(n, GPU_TILE / weights);
  /* Half, because a team adds the number of teams to a tile's number. */
  if (tiles_m * tiles_n > most || tiles_m * tiles_n * batch > most / 2) {
    snprintf(reason, size, "more than 2^30 tiles");
    return false;
  }
  return true;
}

gpu_grid gpu_grid_for(tdm_plan *plan, int64_t m, int64_t n, int64_t batch, int weights, int threads) {
  int64_t tiles_m = tdm_ceil_div(m, GPU_TILE), tiles_n = tdm_ceil_div(n, GPU_TILE / weights);
  gpu_grid grid = {(int)tiles_m, (int)tiles_n, (int)(tiles_m * tiles_n * batch), (int)m, (int)n};
  tdm_plan_launch(plan, tdm_min(grid.tiles, GPU_TEAMS), threads);
  return grid;
}

gpu_operand gpu_operand_of(int64_t stride, int64_t ld, int64_t outer, bool k_contiguous) {
  return (gpu_operand){stride, k_contiguous ? ld : 1, k_contiguous ? 1 : ld, (int)outer, k_contiguous};
}
