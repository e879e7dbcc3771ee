/* swiglu in f16 and bf16 on Hopper's matrix units (wgmma_plan.h): every size, layout, leading dimension and alignment. The
 * kernels are those of wgmma_kernels.c. */
#include "offload/device/device.h"
#include "offload/engine/wgmma_plan.h"
#include "src/base/types.h"

extern const wg_image tdm_wg_swiglu_image[];
static const int columns[] = {TDM_WGMMA_SWIGLU};

static wg_problem problem_of(const tdm_plan *plan) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  return (wg_problem){
      .a = {.lines = d->m, .ld = d->ldx, .by_k = true},
      .b = {{.lines = d->n, .ld = d->ldg, .by_k = d->layout == TDM_NT},
            {.lines = d->n, .ld = d->ldu, .by_k = d->layout == TDM_NT}},
      .k = d->k,
      .batch = 1,
      .weights = 2,
      .type = d->type,
      .out = d->out,
      .ld_out = d->ldy,
      .short_way = true,
  };
}

static const wg_kernels kernels = {"swiglu", problem_of, columns, sizeof columns / sizeof columns[0], tdm_wg_swiglu_image};

static tdm_status prepare(tdm_plan *plan) {
  const wg_output output = {.ldc = plan->desc.swiglu.ldy, .alpha = 1, .ahead = WG_NOTHING};
  return wg_prepare(plan, &output);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  return wg_launch(plan, buffers[0], (const void *[]){buffers[1], buffers[2]}, buffers[3], NULL, NULL);
}

const tdm_kernel tdm_swiglu_omp_gpu_wgmma = {.name = "omp_gpu_wgmma",
                                             .op = TDM_OP_SWIGLU,
                                             .backend = &tdm_backend_omp,
                                             .variant = &kernels,
                                             .runs_on = wg_runs_on,
                                             .supports = wg_supports,
                                             .prepare = prepare,
                                             .launch = launch,
                                             .cost = wg_cost,
                                             .matrix_units = true,
                                             .types = TDM_16_BIT_TYPES};
