/* Which tiles the staged engine cuts a product into, and which part of K a team takes: what is fastest by an estimate. */
#include <limits.h>
#include <math.h>

#include "gpu_shape.h"

/* Clocks are those of 1.755 GHz, an H200's. Nothing tells a context how many multiprocessors a device has, so this is an H100's
 * and an H200's number; another device loses a part of its last round of tiles, no more. */
enum { MULTIPROCESSORS = 132, LANES = 128 };

/* All of these are fitted to 600 times of an H200 for 45 products, each with several tiles and numbers of workers; 14 % (root
 * mean square) remain, and the choice is 3 % slower than the best one (geometric mean). */
static const double LAUNCH = 21500;               /* 9 us of them are an empty region */
static const double LATENCY = 1700;               /* from a copy's start to its data */
static const double BYTES_PER_CLOCK = 1520;       /* of HBM */
static const double TURN = 750, TURN_VECTOR = 77; /* to begin and end a turn; for each vector of a thread's sums */
static const double CHAIN_VECTOR = 718;           /* an epilogue */
static const double SPLIT = 8100;                 /* a fence, a ticket, and another worker's last turn */
static const double PART = 480, PART_VECTOR = 21; /* adding a part */

typedef struct gpu_speed {
  int resident;        /* teams of a multiprocessor */
  double most, hidden; /* of r teams, the share of the multiprocessor's products: most r / (r + hidden) */
  double two, by_k;    /* factors of the time for two weights, and for two operands along k */
} gpu_speed;

static const gpu_speed speeds[TILE_KINDS] = {
    [TILE_16] = {4, 0.59, 1.38, 1, 1},        [TILE_32] = {3, 0.74, 0.82, 1, 1},     [TILE_64] = {3, 0.80, 1.06, 1, 1},
    [TILE_64_128] = {2, 0.90, 0.76, 0.89, 1}, [TILE_128_64] = {3, 0.85, 1.03, 1, 1}, [TILE_128] = {2, 1.03, 0.77, 1.16, 1.05},
    [TILE_WHOLE] = {2, 1.22, 0.91, 1, 1}};

/* What is known of a kind before workers are. */
typedef struct gpu_cut {
  gpu_tile_kind kind;
  gpu_shape shape;
  int64_t tiles_m, tiles_n, tiles, steps;
} gpu_cut;

/* Clocks of a K step if so many teams share a multiprocessor. */
static double step_clocks(const gpu_cut *cut, const gpu_product *x, int64_t teams) {
  const gpu_speed *v = &speeds[cut->kind];
  double products = (double)gpu_shape_rows(cut->shape) * gpu_shape_columns(cut->shape) * cut->shape.step / LANES;
  double clocks = products * ((double)teams + v->hidden) / v->most;
  if (x->weights == 2) clocks *= v->two;
  if (x->line_a > 0 && x->line_b > 0) clocks *= v->by_k;
  return fmax(clocks, LATENCY / (cut->shape.stages - 1));
}

static double estimate(const gpu_cut *cut, const gpu_product *x, int64_t workers, int64_t streamed) {
  const int64_t slots = MULTIPROCESSORS * (int64_t)speeds[cut->kind].resident, whole = cut->tiles - streamed;
  const int64_t rounds = whole / workers, rest = whole % workers;
  const double full = step_clocks(cut, x, tdm_ceil_div(tdm_min(workers, slots), MULTIPROCESSORS));
  const double vectors = gpu_shape_left(cut->shape) * cut->shape.vectors;
  const int64_t turns = rounds + (rest > 0) + tdm_ceil_div(streamed, workers) + (streamed > 0);
  double clocks = (double)tdm_ceil_div(streamed * cut->steps, workers) * full + (double)(rounds * cut->steps) * full;
  if (rest > 0) { /* after a round, the teams that go on share multiprocessors as before */
    const double last = rounds > 0 ? full : step_clocks(cut, x, tdm_ceil_div(rest, MULTIPROCESSORS));
    clocks += (double)cut->steps * last;
  }
  clocks += (double)turns * (TURN + TURN_VECTOR * vectors);
  if (x->chain) clocks += CHAIN_VECTOR * vectors;
  if (streamed > 0) {
    const double parts = (double)workers / (double)streamed + (workers % streamed != 0);
    clocks += SPLIT + parts * (PART + PART_VECTOR * vectors);
  }
  return LAUNCH + fmax(clocks, x->bytes / BYTES_PER_CLOCK);
}

