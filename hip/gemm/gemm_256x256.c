/* hip_256x256 of gemm, the pipeline (engine/pipeline.h), for what can be loaded in dwords. */
#include <stdio.h>

#include "gemm.h"

extern const hip_code tdm_code_gemm_256x256[];

#define PIPE_TILE {.m = PIPE_LINES, .n = PIPE_LINES, .waves_m = PIPE_WAVES_M, .waves_n = PIPE_WAVES_N, .overlapped = true}
static const hip_functions pipe_functions[] = {
    {.code = tdm_code_gemm_256x256, .stem = "gemm_256x256", .waves = 2, .lds = HIP_PIPE_LDS}, {.stem = NULL}};
static const hip_functions mfma32_functions[] = {
    {.code = tdm_code_gemm_256x256, .stem = "gemm_256x256_mfma32", .waves = 2, .lds = HIP_PIPE_LDS}, {.stem = NULL}};
static const hip_tile_kernel pipe = {pipe_functions, PIPE_TILE}, pipe_mfma32 = {mfma32_functions, PIPE_TILE};

static bool supports_pipe(const tdm_plan *plan, char *reason, size_t size) {
  return tdm_hip_lds_fits(plan, reason, size) && gemm_supports_dwords(plan, plan->kernel->variant, reason, size);
}

static tdm_status prepare_pipe(tdm_plan *plan) {
  const hip_tile_kernel *kernel = plan->kernel->variant;
  gemm_set_split(plan, kernel->tile, NULL);
  return gemm_prepare_dwords(plan, kernel, tdm_layout_names[plan->desc.gemm.layout]);
}

const tdm_kernel tdm_gemm_hip_256x256 = {.name = "hip_256x256",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_hip,
                                         .variant = &pipe,
                                         .functions = pipe_functions,
                                         .supports = supports_pipe,
                                         .prepare = prepare_pipe,
                                         .launch = gemm_launch,
                                         .cost = gemm_cost_split,
                                         .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT,
                                         .fallback = {4, 3, &tdm_gemm_hip_128x128},
                                         .matrix_units = true};

/* The same with instructions of 32 x 32 results: equally many clocks, half as many instructions. Its estimate is that of
 * hip_256x256, which comes later in the table and so wins the tie. This row runs only if a caller or a tuned table names it. */
const tdm_kernel tdm_gemm_hip_256x256_mfma32 = {.name = "hip_256x256_mfma32",
                                                .op = TDM_OP_GEMM,
                                                .backend = &tdm_backend_hip,
                                                .variant = &pipe_mfma32,
                                                .functions = mfma32_functions,
                                                .types = TDM_16_BIT_TYPES,
                                                .supports = supports_pipe,
                                                .prepare = prepare_pipe,
                                                .launch = gemm_launch,
                                                .cost = gemm_cost_split,
                                                .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT,
                                                .fallback = {4, 3, &tdm_gemm_hip_128x128},
                                                .matrix_units = true};
