/* hip_elements of gemm: layouts nn, tn and tt, small products, arrays at any address (gemm_elements.hip). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "args.h"
#include "gemm.h"
#include "rows_shape.h"

extern const hip_code tdm_code_gemm_elements[];

/* Tiles of 16, 32 and 64 rows. */
static const hip_functions functions[] = {{.code = tdm_code_gemm_elements, .stem = "gemm_elements1", .waves = 4},
                                          {.code = tdm_code_gemm_elements, .stem = "gemm_elements2", .waves = 4},
                                          {.code = tdm_code_gemm_elements, .stem = "gemm_elements4", .waves = 4},
                                          {.stem = NULL}};

static hip_tile_kernel kernel_of(const tdm_plan *plan) {
  const int place = gemm_rows_place(plan);
  return (hip_tile_kernel){functions + place, gemm_rows_tile(place)};
}

/* Offsets of a step's rows from its first one have 32 bits. */
enum { MOST_STEP_BYTES = INT32_MAX / 128 };

static bool step_fits(const hip_stored *x, tdm_type type, char *reason, size_t size) {
  const int64_t most = MOST_STEP_BYTES / (int64_t)tdm_type_size(type);
  if (x->ld <= most) return true;
  snprintf(reason, size, "ld%s = %" PRId64 ": must be %" PRId64 " at most", x->name, x->ld, most);
  return false;
}

static bool supports_elements(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const hip_tile_kernel kernel = kernel_of(plan);
  const hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  if (d->layout == TDM_NT) {
    snprintf(reason, size, "layout = nt: must be nn, tn or tt: hip_rows is for nt");
    return false;
  }
  return (!gemm_transposed_a(d) || step_fits(&a, d->type, reason, size)) &&
         (gemm_transposed_b(d) || step_fits(&b, d->type, reason, size)) && gemm_supports_split(plan, &kernel, reason, size);
}

static hip_tile_shape shape_of(const tdm_plan *plan) {
  hip_tile_shape tile = gemm_rows_shape(kernel_of(plan).tile);
  tile.halves = true;
  return tile;
}

/* What it takes more, or less, than that estimate, in tiles of 16, 32 and 64 rows: whatever K is; for the tail; for a wave's
 * first fragment, which is among the trips to memory of each workgroup, and for each that follows; and for each where rows
 * across k begin between dwords. Fitted to predictions on both chips, without K splits: bf16 2x517, 2x768, 15x161, 16x160,
 * 32x2448, 31x2449, 64x2448 and 61x2447, K = 19 to 3072; f32 16x160, 9x291, 10x1133, 32x2448, 31x2449, 64x2448 and 61x2447,
 * K = 19 to 1323. They are off by 2 to 4 % (root of the mean square). */
typedef struct rest_clocks {
  double once, tail, first, then, between;
} rest_clocks;
static const rest_clocks rest_16_bit[][3] = {
    [TDM_NN] = {{65, 550, -30, 50, 250}, {760, 915, 500, 830, 400}, {600, 1540, 1700, 690, 260}},
    [TDM_TN] = {{-80, 405, -710, -605, 195}, {20, 430, -490, 370, 760}, {-450, 525, 850, 1000, -50}},
    [TDM_TT] = {{285, 520, -390, -485, 270}, {135, 625, 80, 550, 405}, {450, 665, 940, 1210, -200}}};
static const rest_clocks rest_f32[][3] = {
    [TDM_NN] = {{-345, 740, 25, 140, 0}, {-30, 570, -270, 300, 0}, {45, 575, -50, 165, 0}},
    [TDM_TN] = {{-370, 795, -140, 145, 0}, {-350, 840, -260, 520, 0}, {-495, 670, 300, 445, 0}},
    [TDM_TT] = {{-230, 420, -475, 30, 0}, {-15, 315, -460, 385, 0}, {-550, 620, -230, 480, 0}}};

static bool between_dwords(const tdm_gemm_desc *d) {
  const hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  return (gemm_transposed_a(d) && !tdm_hip_rows_aligned(&a, d->type, 4)) ||
         (!gemm_transposed_b(d) && !tdm_hip_rows_aligned(&b, d->type, 4));
}

/* BESIDE: 5x4096 and 5x8192 bf16 nn take 9173 and 10,931 clocks with K = 28, 8968 and 10,990 with 64, and 9691 and 11,650 with
 * 256 on gfx950. */
static double rest(const tdm_plan *plan, int split) {
  enum { BESIDE = 1700 };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const hip_tile_shape tile = kernel_of(plan).tile;
  const rest_clocks *of = (d->type == TDM_F32 ? rest_f32 : rest_16_bit)[d->layout] + gemm_rows_place(plan);
  const int64_t values = GEMM_UNIT / 2 / (int64_t)tdm_type_size(d->type);
  const double of_wave = (double)(d->k / values) / split / GEMM_ROWS_WAVES, first = fmin(1, of_wave);
  const double beside = d->layout == TDM_TN ? 0 : gemm_rows_beside(plan, &tile, split, BESIDE);
  const double clocks = of->once + (d->k % values != 0) * of->tail + first * of->first + (of_wave - first) * of->then +
                        (between_dwords(d) ? of_wave * of->between : 0);
  return beside + gemm_rows_rounds(plan, &tile, split) * clocks;
}

static void cost_elements(const tdm_plan *plan, tdm_cost *cost) {
  int split;
  *cost = gemm_rows_best_split(plan, shape_of(plan), rest, &split);
}

bool gemm_elements_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks) {
  int split;
  gemm_plan_as(plan, &tdm_gemm_hip_elements, as);
  *kernel = kernel_of(as);
  if (!supports_elements(as, NULL, 0)) return false;
  *clocks = gemm_rows_best_split(as, shape_of(as), rest, &split).clocks;
  as->tuning.of[TDM_TUNE_SPLIT] = split;
  return true;
}

static tdm_status prepare_elements(tdm_plan *plan) {
  const hip_tile_kernel kernel = kernel_of(plan);
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  gemm_set_split(plan, shape_of(plan), rest);
  return gemm_prepare(plan, &kernel, tdm_layout_names[plan->desc.gemm.layout], NULL);
}

static const hip_tile_kernel variant = {
    functions, {.m = 64, .n = GEMM_ROWS_LINES, .waves_m = 1, .waves_n = GEMM_ROWS_WAVES, .any_address = true}};

const tdm_kernel tdm_gemm_hip_elements = {.name = "hip_elements",
                                          .op = TDM_OP_GEMM,
                                          .backend = &tdm_backend_hip,
                                          .variant = &variant,
                                          .functions = functions,
                                          .supports = supports_elements,
                                          .prepare = prepare_elements,
                                          .launch = gemm_launch,
                                          .cost = cost_elements,
                                          .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT,
                                          .matrix_units = true};
