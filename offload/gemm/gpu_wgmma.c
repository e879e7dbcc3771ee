/* gemm in f16 and bf16 on Hopper's matrix units (wgmma_plan.h): every size, layout, leading dimension and alignment. The
 * kernels are those of wgmma_kernels.c. */
#include <stdlib.h>

#include "offload/device/device.h"
#include "offload/engine/wgmma_plan.h"
#include "src/base/types.h"

extern const wg_image tdm_wg_gemm_image[];
static const int columns[] = {TDM_WGMMA_GEMM};

static int residuals(const tdm_gemm_desc *d) {
  int count = 0;
  for (int64_t s = 0; s < d->epilogue_steps; s++) count += d->epilogue[s].op == TDM_RESIDUAL;
  return count;
}

/* Steps that cost more than an instruction or two for each element. */
static int maps(const tdm_gemm_desc *d) {
  int count = 0;
  for (int64_t s = 0; s < d->epilogue_steps; s++) {
    const tdm_epilogue_op op = d->epilogue[s].op;
    count += op == TDM_GELU || op == TDM_GELU_TANH || op == TDM_QUICK_GELU || op == TDM_SILU;
  }
  return count;
}

static wg_problem problem_of(const tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return (wg_problem){
      .a = {d->m, d->lda, d->stride_a, d->layout == TDM_NN || d->layout == TDM_NT, d->broadcast_a},
      .b = {{d->n, d->ldb, d->stride_b, d->layout == TDM_NT || d->layout == TDM_TT, d->broadcast_b}},
      .k = d->k,
      .batch = d->batch,
      .weights = 1,
      .type = d->type,
      .out = d->out,
      .ld_out = d->ldc | d->stride_c | d->ldr | d->stride_r,
      .maps = maps(d),
      .added = residuals(d) + (d->beta != 0),
      .short_way = d->beta == 0 || residuals(d) == 0,
  };
}

static const wg_kernels kernels = {"gemm", problem_of, columns, sizeof columns / sizeof columns[0], tdm_wg_gemm_image};

static tdm_status prepare(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int old_c = d->beta != 0, steps = (int)d->epilogue_steps + old_c;
  const size_t bytes = (size_t)(steps > 0 ? steps : 1) * sizeof(epilogue_step);
  epilogue_step *step = malloc(bytes);
  if (step == NULL) return tdm_fail(TDM_ERROR_MEMORY, "gemm: no memory for a plan's %zu bytes", bytes);
  if (old_c) step[0] = (epilogue_step){EPILOGUE_OLD_C, d->beta, 0};
  epilogue_steps_of(d, step + old_c);
  const int added = residuals(d) > 0 ? WG_RESIDUAL : WG_NOTHING;
  const wg_output output = {.ldc = d->ldc,
                            .stride_c = d->stride_c,
                            .ldr = d->ldr,
                            .stride_r = d->stride_r,
                            .alpha = d->alpha,
                            .step = step,
                            .steps = steps,
                            .ahead = old_c ? WG_OLD : added};
  tdm_status status = wg_prepare(plan, &output);
  free(step);
  return status;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  return wg_launch(plan, buffers[0], (const void *[]){buffers[1], NULL}, buffers[2], buffers[3], buffers[4]);
}

const tdm_kernel tdm_gemm_omp_gpu_wgmma = {.name = "omp_gpu_wgmma",
                                           .op = TDM_OP_GEMM,
                                           .backend = &tdm_backend_omp,
                                           .variant = &kernels,
                                           .runs_on = wg_runs_on,
                                           .supports = wg_supports,
                                           .prepare = prepare,
                                           .launch = launch,
                                           .cost = wg_cost,
                                           .matrix_units = true,
                                           .types = TDM_16_BIT_TYPES};
