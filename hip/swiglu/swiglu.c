/* swiglu on HIP: hip_128x64 for everything, the others for what can be loaded in dwords. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "hip/host/depths.h"
#include "swiglu.h"
#include "tile_shapes.h"

extern const hip_code tdm_code_swiglu_128x64[], tdm_code_swiglu_256x128[], tdm_code_swiglu_tile_16x32[],
    tdm_code_swiglu_tile_32x64[], tdm_code_swiglu_tile_64x64[], tdm_code_swiglu_tile_128x64[];

/* By gfxsim's predictions of bf16 on gfx950: an element of the output takes 0.53 clocks of a CU more than one of a product
 * (512x512x512 with either kernel). Elements of rows that are not whole fours are stored one by one: 1796x179 takes 2340 clocks
 * of four waves and 4070 of eight more than 1796x180, 1.1 for an element of a wave. */
static const double SWISH = 0.53, ONE_BY_ONE = 0.28;

/* What the estimate of any tile is made of. */
static hip_tile_work work_of(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  hip_tile_work work = {.m = d->m,
                        .n = d->n,
                        .k = d->k,
                        .batch = 1,
                        .type = d->type,
                        .out = d->out,
                        .store = SWISH,
                        .across_a = !swiglu_operand(d, 0).along_k,
                        .across_b = !swiglu_operand(d, 1).along_k};
  const hip_stored y = {.ld = d->ldy};
  if (d->n % 4 != 0 || !tdm_hip_rows_aligned(&y, d->out, 4 * (int)tdm_type_size(d->out)))
    work.store += ONE_BY_ONE * 4 / (kernel->tile.waves_m * kernel->tile.waves_n);
  if (!kernel->tile.any_address) {
    work.again_a = swiglu_loads_again(plan, kernel, 0);
    work.again_b = (swiglu_loads_again(plan, kernel, 1) + swiglu_loads_again(plan, kernel, 2)) / 2;
  }
  return work;
}

static unsigned make_args(const tdm_plan *plan, const hip_tile_kernel *kernel, void *made) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const hip_copies copies = swiglu_copies(d, swiglu_packs(plan, kernel));
  int64_t ld[SWIGLU_OPERANDS];
  bool aligned[SWIGLU_OPERANDS];
  for (int i = 0; i < SWIGLU_OPERANDS; i++) {
    const hip_stored *of = &copies.of[i].stored;
    const bool packed = copies.packs >> i & 1;
    ld[i] = packed ? tdm_hip_copy_of(&copies, i).ld : of->ld;
    aligned[i] = packed || tdm_hip_rows_aligned(of, d->type, 16);
  }
  const hip_stored y = {.ld = d->ldy};
  swiglu_args args = {.m = d->m,
                      .n = d->n,
                      .k = tdm_hip_packed_k(&copies),
                      .ldx = ld[0],
                      .ldg = ld[1],
                      .ldu = ld[2],
                      .ldy = d->ldy,
                      .out = d->out,
                      .aligned_x = aligned[0],
                      .aligned_g = aligned[1],
                      .aligned_u = aligned[2],
                      .aligned_fours = tdm_hip_rows_aligned(&y, d->out, 4 * (int)tdm_type_size(d->out)),
                      .weights_along_k = d->layout == TDM_NT,
                      .packed = copies.packs};
  const hip_tile_work work = work_of(plan, kernel);
  swiglu_set_parts(plan, kernel, &work, &args);
  memcpy(made, &args, sizeof args);
  return args.order.count;
}

