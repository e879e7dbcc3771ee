/* K splits in one launch: tiles, bytes and clocks. */
#include "tile_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static double part_bytes(const hip_tile_shape *tile) {
  return (double)tile->m * tile->n * (tile->products > 1 ? tile->products : 1) * (double)sizeof(float);
}

double tdm_hip_tiles_of(const hip_tile_output *of, const hip_tile_shape *tile) {
  return ceil((double)of->m / tile->m) * ceil((double)of->n / tile->n) * (double)of->batch;
}

double tdm_hip_tile_parts_bytes(const hip_tile_output *of, const hip_tile_shape *tile, int parts) {
  return tdm_hip_tiles_of(of, tile) * parts * part_bytes(tile);
}

int64_t tdm_hip_units_of(int64_t k, tdm_type type) { return k / (HIP_PART_UNIT / (int64_t)tdm_type_size(type)); }

bool tdm_hip_parts_have_units(int parts, int64_t k, tdm_type type, char *reason, size_t size) {
  const int64_t units = tdm_hip_units_of(k, type);
  if (parts <= 1 || parts <= units) return true;
  snprintf(reason, size, "split = %d: k = %" PRId64 " of %s has %" PRId64 " whole units of %d bytes", parts, k,
           tdm_type_name(type), units, HIP_PART_UNIT);
  return false;
}

/* Not if that would make an XCD compute more rounds than its share of all workgroups, or leave XCDs without a tile.
 * 128x3584x18944 tn bf16 in 8 parts takes 81,074 predicted clocks with 3.5 tiles in each XCD, and 73,710 with 4 in seven. */
unsigned tdm_hip_whole_tiles(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts) {
  const tdm_hip_device *device = plan->context->hip;
  const tdm_order order = tdm_hip_tiles(plan, of->m, of->n, of->batch, tile->m, tile->n);
  enum { MOST = 1 << 20 }; /* a grid has at most 2^32 work-items */
  const double at_once = tdm_hip_at_once(device, tile);
  if (plan->tuning.of[TDM_TUNE_CHUNK] != 0 || order.count < order.xcds || (double)order.count * parts > MOST) return 0;
  const unsigned workgroups = ((order.count - 1) / order.xcds + 1) * (unsigned)parts;
  return ceil(workgroups / at_once) <= ceil((double)order.count * parts / order.xcds / at_once) ? workgroups : 0;
}

tdm_order tdm_hip_parts_order(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts) {
  tdm_order order = tdm_hip_tiles(plan, of->m, of->n, of->batch * parts, tile->m, tile->n);
  const unsigned chunk = tdm_hip_whole_tiles(plan, of, tile, parts);
  if (chunk > 0) {
    order.chunk = chunk;
    order.count = order.chunk * order.xcds; /* some may have no tile */
  }
  return order;
}

double tdm_hip_parts_of_cu(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts) {
  const tdm_hip_device *device = plan->context->hip;
  return ceil(tdm_hip_whole_tiles(plan, of, tile, parts) * (double)device->xcds / device->compute_units);
}

/* Numbers of parts that are tried: these, and the most for which no CU of an XCD with whole tiles has more than one workgroup,
 * two, and so on, up to all that it can have. 128x4096x14336 of gemm takes 128x128 in 9 parts on gfx942, where 4 tiles share 38
 * CUs, and 8 leave 48 of 304 CUs idle. 64x4800x1600 nn bf16 takes 64x128 in 5, 26,075 predicted clocks, and 26,970 in 6. */
static const int SOME_PARTS[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64};
enum { SOME = sizeof SOME_PARTS / sizeof SOME_PARTS[0], LEAST_UNITS = 4 /* of a part */ };

tdm_cost tdm_hip_best_parts(const tdm_plan *plan, const hip_tile_output *of, hip_tile_shape tile, int64_t k,
                            hip_cost_of_parts *cost_of, const void *work, int *parts) {
  const int named = plan->tuning.of[TDM_TUNE_SPLIT], resident = tile.resident > 1 ? tile.resident : 1;
  const double tiles = ceil(tdm_hip_tiles_of(of, &tile) / plan->context->hip->xcds),
               at_once = tdm_hip_at_once(plan->context->hip, &tile);
  tdm_cost best = {0};
  for (int i = 0; i < SOME + (tile.last_adds && tiles > 0 ? resident : 0); i++) {
    tile.split = named > 0 ? named : i < SOME ? SOME_PARTS[i] : (int)(at_once / resident * (i - SOME + 1) / tiles);
    const int split = tile.split;
    const bool fits = split > 1 && split <= HIP_MOST_PARTS && tdm_hip_units_of(k, of->type) / split >= LEAST_UNITS;
    if (named == 0 && i > 0 && !fits) continue;
    const tdm_cost cost = cost_of(plan, &tile, work);
    if (i == 0 || cost.clocks < best.clocks) best = cost, *parts = tile.split;
    if (named > 0) break;
  }
  return best;
}

/* What the last workgroup takes: its stores and the count, and what it reads of the L2, all parts but its own, for which the
 * vL1D has room for 32 KiB on their way, and of other XCDs' L2s. In products of few tiles, with 256 values of k for each part
 * in place of one part, on both chips: 2500 to 2900 clocks in 2 parts with tiles of 16x64 to 64x64, 3000 with 64x128 and 3590
 * with 128x128; 165 for each further part of 16 KiB. Where all CUs store, the L2 takes STORE_CHANNEL bytes a clock in each
 * channel: 1024x1024x1024 and 1024x1024x2048 nt bf16 by tiles of 128x128 in 2 and 4 parts take 4,000 and 6,880 clocks more
 * than 1024x1024x512 on gfx942. */
double tdm_hip_last_clocks(const tdm_plan *plan, const hip_tile_output *of, const hip_tile_shape *tile, int parts) {
  enum { COUNT = 2550, STORE_CHANNEL = 64, L2_LATENCY = 330, OTHER_L2_LATENCY = 500 };
  const tdm_hip_device *device = plan->context->hip;
  const double all = tdm_hip_tile_parts_bytes(of, tile, parts),
               of_cu = ceil(tdm_hip_tiles_of(of, tile) / device->compute_units),
               of_xcd = fmin(tdm_hip_at_once(device, tile), tdm_hip_tiles_of(of, tile) * parts / device->xcds),
               store = part_bytes(tile) * of_xcd / (STORE_CHANNEL * (double)device->chip->l2_channels),
               bytes = part_bytes(tile) * (parts - 1);
  const int latency = tdm_hip_whole_tiles(plan, of, tile, parts) > 0 ? L2_LATENCY : OTHER_L2_LATENCY;
  return of_cu * (COUNT + bytes * latency / (double)device->chip->l1_bytes) + store +
         tdm_hip_beyond_l2(device, all) / tdm_hip_hbm(device);
}
