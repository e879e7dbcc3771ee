/* How the tile engine cuts an output. It is compiled for the host, which plans for both targets. */
#include "tile.h"

/* The largest tile and its micro tile, for the plan's device. */
typedef struct tile_size {
  int64_t micro_m, micro_n, micros_m, micros_n;
} tile_size;

static tile_grid cut(const tile_size *size, int64_t m, int64_t n, int64_t batch, int64_t tiles_m, int64_t tiles_n) {
  tile_grid grid = {.micros_m = tdm_ceil_div(m, size->micro_m), .micros_n = tdm_ceil_div(n, size->micro_n)};
  grid.tile_micros_m = (int)tdm_ceil_div(grid.micros_m, tiles_m);
  grid.tile_micros_n = (int)tdm_ceil_div(grid.micros_n, tiles_n);
  grid.tiles_m = tdm_ceil_div(grid.micros_m, grid.tile_micros_m);
  grid.tiles_n = tdm_ceil_div(grid.micros_n, grid.tile_micros_n);
  grid.tiles = batch * grid.tiles_m * grid.tiles_n;
  return grid;
}

/* The time of `tiles` equal tiles, in that of one. Workers take them in turns (tdm_next_unit). The mean over four cases: that
 * none, 1/8, 1/4 or 3/8 of the workers are half as fast as the others, because they share a core with another one. In each two
 * tiles' time a slow worker makes one tile, and the last one that it begins is waited for. */
static double rounds_of(int64_t tiles, int64_t workers) {
  enum { CASES = 4 };
  int64_t sum = 0;
  for (int i = 0; i < CASES; i++) {
    int64_t slow = workers * i / 8;
    sum += slow == 0 ? tdm_ceil_div(tiles, workers) : 2 * tdm_ceil_div(tiles, 2 * workers - slow);
  }
  return (double)sum / CASES;
}

/* Clocks for each of k: the rounds of the largest tile, with the multiply-adds and the packing of both operands. Packing waits
 * for memory, and a shared core does not make that slower. An element of f32 took 0.52 ns where 32 multiply-adds took 0.55 ns
 * (1024^3 and 512x4096x1024, one thread of a Xeon, with and without packing). */
static double clocks_of(const tile_size *size, const tile_grid *grid, int64_t workers) {
  const double PACK = TILE_GROUP == 1 ? 0.95 : 0.4;
  double m = (double)(grid->tile_micros_m * size->micro_m), n = (double)(grid->tile_micros_n * size->micro_n);
  return rounds_of(grid->tiles, workers) * m * n / TILE_RATE + (double)tdm_ceil_div(grid->tiles, workers) * PACK * (m + n);
}

/* The cheapest cut, with as few tiles as the largest size allows, or more. Of all numbers of rows, those of columns are tried
 * that give every worker half a tile to MOST_ROUNDS tiles. */
static tile_grid cut_evenly(const tile_size *size, int64_t m, int64_t n, int64_t batch, int64_t workers) {
  enum { MOST_ROUNDS = 6 };
  int64_t least_m = tdm_ceil_div(m, size->micro_m * size->micros_m), least_n = tdm_ceil_div(n, size->micro_n * size->micros_n);
  int64_t most_m = tdm_min(tdm_ceil_div(m, size->micro_m), tdm_max(least_m, MOST_ROUNDS * workers));
  tile_grid best = cut(size, m, n, batch, least_m, least_n);
  double least = clocks_of(size, &best, workers);
  for (int64_t tiles_m = least_m; tiles_m <= most_m; tiles_m++)
    for (int64_t halves = 0; halves <= 2 * MOST_ROUNDS; halves++) {
      int64_t tiles_n = tdm_max(least_n, halves * workers / (2 * tiles_m * batch));
      tile_grid grid = cut(size, m, n, batch, tiles_m, tdm_min(tiles_n, tdm_ceil_div(n, size->micro_n)));
      double clocks = clocks_of(size, &grid, workers);
      if (clocks < least) best = grid, least = clocks;
    }
  return best;
}

tile_grid tile_grid_for(tdm_plan *plan, int64_t m, int64_t n, int64_t batch, int weights) {
  if (m == 0 || n == 0 || batch == 0) return (tile_grid){0};
  if (plan->context->omp_device >= 0) {
    tile_size size = {GPU_MICRO, GPU_MICRO, GPU_TILE_MICROS, GPU_TILE_MICROS};
    tile_grid grid =
        cut(&size, m, n, batch, tdm_ceil_div(m, GPU_MICRO * GPU_TILE_MICROS), tdm_ceil_div(n, GPU_MICRO * GPU_TILE_MICROS));
    grid.tile_micros_m = grid.tile_micros_n = GPU_TILE_MICROS;
    grid.weights = weights;
    tdm_plan_launch(plan, grid.tiles, GPU_TILE_MICROS * GPU_TILE_MICROS);
    return grid;
  }
  /* With two weights the tile is half as wide: the sums of both must fit in the L2. */
  tile_size size = {MICRO_M, MICRO_N, TILE_MICROS_M, TILE_MICROS_N / weights};
  tile_grid grid = cut_evenly(&size, m, n, batch, tdm_plan_workers(plan));
  grid.weights = weights;
  tdm_plan_launch(plan, 1, tdm_min(grid.tiles, tdm_plan_workers(plan)));
  size_t threads = (size_t)plan->launch.teams * (size_t)plan->launch.threads;
  plan->workspace_bytes = threads * (size_t)tile_slice_floats(&grid) * sizeof(float);
  return grid;
}