static void set_pointers(const tdm_plan *plan, void *const *buffers, void *made) {
  swiglu_args *args = made;
  const hip_copies copies = swiglu_copies(&plan->desc.swiglu, args->packed);
  const void *at[SWIGLU_OPERANDS];
  for (int i = 0; i < SWIGLU_OPERANDS; i++) at[i] = copies.packs >> i & 1 ? tdm_hip_copy_at(plan, &copies, i) : buffers[i];
  args->first.x = at[0];
  args->first.wg = at[1];
  args->first.wu = at[2];
  args->y = buffers[3];
  swiglu_set_part_pointers(plan, args);
  args->aligned_x = args->aligned_x && tdm_hip_at(args->first.x, 16);
  args->aligned_g = args->aligned_g && tdm_hip_at(args->first.wg, 16);
  args->aligned_u = args->aligned_u && tdm_hip_at(args->first.wu, 16);
  args->aligned_fours = args->aligned_fours && tdm_hip_at(args->y, 4 * (int)tdm_type_size(plan->desc.swiglu.out));
}

static const hip_functions general_functions[] = {
    {.code = tdm_code_swiglu_128x64, .stem = "swiglu_128x64", .waves = 2}, SWIGLU_PACK, {.stem = NULL}};
static const hip_functions pipe_functions[] = {
    {.code = tdm_code_swiglu_256x128, .stem = "swiglu_256x128", .waves = 2, .lds = HIP_PIPE_LDS}, {.stem = NULL}};

/* Two workgroups share a CU (WORKGROUP(256, 2)), and registers hold the loads of one K step. */
static const hip_depth_tile general = {.kernel = {general_functions,
                                                  {.m = MASKED_LINES,
                                                   .n = MASKED_LINES / 2,
                                                   .waves_m = MASKED_WAVES_M,
                                                   .waves_n = MASKED_WAVES_N,
                                                   .products = 2,
                                                   .resident = 2,
                                                   .valu = HIP_MASKED_VALU,
                                                   .start = HIP_MASKED_START,
                                                   .waits = true,
                                                   .any_address = true}}};
static const hip_depth_tile pipe = {.kernel = {pipe_functions,
                                               {.m = PIPE_LINES,
                                                .n = PIPE_LINES / 2,
                                                .waves_m = PIPE_WAVES_M,
                                                .waves_n = PIPE_WAVES_N,
                                                .products = 2,
                                                .overlapped = true}}};

/* A shape of tile_shapes.h, whose four numbers become arguments, and what a workgroup takes more than the estimate. */
#define SHAPE(...) SHAPE_OF(__VA_ARGS__)
#define SHAPE_OF(rows, columns, along_m, along_n, first) \
  {.m = rows, .n = columns, .waves_m = along_m, .waves_n = along_n, .products = 2, .last_adds = true, .start = first}
/* Without these bf16 nt 8x512 and 64x512 with K = 64, 512 and 1536 were estimated 250 to 1240 clocks too high by 16x32 on both
 * chips, from 350 too low to 730 too high by 32x64, and from 1150 too low to 440 too high by 64x64. */
enum { START_16x32 = -600, START_32x64 = -250 };
/* LDS of a stage on chips with long rows (HIP_PIPE_ROW). */
#define STAGE_LDS(...) STAGE_LDS_OF(__VA_ARGS__)
#define STAGE_LDS_OF(rows, columns, along_m, along_n) (((rows) + 2 * (columns)) * HIP_PART_UNIT)
static const hip_functions tile_16x32_functions[] = {
    {.code = tdm_code_swiglu_tile_16x32, .stem = "swiglu_tile_16x32", .waves = 2}, {.stem = NULL}};
static const hip_functions tile_32x64_functions[] = {
    {.code = tdm_code_swiglu_tile_32x64, .stem = "swiglu_tile_32x64", .waves = 2}, {.stem = NULL}};
static const hip_functions tile_64x64_functions[] = {
    {.code = tdm_code_swiglu_tile_64x64, .stem = "swiglu_tile_64x64_2", .waves = 2},
    {.code = tdm_code_swiglu_tile_64x64,
     .stem = "swiglu_tile_64x64_3",
     .waves = 2,
     .fewer = {.lds_below = 2 * 3 * STAGE_LDS(SWIGLU_TILE_64x64), .waves = 1}},
    {.stem = NULL}};