static void consider(gpu_choice *best, const gpu_cut *cut, const gpu_product *x, int64_t workers, int64_t streamed) {
  const int64_t total = streamed * cut->steps;
  if (total > INT_MAX || (streamed > 0 && total < workers)) return;
  double clocks = estimate(cut, x, workers, streamed);
  if (clocks >= best->clocks) return;
  *best = (gpu_choice){.kind = cut->kind,
                       .grid = {(int)cut->tiles_m, (int)cut->tiles_n, (int)cut->tiles, (int)x->m, (int)x->n},
                       .schedule = {.steps = (int)cut->steps,
                                    .workers = (int)workers,
                                    .streamed = (int)streamed,
                                    .share = (int)(total / workers),
                                    .more = (int)(total % workers)},
                       .clocks = clocks};
}

static void consider_kind(gpu_choice *best, gpu_tile_kind kind, const gpu_product *x, int split) {
  gpu_cut cut = {.kind = kind, .shape = gpu_shape_of(kind)};
  cut.tiles_m = tdm_ceil_div(x->m, gpu_shape_rows(cut.shape));
  cut.tiles_n = tdm_ceil_div(x->n, gpu_shape_columns(cut.shape) / x->weights);
  if (kind < TILE_128 && (double)cut.tiles_m * (double)cut.tiles_n * (double)x->batch > INT_MAX / 2) return;
  cut.tiles = cut.tiles_m * cut.tiles_n * x->batch; /* 0 of an empty product */
  cut.steps = tdm_max(1, tdm_ceil_div(x->k, cut.shape.step));
  const int64_t slots = MULTIPROCESSORS * (int64_t)speeds[kind].resident;
  if (split > 1 && cut.tiles > 0 && kind != TILE_WHOLE) { /* of so many tiles that all teams have a part of them */
    int64_t streamed = tdm_min(cut.tiles, tdm_max(1, slots / split)), parts = tdm_min(split, cut.steps);
    consider(best, &cut, x, streamed * parts, parts > 1 ? streamed : 0);
    return;
  }
  consider(best, &cut, x, tdm_max(1, tdm_min(cut.tiles, slots)), 0);
  if (split == 1 || cut.tiles == 0 || kind == TILE_WHOLE) return;
  if (cut.tiles >= slots) {
    if (cut.tiles % slots != 0) consider(best, &cut, x, slots, slots + cut.tiles % slots);
    return;
  }
  for (int64_t parts = 2; parts * cut.tiles <= slots && parts <= cut.steps; parts++)
    consider(best, &cut, x, parts * cut.tiles, cut.tiles);
  for (int64_t workers = MULTIPROCESSORS; workers <= slots; workers += MULTIPROCESSORS)
    if (workers > cut.tiles) consider(best, &cut, x, workers, cut.tiles);
}

/* Are all tiles and K steps whole? */
static bool fits_whole(const gpu_product *x) {
  return x->m % GPU_TILE == 0 && x->n % (GPU_TILE / x->weights) == 0 && x->k % GPU_STEP == 0 && x->k > 0;
}

/* Lines along k are 32-bit numbers of elements apart in a tile. */
static bool offsets_fit(gpu_tile_kind kind, const gpu_product *x) {
  const int64_t rows = tdm_min(gpu_shape_rows(gpu_shape_of(kind)), x->m);
  const int64_t columns = tdm_min(gpu_shape_columns(gpu_shape_of(kind)), x->n);
  return (double)rows * (double)x->line_a < 4294967296.0 && (double)columns * (double)x->line_b < 4294967296.0;
}

/* Two weights or an epilogue take TILE_128_64 the registers of its third team: 2506 us instead of 1790 for swiglu
 * 128x25600x5120. */
static bool registers_fit(gpu_tile_kind kind, const gpu_product *x) {
  return kind != TILE_128_64 || (x->weights == 1 && !x->chain);
}

gpu_choice gpu_choose(const gpu_product *x, int split) {
  gpu_choice best = {.clocks = INFINITY};
  if (!x->staged || (x->whole && fits_whole(x) && split <= 1)) consider_kind(&best, TILE_WHOLE, x, 1);
  if (!x->staged) return best;
  for (gpu_tile_kind kind = 0; kind < TILE_WHOLE; kind++)
    if (offsets_fit(kind, x) && registers_fit(kind, x)) consider_kind(&best, kind, x, split);
  if (isinf(best.clocks)) consider_kind(&best, TILE_WHOLE, x, 1);
  return best;
}

void gpu_launch_choice(tdm_plan *plan, const gpu_choice *choice) {
  const gpu_shape shape = gpu_shape_of(choice->kind);
  const size_t sums = (size_t)gpu_shape_rows(shape) * (size_t)gpu_shape_columns(shape);
  plan->region = (int)choice->kind;
  if (choice->schedule.streamed > 0) /* a worker has parts of two tiles at most */
    plan->workspace_bytes = 2 * (size_t)choice->schedule.workers * sums * sizeof(float);
  tdm_plan_launch(plan, choice->schedule.workers, GPU_THREADS);
}
