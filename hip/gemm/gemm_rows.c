/* hip_rows of gemm: layout nt, few rows of C or small products, arrays at any address (gemm_rows.hip). */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "gemm.h"
#include "rows_shape.h"

extern const hip_code tdm_code_gemm_rows[];

/* Tiles of 16, 32 and 64 rows: where rows begin at 16 bytes and K is whole units, where rows begin at dwords, and others. */
static const hip_functions functions[] = {{.code = tdm_code_gemm_rows, .stem = "gemm_rows1", .waves = 4},
                                          {.code = tdm_code_gemm_rows, .stem = "gemm_rows2", .waves = 4},
                                          {.code = tdm_code_gemm_rows, .stem = "gemm_rows4", .waves = 4},
                                          {.code = tdm_code_gemm_rows, .stem = "gemm_rows1_dwords", .waves = 4},
                                          {.code = tdm_code_gemm_rows, .stem = "gemm_rows2_dwords", .waves = 4},
                                          {.code = tdm_code_gemm_rows, .stem = "gemm_rows4_dwords", .waves = 4},
                                          {.code = tdm_code_gemm_rows, .stem = "gemm_rows1_odd", .waves = 4},
                                          {.code = tdm_code_gemm_rows, .stem = "gemm_rows2_odd", .waves = 4},
                                          {.code = tdm_code_gemm_rows, .stem = "gemm_rows4_odd", .waves = 4},
                                          {.stem = NULL}};
enum { FRAGMENT = GEMM_ROWS_LINES, MOST_ROWS = 64, DWORDS = 3, ODD = 6 };

/* Do all rows of both operands begin at multiples of `bytes`? */
static bool begin_at(const tdm_gemm_desc *d, int bytes) {
  hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  return tdm_hip_rows_aligned(&a, d->type, bytes) && tdm_hip_rows_aligned(&b, d->type, bytes);
}

static bool whole_units(const tdm_gemm_desc *d) { return d->k % (GEMM_UNIT / (int64_t)tdm_type_size(d->type)) == 0; }

static int begins_of(const tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (plan->any_address != 0) return d->type == TDM_F32 ? DWORDS : ODD; /* of gemm_rows_of */
  return !begin_at(d, 4) ? ODD : begin_at(d, 16) && whole_units(d) ? 0 : DWORDS;
}

/* Predicted clocks on gfx950 with one tile and with several: 61x160x1023 bf16 29,425 and 16,400, 60x35x385 f32 21,298 and
 * 13,332. With two for each CU 512x512x512 bf16 takes 13,354 and 128x1024x1024 16,213, with one 12,388 and 13,929. */
int gemm_rows_place(const tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const double columns = ceil((double)d->n / FRAGMENT) * (double)d->batch;
  int place = 0;
  while (FRAGMENT << place < MOST_ROWS && FRAGMENT << place < d->m &&
         columns * ceil((double)d->m / (FRAGMENT << place)) > plan->context->hip->compute_units)
    place++;
  return place;
}

hip_tile_shape gemm_rows_tile(int place) {
  return (hip_tile_shape){.m = FRAGMENT << place,
                          .n = FRAGMENT,
                          .waves_m = 1,
                          .waves_n = GEMM_ROWS_WAVES,
                          .resident = 2,
                          .overlapped = true,
                          .any_address = true};
}

hip_tile_shape gemm_rows_shape(hip_tile_shape tile) {
  tile.waves_n = 1;
  tile.touches = 2;
  tile.sums_in_lds = true;
  return tile;
}

double gemm_rows_rounds(const tdm_plan *plan, const hip_tile_shape *tile, int split) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  double tiles = ceil((double)d->m / tile->m) * ceil((double)d->n / tile->n) * (double)d->batch * split;
  return ceil(tiles / ((double)plan->context->hip->compute_units * tile->resident));
}

void gemm_plan_as(const tdm_plan *plan, const tdm_kernel *row, tdm_plan *as) {
  memcpy(as, plan, offsetof(tdm_plan, lock));
  as->kernel = row;
  as->any_address = ~0u;
  if (plan->kernel != row) memset(&as->tuning, 0, sizeof as->tuning);
}