static const hip_functions tile_128x64_functions[] = {
    {.code = tdm_code_swiglu_tile_128x64, .stem = "swiglu_tile_128x64_2", .waves = 2},
    {.code = tdm_code_swiglu_tile_128x64, .stem = "swiglu_tile_128x64_3", .waves = 1},
    {.stem = NULL}};
static const hip_depth_tile tile_16x32 = {.kernel = {tile_16x32_functions, SHAPE(SWIGLU_TILE_16x32, START_16x32)},
                                          .least = SWIGLU_TILE_DEPTH,
                                          .most = SWIGLU_TILE_DEPTH};
static const hip_depth_tile tile_32x64 = {.kernel = {tile_32x64_functions, SHAPE(SWIGLU_TILE_32x64, START_32x64)},
                                          .least = SWIGLU_TILE_DEPTH,
                                          .most = SWIGLU_TILE_DEPTH};
static const hip_depth_tile tile_64x64 = {.kernel = {tile_64x64_functions, SHAPE(SWIGLU_TILE_64x64, 0)}, .least = 2, .most = 3};
static const hip_depth_tile tile_128x64 = {
    .kernel = {tile_128x64_functions, SHAPE(SWIGLU_TILE_128x64, 0)}, .least = 2, .most = 3};

/* depth 0: the tile has a loop of its own. Narrow tiles take no turns. 32x64 with turns: 256x1024x1024 bf16 nt 18,845 predicted
 * clocks for 17,786 on gfx950, 80x2000x1100 f32 nn 35,850 for 33,260; but 300x1500x700 bf16 nn, whose rows straddle lines,
 * 19,167 for 21,677. */
static hip_tile_shape shape_of(const tdm_plan *plan, const hip_depth_tile *t, int depth) {
  if (depth == 0) return t->kernel.tile;
  hip_tile_shape tile = tdm_hip_at_depth(plan, t, depth);
  tile.turns = tile.between;
  return tile;
}

static const hip_tile_op op = {sizeof(swiglu_args), make_args, set_pointers, swiglu_borrowed_bytes, swiglu_pack_pointers};
_Static_assert(sizeof(swiglu_first) == HIP_PRELOADED_BYTES && offsetof(swiglu_args, first) == 0, "it is in registers");
_Static_assert(sizeof(swiglu_args) <= HIP_TILE_ARGS, "it fits the plan");

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  return tdm_hip_tile_launch(plan, &op, buffers, stream);
}

/* A step of hip_128x64 takes 3050 clocks for 16 or 120 rows, whose loads are masked, and 2130 where m is whole tiles, whether n
 * cuts columns or not (128x180 and 128x192 in f16). */
enum { WHOLE_VALU = 1 };
/* Rows of f32 that do not begin at multiples of 16 bytes take so many more in a step, for each operand: in the loads before the
 * first step and in all steps but the last, which loads nothing. */
enum { UNALIGNED_TURNS = 1800 };

/* What hip_128x64 waits for in addition, in 16 bits (load_run in engine/masked.h): runs of 8 elements that do not begin at
 * multiples of 16 bytes are loaded one after another, and the elements of a row's last one, one after another.
 *
 * A run takes HBM's latency, or three quarters of it where other workgroups load the same lines: 650 to 1100 clocks in the
 * predictions of f16 120x179 and 1796x179, K = 64 to 257. An element is mostly in the vL1D then. Along k one takes 190, and
 * only the last step has any: K = 127 takes 14,720 more than 65. Across k each step has some, each row's in lines of its own:
 * 470 to 3060 for 1 to 7 elements of a run (120x185 to 120x191). The matrix's first run is loaded so, too, which
 * across k is in another tile than a row's last one. */
