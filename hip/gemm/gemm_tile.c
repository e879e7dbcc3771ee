/* hip_tile_16x64 ... hip_tile_256x128 of gemm: one loop (tile_loop.h) over tiles of any shape (tile_shapes.h), for what can be
 * loaded in dwords. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "gemm.h"
#include "hip/host/depths.h"
#include "tile_shapes.h"

static hip_tile_shape tile_shape(const tdm_plan *plan, const hip_depth_tile *t, int depth) {
  hip_tile_shape tile = tdm_hip_at_depth(plan, t, depth);
  tile.turns = depth != tile.cache_lines; /* in estimates (gemm.c) */
  return tile;
}

/* Rows along k, of which there must be some, are multiples of a chunk apart. What is packed is. */
static bool loads_cache_lines(const tdm_plan *plan, const hip_depth_tile *t, char *reason, size_t size) {
  enum { CHUNK = 16 };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int packs = gemm_packs(plan, &t->kernel), depth = t->kernel.tile.cache_lines;
  const int64_t elements = CHUNK / (int64_t)tdm_type_size(d->type), ld[] = {d->lda, d->ldb};
  const bool along_k[] = {!gemm_transposed_a(d), gemm_transposed_b(d)}, packed[] = {packs & GEMM_PACKS_A, packs & GEMM_PACKS_B};
  if (d->k == 0 || (!along_k[0] && !along_k[1])) {
    snprintf(reason, size, "depth = %d with %s: loads rows along k by cache lines, and there must be some", depth,
             d->k == 0 ? "k = 0" : "layout = tn");
    return false;
  }
  for (int i = 0; i < 2; i++)
    if (along_k[i] && !packed[i] && ld[i] % elements != 0) {
      snprintf(reason, size,
               "depth = %d with ld%c = %" PRId64 ": must be a multiple of %" PRId64 " elements, which are %d bytes", depth,
               "ab"[i], ld[i], elements, CHUNK);
      return false;
    }
  return true;
}

/* Would more lines than there are be loaded otherwise? */
static bool straddles(const tdm_plan *plan, const hip_depth_tile *t) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  return loads_cache_lines(plan, t, NULL, 0) &&
         ((!gemm_transposed_a(d) && !tdm_hip_rows_aligned(&a, d->type, HIP_STEP_BYTES)) ||
          (gemm_transposed_b(d) && !tdm_hip_rows_aligned(&b, d->type, HIP_STEP_BYTES)));
}

/* Without the copy there is a limit to ld. */
static bool tries(const tdm_plan *plan, const hip_depth_tile *t, int depth) {
  return depth != t->kernel.tile.cache_lines || (straddles(plan, t) && gemm_supports_dwords(plan, &t->kernel, NULL, 0));
}

static tdm_cost cost_of_depth(const tdm_plan *plan, const hip_depth_tile *t, int depth, int *split) {
  return gemm_best_split(plan, tile_shape(plan, t, depth), NULL, split);
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  enum { ONE_FRAGMENT = 16 };
  const hip_depth_tile *t = plan->kernel->variant;
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int depth = plan->tuning.of[TDM_TUNE_DEPTH];
  if ((t->kernel.tile.m == ONE_FRAGMENT && gemm_transposed_a(d)) ||
      (t->kernel.tile.n == ONE_FRAGMENT && !gemm_transposed_b(d))) {
    snprintf(reason, size, "%s is stored across k: a tile with 16 lines of it needs it stored along k",
             t->kernel.tile.m == ONE_FRAGMENT ? "a" : "b");
    return false;
  }
  if (!tdm_hip_supports_depth(plan, t, reason, size)) return false;
  if (depth > 0 && depth == t->kernel.tile.cache_lines && !loads_cache_lines(plan, t, reason, size)) return false;
  return gemm_supports_dwords(plan, &t->kernel, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const hip_depth_tile *t = plan->kernel->variant;
  tdm_tuning tuning;
  hip_tile_kernel kernel = t->kernel;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  tdm_hip_best_depth(plan, t, cost_of_depth, tries, &tuning);
  plan->tuning = tuning;
  kernel.tile = tile_shape(plan, t, tuning.of[TDM_TUNE_DEPTH]);
  kernel.functions += tuning.of[TDM_TUNE_DEPTH] - t->least;
  if (gemm_by_cache_lines(plan, &kernel)) {
    size_t used = strlen(plan->explain);
    snprintf(plan->explain + used, sizeof plan->explain - used,
             "cache lines: rows along k are loaded line by line, wherever they begin (depth %d)\n",
             plan->tuning.of[TDM_TUNE_DEPTH]);
  }
  return gemm_prepare_dwords(plan, &kernel, tdm_layout_names[plan->desc.gemm.layout]);
}

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const hip_depth_tile *t = plan->kernel->variant;
  tdm_tuning tuning;
  *cost = tdm_hip_best_depth(plan, t, cost_of_depth, tries, &tuning);
  cost->clocks *= gemm_tile_share(plan, &t->kernel.tile);
}