static hip_tile_kernel kernel_of(const tdm_plan *plan) {
  const int begins = begins_of(plan), place = gemm_rows_place(plan);
  hip_tile_kernel kernel = {functions + begins + place, gemm_rows_tile(place)};
  kernel.tile.dwords = begins != 0;
  return kernel;
}

static bool supports_rows(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_tile_kernel kernel = kernel_of(plan);
  if (d->layout != TDM_NT) {
    snprintf(reason, size, "%s is stored across k: both operands must be stored along it, as in nt",
             gemm_transposed_a(d) ? "a" : "b");
    return false;
  }
  return gemm_supports_split(plan, &kernel, reason, size);
}

static hip_tile_shape shape_of(const tdm_plan *plan) { return gemm_rows_shape(kernel_of(plan).tile); }

/* What rows that do not begin at cache lines, and the K tail, take in addition, for 16, 32 and 64 rows: a unit of each wave,
 * and a trip of the tail, which half of a unit takes; and what does not depend on K, among it what the estimate without
 * them has too much in short products. By predictions of 1, 17 and 61 x 160, K = 31 to 4098, on both chips: 16 bits between
 * dwords K = 31 2200, 1100, 1300 clocks, 63 3200, 2700, 3800, 511 4900, 4500, 6100, 1023 5500, 4900, 8700 and 4095 8700,
 * 13,100, 26,100 (gfx950 7800, 11,600, 17,200); at dwords 132 2600, 2500, 1500, 1026 1900, 3000, 1900 and 4098 5300, 4600,
 * 6050. f32 in tiles of 16 rows, where a wave's next unit finds the lines: 1x160, K = 512, 513, 1023 and 2047 10,314, 12,282,
 * 17,063 and 25,022 clocks in all, 17x160 11,487 (16x160), 13,627, 19,292 and 29,657. */
typedef struct rest_clocks {
  double once[3], unit[3], trip[3];
} rest_clocks;
static const rest_clocks BETWEEN_DWORDS = {{-300, 0, -1000}, {600, 1000, 1900}, {1050, 1550, 2500}},
                         AT_DWORDS = {{800, 300, -1500}, {500, 600, 800}, {830, 1170, 1850}},
                         AT_DWORDS_F32 = {{200, 0, 0}, {480, 600, 800}, {850, 1170, 1850}};
enum { CHUNKS_TRIP = 1100 }; /* of a tail of whole chunks */
/* Tiles of 64 rows beside each other: 512x512x512 nt f32 takes 18,811 clocks on gfx950, and by tiles of 32x128, which is
 * estimated alike without this, 17,664. */
enum { TILES_OF_64 = 500 };

/* A second workgroup of a CU issues its instructions when the first one waits, or after them: 1x4096x64 and 1x8192x64 bf16 nt
 * take 8,355 and 9,867 clocks on gfx950, with K = 512 9,201 and 11,255, where it waits for its loads anyway. A wave with a tail
 * issues many more: 1x4583x28 takes 12,765. */
double gemm_rows_beside(const tdm_plan *plan, const hip_tile_shape *tile, int split, double clocks) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_tile_shape one = *tile;
  one.resident = 1;
  const double of_cu = gemm_rows_rounds(plan, &one, split), rounds = gemm_rows_rounds(plan, tile, split),
               units = (double)d->k * (double)tdm_type_size(d->type) / GEMM_UNIT / split,
               lines = fmin(tile->m, (double)d->m) + fmin(tile->n, (double)d->n);
  const double loads = 2 * units * lines * GEMM_UNIT / tdm_hip_rates(plan->context->hip, d->type).in_flight;
  return rounds * (fmin(of_cu, tile->resident) - 1) * fmax(0, clocks - loads);
}

/* Of the first units of its waves, which are among the trips to memory of each workgroup, the estimate has half of the loads
 * too much: 1, 16 and 64 x 160, bf16 and f32, K of 8 to 64 units. In parts it fits: 1x1024x4096 and 2x576x7168 f16 and bf16. */
static double first_units(const tdm_plan *plan, const hip_tile_shape *tile, int split) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const double units = fmin(GEMM_ROWS_WAVES, (double)d->k * (double)tdm_type_size(d->type) / GEMM_UNIT / split),
               lines = fmin(tile->m, (double)d->m) + fmin(tile->n, (double)d->n);
  return units * lines * GEMM_UNIT / tdm_hip_rates(plan->context->hip, d->type).in_flight;
}

