/* hip_small_k of gemm: the masked loads of hip_128x128, with all of K in LDS at once. */
#include <inttypes.h>
#include <stdio.h>

#include "args.h"
#include "gemm.h"

extern const hip_code tdm_code_gemm_small_k[];

/* Steps of GEMM_UNIT bytes along k that a kernel has in LDS: 1, 2 or 4. LDS holds two workgroups only for the shorter ones. */
enum { STEPS_1, STEPS_2, STEPS_4 };
enum { STEP_LDS = 2 * MASKED_LINES * GEMM_UNIT }; /* lines of A and B */
static const hip_functions functions[] = {
    [STEPS_1] = {.code = tdm_code_gemm_small_k, .stem = "gemm_small_k1", .waves = 2},
    [STEPS_2] = {.code = tdm_code_gemm_small_k,
                 .stem = "gemm_small_k2",
                 .waves = 2,
                 .fewer = {.lds_below = 2 * 2 * STEP_LDS, .waves = 1}},
    [STEPS_4] = {.code = tdm_code_gemm_small_k, .stem = "gemm_small_k4", .waves = 1, .least_lds = 4 * STEP_LDS},
    {.stem = NULL}};

/* As hip_128x128, but nothing waits for loads after the first ones. How many share a CU depends on K. */
static const hip_tile_kernel small_k = {functions,
                                        {.m = MASKED_LINES,
                                         .n = MASKED_LINES,
                                         .waves_m = MASKED_WAVES_M,
                                         .waves_n = MASKED_WAVES_N,
                                         .valu = HIP_MASKED_VALU,
                                         .start = HIP_MASKED_START}};

/* Which of the functions has all of K in LDS. */
static int small_k_function(const tdm_gemm_desc *d) {
  int64_t values = GEMM_UNIT / (int64_t)tdm_type_size(d->type);
  return d->k <= values ? STEPS_1 : d->k <= 2 * values ? STEPS_2 : STEPS_4;
}

/* The largest K: 128 values, which 16-bit types reach in two steps. Only f32 has functions of four, on chips whose LDS holds
 * them (gemm_small_k.hip). */
static int64_t small_k_most(const tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  int64_t steps = plan->context->hip->lds_bytes >= functions[STEPS_4].least_lds ? 4 : 2,
          values = steps * GEMM_UNIT / tdm_bytes(d->type);
  return values < 128 ? values : 128;
}

static bool supports_small_k(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  int64_t most = small_k_most(plan);
  if (d->k > most) {
    snprintf(reason, size, "k = %" PRId64 ": at most %" PRId64 " of %s fit into %s's LDS at once", d->k, most,
             tdm_type_name(d->type), plan->context->hip->chip->name);
    return false;
  }
  return gemm_supports_general(plan, reason, size);
}

static tdm_status prepare_small_k(tdm_plan *plan) {
  hip_tile_kernel kernel = small_k;
  kernel.functions += small_k_function(&plan->desc.gemm);
  return gemm_prepare(plan, &kernel, NULL, NULL);
}

static void cost_small_k(const tdm_plan *plan, tdm_cost *cost) {
  hip_tile_shape tile = small_k.tile;
  hip_tile_work work = gemm_work(plan, &tile);
  size_t lds = ((size_t)1 << small_k_function(&plan->desc.gemm)) * STEP_LDS;
  tile.resident = 2 * lds <= plan->context->hip->lds_bytes ? 2 : 1;
  /* As in hip_128x128: 16 bytes that are not at a multiple of 16. 2864x475x54 bf16 in tt on gfx942 takes 38,423 clocks. */
  tile.valu += gemm_unaligned_valu(&plan->desc.gemm);
  tdm_hip_tile_cost(plan, &tile, &work, cost);
}

const tdm_kernel tdm_gemm_hip_small_k = {.name = "hip_small_k",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_hip,
                                         .variant = &small_k,
                                         .functions = functions,
                                         .supports = supports_small_k,
                                         .prepare = prepare_small_k,
                                         .launch = gemm_launch,
                                         .cost = cost_small_k,
                                         .takes = TDM_ORDER_PARAMETERS,
                                         .matrix_units = true};
