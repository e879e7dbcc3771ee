/* swiglu in f16 and bf16 on Hopper's matrix units (wgmma_plan.h): every size, layout, leading dimension and alignment. The
 * kernels are those of wgmma_kernels.c. */
#include "offload/device/device.h"
#include "offload/engine/wgmma_plan.h"
#include "src/base/types.h"

extern const wg_image tdm_wg_swiglu_image[];
static const int columns[] = {TDM_WGMMA_SWIGLU};
static const wg_kernels kernels = {"swiglu", columns, sizeof columns / sizeof columns[0], tdm_wg_swiglu_image};

static wg_problem problem_of(const tdm_swiglu_desc *d) {
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

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const wg_problem problem = problem_of(&plan->desc.swiglu);
  return wg_supports(plan, &problem, reason, size);
}

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const wg_problem problem = problem_of(&plan->desc.swiglu);
  wg_cost(plan, &problem, &kernels, cost);
}

static tdm_status prepare(tdm_plan *plan) {
  const wg_problem problem = problem_of(&plan->desc.swiglu);
  const wg_output output = {.ldc = plan->desc.swiglu.ldy, .alpha = 1, .ahead = WG_NOTHING};
  return wg_prepare(plan, &problem, &output, &kernels);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  return wg_launch(plan, buffers[0], (const void *[]){buffers[1], buffers[2]}, buffers[3], NULL, NULL);
}

const tdm_kernel tdm_swiglu_omp_gpu_wgmma = {.name = "omp_gpu_wgmma",
                                             .op = TDM_OP_SWIGLU,
                                             .backend = &tdm_backend_omp,
                                             .runs_on = wg_runs_on,
                                             .supports = supports,
                                             .prepare = prepare,
                                             .launch = launch,
                                             .cost = cost,
                                             .matrix_units = true,
                                             .types = TDM_16_BIT_TYPES};