static const double SHARED = 0.75;
static double one_by_one(const tdm_plan *plan, const hip_tile_shape *tile, int operand) {
  enum { LINES = 32, RUN = 8, AGAIN = 190, ACROSS = 325 }; /* LINES: whose runs, or for whose k, all threads load at once */
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const hip_operand x = swiglu_operand(d, operand);
  const bool aligned = tdm_hip_rows_aligned(&x.stored, d->type, 16);
  const double steps = ceil((double)d->k * (double)tdm_type_size(d->type) / HIP_STEP_BYTES);
  const double lines = x.along_k ? (double)x.stored.rows : (double)x.stored.columns, of_tile = operand == 0 ? tile->m : tile->n;
  const double runs = ceil((x.along_k ? fmin(lines, of_tile) : of_tile) / LINES);
  const double latency = tdm_hip_cost_numbers.latency * (d->m > tile->m ? SHARED : 1);
  const int64_t of_step = HIP_STEP_BYTES / (int64_t)tdm_type_size(d->type), last = d->k - (d->k - 1) / of_step * of_step;
  int left = (int)(x.stored.columns % RUN);
  if (!aligned && left == 0) left = RUN; /* what follows a row's last run may be outside of the array */
  const double elements = runs * left * (x.along_k ? AGAIN : steps * ACROSS);
  if (aligned) return elements;
  const double further = fmax(0, x.along_k && last <= RUN ? steps - 2 : steps - 1); /* steps with whole runs */
  return (x.along_k ? elements + RUN * AGAIN : fmax(elements, RUN * AGAIN)) +
         runs * (tdm_hip_cost_numbers.latency + further * latency);
}

/* The estimate of a depth, and the split that it is for. */
static tdm_cost cost_of(const tdm_plan *plan, const hip_depth_tile *t, int depth, int *split) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const hip_tile_kernel *kernel = &t->kernel;
  hip_tile_shape tile = shape_of(plan, t, depth);
  hip_tile_work work = work_of(plan, kernel);
  if (d->type == TDM_F32 && !tile.any_address) tile.start = 0; /* START_16x32 and START_32x64 are of 16 bits */
  const bool whole = d->m % tile.m == 0;
  if (tile.valu > 0 && whole) tile.valu = WHOLE_VALU;
  for (int i = 0; i < SWIGLU_OPERANDS && tile.any_address; i++) {
    const hip_operand x = swiglu_operand(d, i);
    if (tdm_type_size(d->type) == 2)
      work.once += one_by_one(plan, &tile, i);
    else if (!tdm_hip_rows_aligned(&x.stored, d->type, 16))
      tile.valu += UNALIGNED_TURNS;
  }
  tdm_cost best = swiglu_best_split(plan, &tile, &work, split);
  /* Two workgroups of hip_128x64 hide half of what each of them waits for: by K of 1024 to 2048 nt bf16 a step takes 2720 to
   * 2850 clocks with one on a CU and 4040 to 4250 with two on gfx942, 3130 with two on gfx950. In nn and with masks the
   * estimate fits without it: 1024x4096x1024 nn 65,131 for 67,792 clocks. */
  if (tile.waits && whole && !work.across_b) {
    tile.resident = 1;
    best.clocks = (best.clocks + swiglu_best_split(plan, &tile, &work, split).clocks) / 2;
  }
  best.clocks += swiglu_pack_clocks(plan, kernel);
  return best;
}

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  tdm_tuning tuning;
  *cost = tdm_hip_best_depth(plan, plan->kernel->variant, cost_of, NULL, &tuning);
}

/* ---- hip_128x64 ---- */

static bool supports_general(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  return tdm_hip_tiles_fit(d->m, d->n, 1, general.kernel.tile.m, general.kernel.tile.n, reason, size);
}

static tdm_status prepare_general(tdm_plan *plan) {
  return tdm_hip_tile_prepare(plan, &op, &general.kernel, NULL, plan->desc.swiglu.type, NULL);
}

