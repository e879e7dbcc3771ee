/* swiglu in f16 and bf16 on the matrix units of GPUs (mma_tile.h), for whole tiles of 128 x 64: a panel of B has 64 columns of
 * each weight, as in gpu.c. */
#include "gpu.h"
#include "offload/device/device.h"
#include "offload/engine/mma_tile.h"

TDM_INLINE void write_half(const mma_memory *memory, const swiglu_gpu_work *work, void *y, gpu_place place, int half,
                           int thread) {
  const gpu_matrix to = {y, 0, work->d.ldy, work->d.out};
  TDM_NO_UNROLL
  for (int i = 0; i < MMA_LINES; i++) {
    gpu_line line = mma_line(memory->sums, i, thread);
    swiglu_gpu_line(&line, SWIGLU_VECTORS);
    gpu_store_line(&line, &to, mma_line_at(&work->job.grid, place, half, i, thread, SWIGLU_WEIGHTS));
  }
}

TDM_INLINE void mma_body(const void *x, const void *wg, const void *wu, void *y, const swiglu_gpu_work *work,
                         mma_memory *memory, tdm_position self, tdm_type type) {
  const gpu_job *job = &work->job;
  const mma_copiers copiers = {mma_copier_of(&job->a, x, x, self.thread, 1),
                               mma_copier_of(&job->b, wg, wu, self.thread, SWIGLU_WEIGHTS)};
  const int tiles = job->grid.tiles;
  TDM_NO_UNROLL
  for (int tile = self.team; tile < tiles; tile += self.teams) {
    const swiglu_gpu_work *again = gpu_again(work);
    gpu_place place = gpu_place_at(&again->job.grid, tile, SWIGLU_WEIGHTS);
    mma_tile sums;
    mma_tile_sums(sums, memory, &copiers, &again->job, place, self.thread, SWIGLU_WEIGHTS, type);
    TDM_NO_UNROLL
    for (int half = 0; half < 2; half++) {
      mma_share_half(sums, memory->sums, half, self.thread);
      write_half(memory, again, y, place, half, self.thread);
    }
    TDM_SYNC_BLOCK(); /* nobody reads the sums any more: the next tile's panels take their place */
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  if (d->ldg != d->ldu) {
    snprintf(reason, size, "ldg and ldu must be equal");
    return false;
  }
  return mma_can_tile(plan, d->m, d->n, d->k, 1, d->ldx | d->ldg, SWIGLU_WEIGHTS, reason, size);
}

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  *cost = mma_cost(d->m, d->n, d->k, 1, SWIGLU_WEIGHTS);
}

static tdm_status prepare(tdm_plan *plan) { return swiglu_gpu_prepare_for(plan, MMA_THREADS); }

/* A region for each type: a kernel's registers are those of its largest part. */
#define REGION(type)                                                 \
  MMA_TARGET(plan->launch, x, wg, wu, y, work) {                     \
    TDM_TEAM_MEMORY(mma_memory, memory, 1);                          \
    mma_body(x, wg, wu, y, work, memory, tdm_bare_position(), type); \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *x = buffers[0], *wg = buffers[1], *wu = buffers[2];
  void *y = buffers[3];
  const swiglu_gpu_work *work = plan->table;
  if (plan->desc.swiglu.type == TDM_F16) {
    REGION(TDM_F16);
  } else {
    REGION(TDM_BF16);
  }
  return TDM_OK;
}

const tdm_kernel tdm_swiglu_omp_gpu_mma = {.name = "omp_gpu_mma",
                                           .op = TDM_OP_SWIGLU,
                                           .backend = &tdm_backend_omp,
                                           .runs_on = mma_runs_on,
                                           .supports = supports,
                                           .prepare = prepare,
                                           .launch = launch,
                                           .cost = cost,
                                           .matrix_units = true,
                                           .types = TDM_16_BIT_TYPES,
                                           .fallback = {16, 0x7, &tdm_swiglu_omp_gpu}};
