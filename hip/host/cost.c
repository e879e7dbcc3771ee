/* Estimates of the tile kernels. */
#include "cost.h"

#include <math.h>
hip_cost_numbers tdm_hip_cost_numbers = {.latency = 1000, .overlap = 4, .hbm = 1};

static double at_least_one(int x) { return x < 1 ? 1 : x; }

/* The table of chips (src/base/chip.h) names its sources. */
hip_rates tdm_hip_rates(const tdm_hip_device *device, tdm_type type) {
  const tdm_chip *c = device->chip;
  return (hip_rates){.mfma = tdm_chip_mfma_flops(c, tdm_bytes(type)),
                     .valu = c->valu_f32_flops,
                     .lds_read = c->lds_read_clock_bytes,
                     .lds_write = c->lds_write_clock_bytes,
                     .l2 = (double)c->l2_channels * c->line_bytes / c->cus_per_xcd,
                     .hbm = (double)c->hbm_gbs * 1e3 / c->clock_mhz * device->compute_units / (c->xcds * c->cus_per_xcd)};
}

/* Clocks of a tile: for each pipe, and for its parts one after the other. */
typedef struct tile_clocks {
  tdm_cost pipe[5];
  double serial;
} tile_clocks;
enum { MFMA, LDS_PIPE, LOADS, VALU, STORES, PIPES };

static tdm_cost longest(const tdm_cost *of, int count) {
  tdm_cost found = of[0];
  for (int i = 1; i < count; i++)
    if (of[i].clocks > found.clocks) found = of[i];
  return found;
}

/* No pipe hides all of another one's work, and of kernels that the same pipe bounds, the one that leaves the others free is
 * faster: where memory bounds all of them, the longest bound alone would be a tie. */
static double joined(const tdm_cost *of, int count) {
  double sum = 0, most = longest(of, count).clocks;
  for (int i = 0; i < count && most > 0; i++) sum += pow(of[i].clocks / most, tdm_hip_cost_numbers.overlap);
  return most > 0 ? most * pow(sum, 1 / tdm_hip_cost_numbers.overlap) : 0;
}

static tile_clocks clocks_of_tile(const hip_tile_shape *tile, const hip_tile_work *work, const hip_rates *rates) {
  double values = HIP_STEP_BYTES / (double)tdm_type_size(work->type), lines_b = tile->n * at_least_one(tile->products);
  double steps = ceil(ceil((double)work->k / values) / at_least_one(tile->split));
  double read = (tile->waves_n * tile->m + tile->waves_m * lines_b) * HIP_STEP_BYTES / rates->lds_read;
  double write = (tile->m + lines_b) * HIP_STEP_BYTES / rates->lds_write;
  double mfma = 2 * tile->m * lines_b * values / rates->mfma;
  tile_clocks t = {.pipe = {[MFMA] = {steps * mfma, "mfma"},
                            [LDS_PIPE] = {steps * (read + write), "lds"},
                            [LOADS] = {steps * (tile->m + lines_b) * HIP_STEP_BYTES / rates->l2, "loads"},
                            [VALU] = {steps * tile->valu, "valu"},
                            [STORES] = {(double)tile->m * tile->n * (double)tdm_type_size(work->out) / rates->l2, "stores"}}};
  double loop = longest(t.pipe, STORES).clocks;
  if (!tile->overlapped)
    loop = fmax(loop, steps * (write + tile->valu + fmax(mfma + read, tile->waits ? tdm_hip_cost_numbers.latency : 0)));
  t.serial = tdm_hip_cost_numbers.latency + loop + t.pipe[STORES].clocks;
  return t;
}

/* The CU with the most tiles: what each of its pipes needs for all of them, and how long they take one after the other,
 * `resident` at a time. And what the whole device needs to move each byte of memory once. */
void tdm_hip_tile_cost(const tdm_plan *plan, const hip_tile_shape *tile, const hip_tile_work *work, tdm_cost *cost) {
  hip_rates rates = tdm_hip_rates(plan->context->hip, work->type);
  tile_clocks one = clocks_of_tile(tile, work, &rates);
  double parts = at_least_one(tile->split), m = (double)work->m, n = (double)work->n, batch = (double)work->batch;
  double tiles = ceil(m / tile->m) * ceil(n / tile->n) * batch * parts;
  double of_cu = ceil(tiles / plan->context->hip->compute_units), rounds = ceil(of_cu / at_least_one(tile->resident));
  double traffic = (m + n * at_least_one(tile->products)) * (double)work->k * (double)tdm_type_size(work->type) +
                   m * n * (double)tdm_type_size(work->out);
  if (parts > 1) traffic += 2 * parts * m * n * (double)sizeof(float);
  tdm_cost bounds[PIPES + 2];
  for (int p = 0; p < PIPES; p++) bounds[p] = (tdm_cost){of_cu * one.pipe[p].clocks, one.pipe[p].floor};
  bounds[PIPES] = (tdm_cost){batch * traffic / (tdm_hip_cost_numbers.hbm * rates.hbm), "hbm"};
  bounds[PIPES + 1] = (tdm_cost){rounds * one.serial, longest(one.pipe, PIPES).floor};
  if (longest(one.pipe, PIPES).clocks < one.serial / 2) bounds[PIPES + 1].floor = "waiting";
  *cost = longest(bounds, PIPES + 2);
  cost->clocks = fmax(cost->clocks, joined(bounds, PIPES + 1)); /* the last one has a pipe's clocks in it already */
}
