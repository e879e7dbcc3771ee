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

static hip_tile_shape shape_of(const tdm_plan *plan) { return gemm_rows_shape(kernel_of(plan).tile); }

/* What it takes more, or less, than that estimate: by predictions of 100 products of 16 to 2048 rows and columns and K = 16 to
 * 2048 on gfx950, gfx942 alike. The tail is a trip of the wave with the fewest fragments. of_fragment: for each of a wave's
 * fragments, tiles of 16, 32 and 64 rows; without it 512x512x512 bf16 takes 3600 more in nn, 2000 in tt and 400 in tn, and
 * 32x3072x768 nn 4000; in f32 512x512x512 nn 1800, 64x2304x768 nn 3100, and 3x217x2471 tt and 40x37x1397 nn 3300 and 1800.
 * BESIDE: 1x4096x64, 1x8192x64 and 1x16384x64 bf16 nn take 8,964, 10,986 and 15,804. */
static double rest(const tdm_plan *plan, int split) {
  enum { ONE_ACROSS = 450, BOTH_ACROSS = -400, TAIL = 400, BESIDE = 2000, TAIL_BESIDE = 600 };
  static const double of_fragment[][3] = {
      [TDM_NN] = {350, 1200, 1800}, [TDM_TN] = {350, 250, 250}, [TDM_TT] = {150, 500, 1000}};
  static const double of_fragment_f32[3] = {170, 170, 480};
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const hip_tile_shape tile = kernel_of(plan).tile;
  const bool both = d->layout == TDM_TN;
  const int64_t values = GEMM_UNIT / 2 / (int64_t)tdm_type_size(d->type);
  const double fragments = (double)(d->k / values) / split / GEMM_ROWS_WAVES;
  const double beside = both ? 0 : gemm_rows_beside(plan, &tile, split, BESIDE + (d->k % values != 0) * TAIL_BESIDE);
  if (d->type == TDM_F32) return beside + fragments * of_fragment_f32[gemm_rows_place(plan)];
  return beside + gemm_rows_rounds(plan, &tile, split) *
                      ((both ? BOTH_ACROSS : ONE_ACROSS) + fragments * of_fragment[d->layout][gemm_rows_place(plan)] +
                       (d->k % values != 0) * TAIL);
}

static void cost_elements(const tdm_plan *plan, tdm_cost *cost) {
  int split;
  *cost = gemm_best_split(plan, shape_of(plan), rest, &split);
}

bool gemm_elements_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks) {
  int split;
  gemm_plan_as(plan, &tdm_gemm_hip_elements, as);
  *kernel = kernel_of(as);
  if (!supports_elements(as, NULL, 0)) return false;
  *clocks = gemm_best_split(as, shape_of(as), rest, &split).clocks;
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