/* A shape of tile_shapes.h, whose four numbers become arguments. */
#define SHAPE(...) SHAPE_OF(__VA_ARGS__)
#define SHAPE_OF(lines_a, lines_b, along_m, along_n) {.m = lines_a, .n = lines_b, .waves_m = along_m, .waves_n = along_n}

#define CACHE_LINES(...) CACHE_LINES_OF(__VA_ARGS__)
#define CACHE_LINES_OF(lines_a, lines_b, along_m, along_n) \
  {.m = lines_a, .n = lines_b, .waves_m = along_m, .waves_n = along_n, .cache_lines = GEMM_CACHE_LINES_DEPTH}

/* LDS of a stage on chips with long rows (HIP_PIPE_ROW). */
#define STAGE_LDS(...) STAGE_LDS_OF(__VA_ARGS__)
#define STAGE_LDS_OF(lines_a, lines_b, along_m, along_n) (((lines_a) + (lines_b)) * GEMM_UNIT)

/* tile: of a hip_depth_tile, whose functions are TILE_functions. */
#define ROW(row, tile)                                                        \
  {.name = row,                                                               \
   .op = TDM_OP_GEMM,                                                         \
   .backend = &tdm_backend_hip,                                               \
   .variant = &(tile),                                                        \
   .functions = (tile##_functions),                                           \
   .supports = supports,                                                      \
   .prepare = prepare,                                                        \
   .launch = gemm_launch,                                                     \
   .cost = cost,                                                              \
   .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT | 1 << TDM_TUNE_DEPTH, \
   .fallback = {4, 3, &tdm_gemm_hip_128x128},                                 \
   .matrix_units = true}

extern const hip_code tdm_code_gemm_tile_16x64[];
static const hip_functions tile_16x64_functions[] = {
    {.code = tdm_code_gemm_tile_16x64, .stem = "gemm_tile_16x64_3", .waves = 2}, {.stem = NULL}};
static const hip_depth_tile tile_16x64 = {.kernel = {tile_16x64_functions, SHAPE(GEMM_TILE_16x64)}, .least = 3, .most = 3};
const tdm_kernel tdm_gemm_hip_tile_16x64 = ROW("hip_tile_16x64", tile_16x64);

extern const hip_code tdm_code_gemm_tile_32x128[];
static const hip_functions tile_32x128_functions[] = {
    {.code = tdm_code_gemm_tile_32x128, .stem = "gemm_tile_32x128_3", .waves = 2},
    {.code = tdm_code_gemm_tile_32x128,
     .stem = "gemm_tile_32x128_4",
     .waves = 2,
     .fewer = {.lds_below = 2 * 4 * STAGE_LDS(GEMM_TILE_32x128), .waves = 1}},
    {.stem = NULL}};
static const hip_depth_tile tile_32x128 = {
    .kernel = {tile_32x128_functions, CACHE_LINES(GEMM_TILE_32x128)}, .least = 3, .most = 4};
const tdm_kernel tdm_gemm_hip_tile_32x128 = ROW("hip_tile_32x128", tile_32x128);

extern const hip_code tdm_code_gemm_tile_64x16[];
static const hip_functions tile_64x16_functions[] = {
    {.code = tdm_code_gemm_tile_64x16, .stem = "gemm_tile_64x16_3", .waves = 2}, {.stem = NULL}};
static const hip_depth_tile tile_64x16 = {.kernel = {tile_64x16_functions, SHAPE(GEMM_TILE_64x16)}, .least = 3, .most = 3};
const tdm_kernel tdm_gemm_hip_tile_64x16 = ROW("hip_tile_64x16", tile_64x16);

extern const hip_code tdm_code_gemm_tile_128x32[];
static const hip_functions tile_128x32_functions[] = {
    {.code = tdm_code_gemm_tile_128x32, .stem = "gemm_tile_128x32_3", .waves = 2}, {.stem = NULL}};
static const hip_depth_tile tile_128x32 = {.kernel = {tile_128x32_functions, SHAPE(GEMM_TILE_128x32)}, .least = 3, .most = 3};
const tdm_kernel tdm_gemm_hip_tile_128x32 = ROW("hip_tile_128x32", tile_128x32);

extern const hip_code tdm_code_gemm_tile_64x64[];
static const hip_functions tile_64x64_functions[] = {
    {.code = tdm_code_gemm_tile_64x64, .stem = "gemm_tile_64x64_3", .waves = 2},
    {.code = tdm_code_gemm_tile_64x64, .stem = "gemm_tile_64x64_4", .waves = 2},
    {.stem = NULL}};
static const hip_depth_tile tile_64x64 = {
    .kernel = {tile_64x64_functions, CACHE_LINES(GEMM_TILE_64x64)}, .least = 3, .most = 4, .spares_across = true};
const tdm_kernel tdm_gemm_hip_tile_64x64 = ROW("hip_tile_64x64", tile_64x64);

extern const hip_code tdm_code_gemm_tile_64x128[];
static const hip_functions tile_64x128_functions[] = {
    {.code = tdm_code_gemm_tile_64x128, .stem = "gemm_tile_64x128_2", .waves = 2},
    {.code = tdm_code_gemm_tile_64x128,
     .stem = "gemm_tile_64x128_3",
     .waves = 2,
     .fewer = {.lds_below = 2 * 3 * STAGE_LDS(GEMM_TILE_64x128), .waves = 1}},
    {.code = tdm_code_gemm_tile_64x128, .stem = "gemm_tile_64x128_4", .waves = 1},
    {.stem = NULL}};
static const hip_depth_tile tile_64x128 = {
    .kernel = {tile_64x128_functions, CACHE_LINES(GEMM_TILE_64x128)}, .least = 2, .most = 4};
const tdm_kernel tdm_gemm_hip_tile_64x128 = ROW("hip_tile_64x128", tile_64x128);

extern const hip_code tdm_code_gemm_tile_128x128[];
/* Three stages leave no LDS for a second workgroup. */
static const hip_functions tile_128x128_functions[] = {
    {.code = tdm_code_gemm_tile_128x128, .stem = "gemm_tile_128x128_2", .waves = 2},
    {.code = tdm_code_gemm_tile_128x128, .stem = "gemm_tile_128x128_3", .waves = 1},
    {.code = tdm_code_gemm_tile_128x128, .stem = "gemm_tile_128x128_4", .waves = 1},
    {.stem = NULL}};
static const hip_depth_tile tile_128x128 = {
    .kernel = {tile_128x128_functions, CACHE_LINES(GEMM_TILE_128x128)}, .least = 2, .most = 4};
const tdm_kernel tdm_gemm_hip_tile_128x128 = ROW("hip_tile_128x128", tile_128x128);

extern const hip_code tdm_code_gemm_tile_256x128[];
static const hip_functions tile_256x128_functions[] = {
    {.code = tdm_code_gemm_tile_256x128, .stem = "gemm_tile_256x128_2", .waves = 2},
    {.code = tdm_code_gemm_tile_256x128,
     .stem = "gemm_tile_256x128_3",
     .waves = 2,
     .least_lds = 3 * STAGE_LDS(GEMM_TILE_256x128)},
    {.stem = NULL}};
static const hip_depth_tile tile_256x128 = {
    .kernel = {tile_256x128_functions, SHAPE(GEMM_TILE_256x128)}, .least = 2, .most = 3};
const tdm_kernel tdm_gemm_hip_tile_256x128 = ROW("hip_tile_256x128", tile_256x128);
