/* swiglu on HIP: hip_128x64 for everything, hip_256x128 for what the pipeline can load. */
#include <string.h>

#include "args.h"
#include "swiglu.h"

extern const hip_code tdm_code_swiglu_128x64[], tdm_code_swiglu_256x128[];

static unsigned make_args(const tdm_plan *plan, const hip_tile_kernel *kernel, void *made) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const int packs = swiglu_packs(plan, kernel);
  int64_t ld[SWIGLU_OPERANDS];
  bool aligned[SWIGLU_OPERANDS];
  for (int i = 0; i < SWIGLU_OPERANDS; i++) {
    const hip_operand of = swiglu_operand(d, i);
    const bool packed = packs >> i & 1;
    ld[i] = packed ? tdm_hip_whole_rows(of.stored.columns) : of.stored.ld;
    aligned[i] = packed || tdm_hip_rows_aligned(&of.stored, d->type, 16);
  }
  const hip_stored y = {.ld = d->ldy};
  swiglu_args args = {.m = d->m,
                      .n = d->n,
                      .k = swiglu_packed_k(plan, kernel),
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
                      .packed = packs};
  args.order = tdm_hip_tiles(plan, d->m, d->n, 1, kernel->tile.m, kernel->tile.n);
  memcpy(made, &args, sizeof args);
  return args.order.count;
}

static void set_pointers(const tdm_plan *plan, void *const *buffers, void *made) {
  swiglu_args *args = made;
  const void *at[SWIGLU_OPERANDS];
  for (int i = 0; i < SWIGLU_OPERANDS; i++)
    at[i] = args->packed >> i & 1 ? swiglu_copy_at(plan, plan->kernel->variant, i) : buffers[i];
  args->x = at[0];
  args->wg = at[1];
  args->wu = at[2];
  args->y = buffers[3];
  args->aligned_x = args->aligned_x && tdm_hip_at(args->x, 16);
  args->aligned_g = args->aligned_g && tdm_hip_at(args->wg, 16);
  args->aligned_u = args->aligned_u && tdm_hip_at(args->wu, 16);
  args->aligned_fours = args->aligned_fours && tdm_hip_at(args->y, 4 * (int)tdm_type_size(plan->desc.swiglu.out));
}

static const hip_functions general_functions[] = {
    {.code = tdm_code_swiglu_128x64, .stem = "swiglu_128x64", .waves = 2}, SWIGLU_PACK, {.stem = NULL}};
static const hip_functions pipe_functions[] = {{.code = tdm_code_swiglu_256x128, .stem = "swiglu_256x128", .waves = 2},
                                               {.stem = NULL}};

/* Two workgroups share a CU (WORKGROUP(256, 2)), and registers hold the loads of one K step. */
static const hip_tile_kernel general = {general_functions,
                                        {.m = MASKED_LINES,
                                         .n = MASKED_LINES / 2,
                                         .waves_m = MASKED_WAVES_M,
                                         .waves_n = MASKED_WAVES_N,
                                         .products = 2,
                                         .resident = 2,
                                         .valu = HIP_MASKED_VALU,
                                         .start = HIP_MASKED_START,
                                         .waits = true,
                                         .any_address = true}};
static const hip_tile_kernel pipe = {pipe_functions,
                                     {.m = PIPE_LINES,
                                      .n = PIPE_LINES / 2,
                                      .waves_m = PIPE_WAVES_M,
                                      .waves_n = PIPE_WAVES_N,
                                      .products = 2,
                                      .overlapped = true}};

static const hip_tile_op op = {sizeof(swiglu_args), make_args, set_pointers, swiglu_borrowed_bytes, swiglu_pack_pointers};
_Static_assert(sizeof(swiglu_args) <= HIP_TILE_ARGS, "it fits the plan");

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  return tdm_hip_tile_launch(plan, &op, buffers, stream);
}

/* By gfxsim's predictions of bf16 on gfx950: an element of the output takes 0.53 clocks of a CU more than one of a product
 * (512x512x512 with either kernel). A step of hip_128x64 takes 3424 clocks for 16 rows, and 2064 for whole tiles, which have
 * nothing to mask. */
static const double SWISH = 0.53;
enum { WHOLE_VALU = 1 };
/* 16 bytes that are not at a multiple of 16 take a branch of hip_128x64 for each operand, in which each load is waited for.
 * Predicted for 23x3018x2767 bf16 on gfx950, all three operands so: nt 372,493 clocks,
 * nn 411,270. The loads before the first step take as long. */
enum { UNALIGNED_TURNS = 1800 };

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const hip_tile_kernel *kernel = plan->kernel->variant;
  hip_tile_shape tile = kernel->tile;
  hip_tile_work work = {.m = d->m, .n = d->n, .k = d->k, .batch = 1, .type = d->type, .out = d->out, .store = SWISH};
  bool whole = d->m % tile.m == 0 && d->n % tile.n == 0;
  if (tile.valu > 0 && whole) tile.valu = WHOLE_VALU;
  if (!tile.any_address) {
    work.again_a = swiglu_loads_again(plan, kernel, 0);
    work.again_b = (swiglu_loads_again(plan, kernel, 1) + swiglu_loads_again(plan, kernel, 2)) / 2;
  }
  for (int i = 0; i < SWIGLU_OPERANDS && tile.any_address; i++) {
    const hip_operand x = swiglu_operand(d, i);
    if (!tdm_hip_rows_aligned(&x.stored, d->type, 16)) tile.valu += UNALIGNED_TURNS, tile.start += UNALIGNED_TURNS;
  }
  tdm_hip_tile_cost(plan, &tile, &work, cost);
  cost->clocks += swiglu_pack_clocks(plan, kernel);
}

/* ---- hip_128x64 ---- */

static bool supports_general(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  return tdm_hip_tiles_fit(d->m, d->n, 1, general.tile.m, general.tile.n, reason, size);
}

static tdm_status prepare_general(tdm_plan *plan) {
  return tdm_hip_tile_prepare(plan, &op, &general, NULL, plan->desc.swiglu.type);
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

/* ---- hip_256x128 ---- */

static bool supports_pipe(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const int packs = swiglu_packs(plan, &pipe);
  for (int i = 0; i < SWIGLU_OPERANDS; i++) {
    const hip_operand x = swiglu_operand(d, i);
    if (!(packs >> i & 1 ? tdm_hip_copy_supported(&x, d->type, reason, size)
                         : tdm_hip_pipeline_loads(&x.stored, d->type, reason, size)))
      return false;
  }
  return supports_general(plan, reason, size);
}

static tdm_status prepare_pipe(tdm_plan *plan) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  TDM_TRY(tdm_hip_tile_prepare(plan, &op, &pipe, d->layout == TDM_NT ? "nt" : "nn", d->type));
  return swiglu_prepare_pack(plan, &pipe);
}

const tdm_kernel tdm_swiglu_hip_256x128 = {.name = "hip_256x128",
                                           .op = TDM_OP_SWIGLU,
                                           .backend = &tdm_backend_hip,
                                           .variant = &pipe,
                                           .functions = pipe_functions,
                                           .supports = supports_pipe,
                                           .prepare = prepare_pipe,
                                           .launch = launch,
                                           .cost = cost,
                                           .takes = TDM_ORDER_PARAMETERS,
                                           .fallback = {4, 7, &tdm_swiglu_hip_128x64},
                                           .matrix_units = true};