const tdm_kernel tdm_swiglu_hip_128x64 = {.name = "hip_128x64",
                                          .op = TDM_OP_SWIGLU,
                                          .backend = &tdm_backend_hip,
                                          .variant = &general,
                                          .functions = general_functions,
                                          .supports = supports_general,
                                          .prepare = prepare_general,
                                          .launch = launch,
                                          .cost = cost,
                                          .takes = TDM_ORDER_PARAMETERS,
                                          .matrix_units = true};

/* ---- Those that load dwords ---- */

static bool supports_dwords(const tdm_plan *plan, char *reason, size_t size) {
  enum { ONE_FRAGMENT = 16 };
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const hip_depth_tile *t = plan->kernel->variant;
  const hip_tile_kernel *kernel = &t->kernel;
  const int packs = swiglu_packs(plan, kernel);
  if (!tdm_hip_supports_depth(plan, t, reason, size) || !tdm_hip_lds_fits(plan, reason, size)) return false;
  if (kernel->tile.n / kernel->tile.waves_n == ONE_FRAGMENT && d->layout == TDM_NN) {
    snprintf(reason, size, "wg and wu are stored across k: waves with 16 columns need them stored along it, as in nt");
    return false;
  }
  for (int i = 0; i < SWIGLU_OPERANDS; i++) {
    const hip_operand x = swiglu_operand(d, i);
    if (!(packs >> i & 1 ? tdm_hip_copy_supported(&x, d->type, reason, size)
                         : tdm_hip_pipeline_loads(&x.stored, d->type, reason, size)))
      return false;
  }
  return swiglu_supports_split(plan, kernel, reason, size) && supports_general(plan, reason, size);
}

static tdm_status prepare_dwords(tdm_plan *plan) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const hip_depth_tile *t = plan->kernel->variant;
  hip_tile_kernel kernel = t->kernel;
  tdm_tuning tuning;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  tdm_hip_best_depth(plan, t, cost_of, NULL, &tuning);
  const int depth = tuning.of[TDM_TUNE_DEPTH] > 0 ? tuning.of[TDM_TUNE_DEPTH] : t->least;
  plan->tuning = tuning;
  kernel.functions += depth - t->least;
  kernel.tile = shape_of(plan, t, depth);
  TDM_TRY(tdm_hip_tile_prepare(plan, &op, &kernel, d->layout == TDM_NT ? "nt" : "nn", d->type,
                               &(hip_tile_general){plan, &general.kernel, NULL}));
  TDM_TRY(swiglu_prepare_split(plan, &kernel));
  return swiglu_prepare_pack(plan, &kernel);
}

#define ROW(row, of, parameters)               \
  {.name = row,                                \
   .op = TDM_OP_SWIGLU,                        \
   .backend = &tdm_backend_hip,                \
   .variant = &(of),                           \
   .functions = (of##_functions),              \
   .supports = supports_dwords,                \
   .prepare = prepare_dwords,                  \
   .launch = launch,                           \
   .cost = cost,                               \
   .takes = (parameters),                      \
   .fallback = {4, 7, &tdm_swiglu_hip_128x64}, \
   .matrix_units = true}

enum {
  SPLIT_PARAMETERS = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT,
  DEPTH_PARAMETERS = SPLIT_PARAMETERS | 1 << TDM_TUNE_DEPTH
};
const tdm_kernel tdm_swiglu_hip_tile_16x32 = ROW("hip_tile_16x32", tile_16x32, SPLIT_PARAMETERS);
const tdm_kernel tdm_swiglu_hip_tile_32x64 = ROW("hip_tile_32x64", tile_32x64, SPLIT_PARAMETERS);
const tdm_kernel tdm_swiglu_hip_tile_64x64 = ROW("hip_tile_64x64", tile_64x64, DEPTH_PARAMETERS);
const tdm_kernel tdm_swiglu_hip_tile_128x64 = ROW("hip_tile_128x64", tile_128x64, DEPTH_PARAMETERS);
const tdm_kernel tdm_swiglu_hip_256x128 = ROW("hip_256x128", pipe, TDM_ORDER_PARAMETERS);
