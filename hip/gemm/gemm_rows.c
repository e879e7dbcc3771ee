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

static bool whole_units(const tdm_gemm_desc *d) { return d->k % (GEMM_UNIT / (int64_t)tdm_type_size(d->type)) == 0; }

static int begins_of(const tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (plan->any_address != 0) return d->type == TDM_F32 ? DWORDS : ODD; /* of gemm_rows_of */
  return !gemm_begin_at(d, 4) ? ODD : gemm_begin_at(d, 16) && whole_units(d) ? 0 : DWORDS;
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
  const hip_tile_output output = gemm_output(plan);
  return ceil(tdm_hip_tiles_of(&output, tile) * split / ((double)plan->context->hip->compute_units * tile->resident));
}

tdm_cost gemm_rows_best_split(const tdm_plan *plan, hip_tile_shape tile, gemm_more *more, int *split) {
  static const double MARGIN = 1.05;
  tdm_cost best = gemm_best_split(plan, tile, more, split);
  if (tdm_hip_half_lines(plan->context->hip->chip)) best.clocks *= MARGIN;
  return best;
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

/* What rows that begin elsewhere than at halves of cache lines, or end within a unit, take more than the estimate without them,
 * in tiles of 16, 32 and 64 rows: whatever K is; for a wave's first unit, and for each that follows; and for each trip of the
 * tail, which half of a unit takes. HALF_LINES: on gfx942 for each unit in addition, in 16 bits and in f32. Fitted to
 * predictions of 9x81, 30x1024, 30x4000 and 61x4000, K = 6 to 2056, on both chips, without K splits, where they are off by 1 to
 * 5 % (root of the mean square). f32 shows nothing of its tail's trips. */
typedef struct rest_clocks {
  double once, first, then, trip;
} rest_clocks;
static const rest_clocks AT_CHUNKS[] = {{70, 335, -765, 670}, {405, -110, -960, 570}, {-460, -245, -1960, 1000}},
                         AT_DWORDS[] = {{105, -40, -510, 1015}, {385, -175, -690, 1010}, {-405, -215, -945, 1565}},
                         BETWEEN_DWORDS[] = {{-2925, 1645, -155, 2005}, {-655, 900, -280, 1340}, {480, 350, 305, 925}},
                         AT_CHUNKS_F32[] = {{390, 390, 630, 0}, {305, 305, -560, 0}, {515, 515, -1365, 0}},
                         AT_DWORDS_F32[] = {{340, 340, 830, 0}, {390, 390, -350, 0}, {535, 535, -330, 0}};
static const double HALF_LINES[][3] = {{520, 900, 1480}, {0, 790, 1080}};
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

static const rest_clocks *rest_of(const tdm_gemm_desc *d, bool odd) {
  const bool chunks = gemm_begin_at(d, 16) && d->k * (int64_t)tdm_type_size(d->type) % 16 == 0;
  if (d->type == TDM_F32) return chunks ? AT_CHUNKS_F32 : AT_DWORDS_F32;
  return odd ? BETWEEN_DWORDS : chunks ? AT_CHUNKS : AT_DWORDS;
}

static double rest(const tdm_plan *plan, int split) {
  /* Rows between dwords without a tail, as a share of a trip: 9x81 bf16 nt with pad = 1 takes 10,455 and 18,004 clocks with
   * K = 512 and 2048 on gfx950, and 30x4000x512 14,715. */
  static const double CARE = 0.6;
  enum { BESIDE = 1200, TAIL_BESIDE = 900, UNIT_F32 = 40 /* products that wait for each other */ };
  enum { ROW_F32 = 20, ROWS_FITTED = 9, LESS_OF_32 = 500, LESS_OF_64 = 100 /* for each unit */ };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int64_t size = (int64_t)tdm_type_size(d->type), values = GEMM_UNIT / size, tail = d->k % values * size;
  const hip_tile_kernel kernel = kernel_of(plan);
  const int place = (int)(kernel.functions - functions) % DWORDS;
  const bool odd = kernel.functions - functions >= ODD, f32 = d->type == TDM_F32;
  const double rounds = gemm_rows_rounds(plan, &kernel.tile, split), units = (double)(d->k / values) / split,
               more = (d->m > MOST_ROWS && place == 2 ? TILES_OF_64 : 0) +
                      gemm_rows_beside(plan, &kernel.tile, split, BESIDE + (tail != 0 ? TAIL_BESIDE : 0));
  /* 16 bits at chunks: -300 to 210 for a unit */
  if (tail == 0 && !odd && (gemm_begin_at(d, HIP_STEP_BYTES / 2) || !f32)) {
    /* one tile of rows, 30x4000 and 60x2600, K = 512 to 3072: up to 2945 and 5348 less than without this */
    if (place > 0) return more - (d->m > kernel.tile.m ? 0 : rounds) * (place == 1 ? LESS_OF_32 : units * LESS_OF_64);
    return more + rounds * ((f32 ? units * UNIT_F32 : 0) - (split == 1 ? first_units(plan, &kernel.tile, split) : 0));
  }
  const rest_clocks *of = rest_of(d, odd) + place;
  const double of_wave = gemm_begin_at(d, HIP_STEP_BYTES / 2) ? 0 : units / GEMM_ROWS_WAVES, first = units < 1 ? 0 : 1,
               trips = fmax(odd ? CARE : 0, ceil((double)tail / (GEMM_UNIT / 2))),
               more_rows = f32 && place == 0 ? fmin(FRAGMENT, (double)d->m) - ROWS_FITTED : 0,
               half_lines = tdm_hip_half_lines(plan->context->hip->chip) ? HALF_LINES[f32][place] : 0;
  return more + rounds * (of->once + first * of->first + fmax(0, of_wave - 1.0 / GEMM_ROWS_WAVES) * of->then +
                          of_wave * (half_lines - more_rows * ROW_F32) + trips * of->trip);
}

static void cost_rows(const tdm_plan *plan, tdm_cost *cost) {
  int split;
  *cost = gemm_rows_best_split(plan, shape_of(plan), rest, &split);
}

bool gemm_rows_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const bool other = plan->kernel != &tdm_gemm_hip_rows;
  int split;
  gemm_plan_as(plan, &tdm_gemm_hip_rows, as);
  *kernel = kernel_of(as);
  if (d->layout != TDM_NT || (other && d->type == TDM_F32) || !gemm_supports_split(as, kernel, NULL, 0)) return false;
  *clocks = gemm_rows_best_split(as, shape_of(as), rest, &split).clocks;
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
