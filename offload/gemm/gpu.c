/* gemm on GPUs: sums in registers, panels in team memory (gpu_tile.h). Arithmetic is the limit: 2 m n k FLOP. */
#include <stdlib.h>

#include "gpu.h"
#include "offload/device/device.h"

/* What follows the product: nothing, a residual, any epilogue. */
typedef enum gemm_gpu_end { PLAIN, SUM, CHAIN } gemm_gpu_end;

TDM_INLINE void gemm_typed(const gemm_gpu_arrays *arrays, const gemm_gpu_work *work, gpu_panels *panels, tdm_position self,
                           gemm_gpu_end end, tdm_type type) {
  gpu_engine engine;
  gpu_sums sums;
  bool more = gpu_begin(&engine, &work->job, arrays->a, arrays->b, arrays->b, panels, self, 1, type);
  while (more) {
    gpu_place place = engine.place;
    more = gpu_tile_sums(&engine, sums, 1, type);
    switch (end) {
      case PLAIN: gemm_gpu_write_plain(sums, gpu_again(work), arrays, place, self.thread); break;
      case SUM: gemm_gpu_write_sum(sums, gpu_again(work), arrays, place, self.thread); break;
      case CHAIN: gemm_gpu_write(sums, gpu_again(work), arrays, place, self.thread); break;
    }
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return gpu_can_tile(plan, d->m, d->n, d->k, d->batch, 1, GPU_THREADS, reason, size);
}

tdm_status gemm_gpu_prepare_for(tdm_plan *plan, int threads) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  size_t bytes = sizeof(gemm_gpu_work) + (size_t)d->epilogue_steps * sizeof(gemm_gpu_step);
  gemm_gpu_work *work = malloc(bytes);
  if (work == NULL) return tdm_fail(TDM_ERROR_MEMORY, "gemm: no memory for a plan's %zu bytes", bytes);
  bool a_by_k = d->layout == TDM_NN || d->layout == TDM_NT, b_by_k = d->layout == TDM_NT || d->layout == TDM_TT;
  *work = (gemm_gpu_work){.d = *d, .steps = (int)d->epilogue_steps};
  work->job = (gpu_job){.grid = gpu_grid_for(plan, d->m, d->n, d->batch, 1, threads),
                        .a = gpu_operand_of(d->stride_a, d->lda, d->m, a_by_k),
                        .b = gpu_operand_of(d->stride_b, d->ldb, d->n, b_by_k),
                        .k = (int)d->k};
  for (int s = 0; s < work->steps; s++)
    work->step[s] = (gemm_gpu_step){d->epilogue[s].op, d->epilogue[s].value, 1.0 / d->epilogue[s].value};
  tdm_status status = tdm_plan_upload(plan, work, bytes);
  free(work);
  return status;
}

tdm_status gemm_gpu_prepare(tdm_plan *plan) { return gemm_gpu_prepare_for(plan, GPU_THREADS); }

/* A region for each type, and for f32 also for each kind of what follows the product: a kernel's registers are those of its
 * largest part. */
#define REGION(end, type)                                                     \
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, a, b, c, bias, residual, work) { \
    TDM_TEAM_MEMORY(gpu_panels, panels, 2);                                   \
    gemm_gpu_arrays arrays = {a, b, c, bias, residual};                       \
    gemm_typed(&arrays, work, panels, tdm_bare_position(), end, type);        \
  }

/* A plan's description no longer has the steps, because they were the caller's. One step with a residual adds it. */
static gemm_gpu_end end_of(const tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (gemm_gpu_is_plain(d)) return PLAIN;
  return gemm_gpu_is_product(d) && d->epilogue_steps == 1 && plan->buffers[4].used ? SUM : CHAIN;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *a = buffers[0], *b = buffers[1], *bias = buffers[3], *residual = buffers[4];
  void *c = buffers[2];
  const gemm_gpu_work *work = plan->table;
  gemm_gpu_end end = end_of(plan);
  switch (plan->desc.gemm.type) {
    case TDM_F32:
      if (end == PLAIN) {
        REGION(PLAIN, TDM_F32);
      } else if (end == SUM) {
        REGION(SUM, TDM_F32);
      } else {
        REGION(CHAIN, TDM_F32);
      }
      break;
    case TDM_F16: REGION(CHAIN, TDM_F16); break;
    case TDM_BF16: REGION(CHAIN, TDM_BF16); break;
  }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_gpu = {.name = "omp_gpu",
                                     .op = TDM_OP_GEMM,
                                     .backend = &tdm_backend_omp,
                                     .runs_on = tdm_gpus_only,
                                     .supports = supports,
                                     .prepare = gemm_gpu_prepare,
                                     .launch = launch};