static double rest(const tdm_plan *plan, int split) {
  enum { BESIDE = 1200, TAIL_BESIDE = 900, UNIT_F32 = 40 /* products that wait for each other */, ROW_F32 = 20 };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int64_t size = (int64_t)tdm_type_size(d->type), values = GEMM_UNIT / size, tail = d->k % values * size;
  const hip_tile_kernel kernel = kernel_of(plan);
  const int place = (int)(kernel.functions - functions) % DWORDS;
  const bool odd = kernel.functions - functions >= ODD, f32 = d->type == TDM_F32;
  const double rounds = gemm_rows_rounds(plan, &kernel.tile, split), units = (double)(d->k / values) / split,
               more = (d->m > MOST_ROWS && place == 2 ? TILES_OF_64 : 0) +
                      gemm_rows_beside(plan, &kernel.tile, split, BESIDE + (tail != 0 ? TAIL_BESIDE : 0)),
               waits = f32 && place == 0 ? rounds * units * UNIT_F32 : 0,
               first = (place == 0 && split == 1 ? rounds * first_units(plan, &kernel.tile, split) : 0) - waits;
  /* 16 bits at chunks: -300 to 210 for a unit */
  if (tail == 0 && !odd && (begin_at(d, HIP_STEP_BYTES) || !f32)) return more - first;
  const rest_clocks *of = odd ? &BETWEEN_DWORDS : f32 ? &AT_DWORDS_F32 : &AT_DWORDS;
  const double of_wave = ceil(units / GEMM_ROWS_WAVES), trips = ceil((double)tail / (GEMM_UNIT / 2));
  const double unit = of->unit[place] - (f32 && place == 0 ? ROW_F32 * fmin(FRAGMENT, (double)d->m) : 0);
  const double trip = !odd && begin_at(d, 16) && tail % 16 == 0 ? CHUNKS_TRIP : of->trip[place];
  return more - (f32 ? first : 0) +
         rounds * (of->once[place] + (begin_at(d, HIP_STEP_BYTES) ? 0 : of_wave * unit) + trips * trip);
}

static void cost_rows(const tdm_plan *plan, tdm_cost *cost) {
  int split;
  *cost = gemm_best_split(plan, shape_of(plan), rest, &split);
}

bool gemm_rows_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const bool other = plan->kernel != &tdm_gemm_hip_rows;
  int split;
  gemm_plan_as(plan, &tdm_gemm_hip_rows, as);
  *kernel = kernel_of(as);
  if (d->layout != TDM_NT || (other && d->type == TDM_F32) || !gemm_supports_split(as, kernel, NULL, 0)) return false;
  *clocks = gemm_best_split(as, shape_of(as), rest, &split).clocks;
  as->tuning.of[TDM_TUNE_SPLIT] = split;
  return true;
}

static tdm_status prepare_rows(tdm_plan *plan) {
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  const hip_tile_kernel kernel = kernel_of(plan);
  const int begins = begins_of(plan);
  tdm_plan as;
  hip_tile_kernel any;
  gemm_fallback fallback = {&as, &any, 0, NULL};
  gemm_set_split(plan, shape_of(plan), rest);
  plan->fallback.align = begins == ODD ? 0 : begins == DWORDS ? 4 : 16;
  return gemm_prepare(plan, &kernel, NULL, gemm_rows_of(plan, &as, &any, &fallback.clocks) && begins != ODD ? &fallback : NULL);
}

static const hip_tile_kernel variant = {
    functions, {.m = MOST_ROWS, .n = FRAGMENT, .waves_m = 1, .waves_n = GEMM_ROWS_WAVES, .any_address = true}};

const tdm_kernel tdm_gemm_hip_rows = {.name = "hip_rows",
                                      .op = TDM_OP_GEMM,
                                      .backend = &tdm_backend_hip,
                                      .variant = &variant,
                                      .functions = functions,
                                      .supports = supports_rows,
                                      .prepare = prepare_rows,
                                      .launch = gemm_launch,
                                      .cost = cost_rows,
                                      /* Rows at any address, where a run's arrays begin otherwise than the plan's rows. */
                                      .fallback = {16, 3, &tdm_gemm_hip_rows},
                                      .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT,
                                      .matrix_units = true};
