/* swiglu on GPUs: Y = silu(X Wg) * (X Wu). A panel of B has 64 columns of each weight, so one pass over X computes both
 * products, and a thread holds both sums of its elements. Arithmetic is the limit: 4 m n k FLOP. */
#include <stdio.h>

#include "gpu.h"
#include "offload/device/device.h"

TDM_INLINE void write_tile(gpu_sums sums, const swiglu_gpu_work *work, void *y, gpu_place place, int thread) {
  gpu_matrix to = {y, 0, work->d.ldy, work->d.out};
  TDM_NO_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) {
    gpu_line_at at = gpu_line_of(&work->job.grid, place, thread, i, SWIGLU_WEIGHTS);
    gpu_line line = gpu_take_row(sums);
    swiglu_gpu_line(&line);
    if (at.columns > 0) gpu_store_line(&line, &to, at);
  }
}

TDM_INLINE void swiglu_typed(const void *x, const void *wg, const void *wu, void *y, const swiglu_gpu_work *work,
                             gpu_panels *panels, tdm_position self, tdm_type type) {
  gpu_engine engine;
  gpu_sums sums;
  bool more = gpu_begin(&engine, &work->job, x, wg, wu, panels, self, SWIGLU_WEIGHTS, type);
  while (more) {
    gpu_place place = engine.place;
    more = gpu_tile_sums(&engine, sums, SWIGLU_WEIGHTS, type);
    write_tile(sums, gpu_again(work), y, place, self.thread);
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  if (d->ldg != d->ldu) {
    snprintf(reason, size, "ldg and ldu must be equal");
    return false;
  }
  return gpu_can_tile(plan, d->m, d->n, d->k, 1, SWIGLU_WEIGHTS, GPU_THREADS, reason, size);
}

tdm_status swiglu_gpu_prepare_for(tdm_plan *plan, int threads) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  swiglu_gpu_work work = {.d = *d,
                          .job = {.grid = gpu_grid_for(plan, d->m, d->n, 1, SWIGLU_WEIGHTS, threads),
                                  .a = gpu_operand_of(0, d->ldx, d->m, true),
                                  .b = gpu_operand_of(0, d->ldg, d->n, d->layout == TDM_NT),
                                  .k = (int)d->k}};
  return tdm_plan_upload(plan, &work, sizeof work);
}

static tdm_status prepare(tdm_plan *plan) { return swiglu_gpu_prepare_for(plan, GPU_THREADS); }

/* A region for each type: a kernel's registers are those of its largest part. */
#define REGION(type)                                                     \
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, x, wg, wu, y, work) {       \
    TDM_TEAM_MEMORY(gpu_panels, panels, 2);                              \
    swiglu_typed(x, wg, wu, y, work, panels, tdm_bare_position(), type); \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *x = buffers[0], *wg = buffers[1], *wu = buffers[2];
  void *y = buffers[3];
  const swiglu_gpu_work *work = plan->table;
  switch (plan->desc.swiglu.type) {
    case TDM_F32: REGION(TDM_F32); break;
    case TDM_F16: REGION(TDM_F16); break;
    case TDM_BF16: REGION(TDM_BF16); break;
  }
  return TDM_OK;
}

const tdm_kernel tdm_swiglu_omp_gpu = {.name = "omp_gpu",
                                       .op = TDM_OP_SWIGLU,
                                       .backend = &tdm_backend_omp,
                                       .runs_on = tdm_gpus_only,
                                       .supports = supports,
                                       .prepare = prepare,
                                       .launch = launch};
