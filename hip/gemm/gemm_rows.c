/* hip_rows of gemm: few rows of C, layout nt (gemm_rows.hip). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "args.h"
#include "gemm.h"
#include "rows_shape.h"

extern const hip_code tdm_code_gemm_rows[];

/* For 16, 32 and 64 rows. */
static const hip_functions functions[] = {{.code = tdm_code_gemm_rows, .stem = "gemm_rows1", .waves = 4},
                                          {.code = tdm_code_gemm_rows, .stem = "gemm_rows2", .waves = 4},
                                          {.code = tdm_code_gemm_rows, .stem = "gemm_rows4", .waves = 4},
                                          {.stem = NULL}};
enum { FRAGMENT = 16, MOST_ROWS = 64 };

/* The kernel of a plan: its tile has all rows. */
static hip_tile_kernel kernel_of(const tdm_plan *plan) {
  int64_t m = plan->desc.gemm.m;
  int place = m <= FRAGMENT ? 0 : m <= 2 * FRAGMENT ? 1 : 2;
  return (hip_tile_kernel){
      functions + place,
      {.m = FRAGMENT << place, .n = FRAGMENT, .waves_m = 1, .waves_n = GEMM_ROWS_WAVES, .resident = 2, .overlapped = true}};
}

static bool supports_rows(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_tile_kernel kernel = kernel_of(plan);
  if (d->layout != TDM_NT) {
    snprintf(reason, size, "%s is stored across k: both operands must be stored along it, as in nt",
             gemm_transposed_a(d) ? "a" : "b");
    return false;
  }
  if (d->m > MOST_ROWS) {
    snprintf(reason, size, "m = %" PRId64 ": at most %d", d->m, MOST_ROWS);
    return false;
  }
  return gemm_supports_split(plan, &kernel, reason, size);
}

/* Waves share no lines, and nothing goes through LDS but the sums: as if a workgroup had one wave. A load has half of a line
 * of 128 bytes from each of 16 rows, and the vL1D has room for whole lines. */
static hip_tile_shape shape_of(const tdm_plan *plan) {
  hip_tile_shape tile = kernel_of(plan).tile;
  tile.waves_n = 1;
  tile.touches = 2;
  tile.sums_in_lds = true;
  return tile;
}

/* Rows that do not begin at multiples of 16 bytes are loaded one fragment after another: what each load of the first unit and
 * of a further one takes more than whole lines do. By predictions of 1x157 and 17x157 on gfx942 in 16 bits, 4 and 6 loads:
 * K = 31 5200 and 7800 clocks, 255 7400 and 11,600, 1023 (2 units) 10,700 and 16,600, 2047 (4 units) 17,700. f32 needs no
 * shifting, so a wave's dwords are on their way together, and what the other waves load delays them: K = 31, 63, 115, 255 and
 * 1023, by 1, 2, 4 and 8 waves, 1370, 2870, 3400, 4800 and 20,500. */
static double load_clocks(tdm_type type, double lines, double units) {
  static const double ONE_LINE = 1450, FIRST = 1850, FURTHER = 900, FIRST_F32 = 350, OF_WAVE = 125;
  if (type == TDM_F32) return units * (FIRST_F32 + OF_WAVE * fmin(lines, GEMM_ROWS_WAVES));
  return (lines > 1 ? FIRST : ONE_LINE) + (units - 1) * FURTHER;
}

static double one_by_one(const tdm_plan *plan, int split) {
  enum { FRAGMENTS = 2 }; /* of a line's 128 bytes */
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  hip_tile_shape tile = kernel_of(plan).tile;
  double lines = ceil((double)d->k * (double)tdm_type_size(d->type) / HIP_STEP_BYTES / split);
  double units = ceil(lines / GEMM_ROWS_WAVES);
  double tiles = ceil((double)d->n / tile.n) * (double)d->batch * split;
  double rounds = ceil(tiles / ((double)plan->context->hip->compute_units * tile.resident));
  int loads = (tdm_hip_rows_aligned(&b, d->type, 16) ? 0 : 1) + (tdm_hip_rows_aligned(&a, d->type, 16) ? 0 : tile.m / FRAGMENT);
  /* The last wave loads what is left of k after its whole units: K = 248 beside 256, 16 to 64 rows, 1930 to 3220. */
  enum { TAIL = 2300 };
  if (loads == 0) return d->k * (int64_t)tdm_type_size(d->type) % HIP_STEP_BYTES == 0 ? 0 : TAIL;
  return rounds * loads * FRAGMENTS * load_clocks(d->type, lines, units);
}

static void cost_rows(const tdm_plan *plan, tdm_cost *cost) {
  int split;
  *cost = gemm_best_split(plan, shape_of(plan), one_by_one, &split);
}

static tdm_status prepare_rows(tdm_plan *plan) {
  hip_tile_kernel kernel = kernel_of(plan);
  gemm_set_split(plan, shape_of(plan), one_by_one);
  return gemm_prepare(plan, &kernel, NULL);
}

static const hip_tile_kernel variant = {functions, {.m = MOST_ROWS, .n = FRAGMENT, .waves_m = 1, .waves_n = GEMM_ROWS_WAVES}};

const tdm_kernel tdm_gemm_hip_rows = {.name = "hip_rows",
                                      .op = TDM_OP_GEMM,
                                      .backend = &tdm_backend_hip,
                                      .variant = &variant,
                                      .functions = functions,
                                      .supports = supports_rows,
                                      .prepare = prepare_rows,
                                      .launch = gemm_launch,
                                      .cost = cost_rows,
                                      .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT,
                                      .matrix_units = true};
