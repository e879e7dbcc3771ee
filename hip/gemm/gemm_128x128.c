/* hip_128x128 of gemm: the masked loop (engine/masked.h), which supports everything. */
#include "gemm.h"

extern const hip_code tdm_code_gemm_128x128[];

static const hip_functions functions[] = {
    {.code = tdm_code_gemm_128x128, .stem = "gemm_128x128", .waves = 2}, GEMM_REDUCE, GEMM_PACK, {.stem = NULL}};

/* Two workgroups share a CU (WORKGROUP(256, 2)), and registers hold the loads of one K step. */
const hip_tile_kernel gemm_general = {functions,
                                      {.m = MASKED_LINES,
                                       .n = MASKED_LINES,
                                       .waves_m = MASKED_WAVES_M,
                                       .waves_n = MASKED_WAVES_N,
                                       .resident = 2,
                                       .valu = HIP_MASKED_VALU,
                                       .start = HIP_MASKED_START,
                                       .waits = true,
                                       .any_address = true}};

bool gemm_supports_general(const tdm_plan *plan, char *reason, size_t size) {
  return gemm_supports_split(plan, &gemm_general, reason, size);
}

int gemm_unaligned_valu(const tdm_gemm_desc *d) {
  const hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  return GEMM_UNALIGNED_TURNS * (!tdm_hip_rows_aligned(&a, d->type, 16) + !tdm_hip_rows_aligned(&b, d->type, 16));
}

static hip_tile_shape shape_of(const tdm_plan *plan) {
  hip_tile_shape tile = gemm_general.tile;
  tile.valu += gemm_unaligned_valu(&plan->desc.gemm);
  return tile;
}

/* In more than one round on gfx942 products of whole tiles are estimated at 0.70 to 0.90 of what they take: 4096x1536x2048 nt
 * took 165,468 clocks, and takes 117,996 by hip_tile_128x128. */
static double share_of(const tdm_plan *plan) {
  static const double OF_ROUNDS = 1.25;
  const bool half = tdm_hip_half_lines(plan->context->hip->chip);
  return half && gemm_tiles_of_cu(plan, &gemm_general.tile) > 1 ? OF_ROUNDS : 1;
}

static void cost_general(const tdm_plan *plan, tdm_cost *cost) {
  int split;
  *cost = gemm_best_split(plan, shape_of(plan), NULL, &split);
  cost->clocks *= share_of(plan);
}

static tdm_status prepare_general(tdm_plan *plan) {
  gemm_set_split(plan, shape_of(plan), NULL);
  return gemm_prepare(plan, &gemm_general, NULL, NULL);
}

const tdm_kernel tdm_gemm_hip_128x128 = {.name = "hip_128x128",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_hip,
                                         .variant = &gemm_general,
                                         .functions = functions,
                                         .supports = gemm_supports_general,
                                         .prepare = prepare_general,
                                         .launch = gemm_launch,
                                         .cost = cost_general,
                                         .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT,
                                         .matrix_units = true};
