/* gemm in f16 and bf16 on the matrix units of GPUs (mma_tile.h), for whole tiles. */
#include "gpu.h"
#include "offload/device/device.h"
#include "offload/engine/mma_tile.h"

/* C is only the product, in vectors. It has its own kernel, because the code of the epilogue costs registers. */
static bool is_plain(const tdm_gemm_desc *d) {
  return d->epilogue_steps == 0 && d->alpha == 1 && d->beta == 0 && (d->ldc | d->stride_c) % 4 == 0;
}

TDM_INLINE void write_plain(const mma_memory *memory, const gpu_matrix *c, const gpu_grid *grid, gpu_place place, int half,
                            int thread, tdm_type out) {
  TDM_UNROLL
  for (int i = 0; i < MMA_LINES; i++) {
    gpu_line line = mma_line(memory->sums, i, thread);
    gpu_line_at at = mma_line_at(grid, place, half, i, thread, 1);
    int64_t to = gpu_offset(c, at.batch, at.row, at.column);
    TDM_UNROLL
    for (int j = 0; j < GPU_VECTORS; j++) gpu_store_aligned(c->base, to + gpu_column_of(j), out, line.v[j]);
  }
}

TDM_INLINE void write_half(const mma_memory *memory, const gemm_gpu_work *work, const gemm_gpu_arrays *arrays, gpu_place place,
                           int half, int thread, bool plain) {
  const gpu_matrix c = {arrays->c, work->d.stride_c, work->d.ldc, work->d.out};
  if (plain) {
    TDM_BY_TYPE(c.type, write_plain, memory, &c, &work->job.grid, place, half, thread);
    return;
  }
  TDM_NO_UNROLL
  for (int i = 0; i < MMA_LINES; i++) {
    gpu_line line = mma_line(memory->sums, i, thread);
    TDM_UNROLL
    for (int j = 0; j < GPU_VECTORS; j++) line.v[j] *= work->d.alpha;
    const gpu_line_at at = mma_line_at(&work->job.grid, place, half, i, thread, 1);
    gemm_gpu_finish_line(line, gemm_gpu_residual(work, arrays, at, GEMM_TYPED), work, arrays, &c, at, GEMM_TYPED);
  }
}

TDM_INLINE void mma_body(const gemm_gpu_arrays *arrays, const gemm_gpu_work *work, mma_memory *memory, tdm_position self,
                         bool plain, tdm_type type) {
  const gpu_job *job = &work->job;
  const mma_copiers copiers = {mma_copier_of(&job->a, arrays->a, arrays->a, self.thread, 1),
                               mma_copier_of(&job->b, arrays->b, arrays->b, self.thread, 1)};
  const int tiles = job->grid.tiles;
  TDM_NO_UNROLL
  for (int tile = self.team; tile < tiles; tile += self.teams) {
    const gemm_gpu_work *again = gpu_again(work);
    gpu_place place = gpu_place_at(&again->job.grid, tile, 1);
    mma_tile sums;
    mma_tile_sums(sums, memory, &copiers, &again->job, place, self.thread, 1, type);
    TDM_NO_UNROLL
    for (int half = 0; half < 2; half++) {
      mma_share_half(sums, memory->sums, half, self.thread);
      write_half(memory, again, arrays, place, half, self.thread, plain);
    }
    TDM_SYNC_BLOCK(); /* nobody reads the sums any more: the next tile's panels take their place */
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return mma_can_tile(plan, d->m, d->n, d->k, d->batch, d->lda | d->ldb | d->stride_a | d->stride_b, 1, reason, size);
}

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  *cost = mma_cost(d->m, d->n, d->k, d->batch, 1);
}

static tdm_status prepare(tdm_plan *plan) { return gemm_gpu_prepare_for(plan, MMA_THREADS); }

/* A region for each type, and one for plain products: a kernel's registers are those of its largest part. */
#define REGION(plain, type)                                            \
  MMA_TARGET(plan->launch, a, b, c, bias, residual, work) {            \
    TDM_TEAM_MEMORY(mma_memory, memory, 1);                            \
    gemm_gpu_arrays arrays = {a, b, c, bias, residual};                \
    mma_body(&arrays, work, memory, tdm_bare_position(), plain, type); \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *a = buffers[0], *b = buffers[1], *bias = buffers[3], *residual = buffers[4];
  void *c = buffers[2];
  const gemm_gpu_work *work = plan->table;
  bool plain = is_plain(&plan->desc.gemm);
  if (plan->desc.gemm.type == TDM_F16) {
    if (plain) {
      REGION(true, TDM_F16);
    } else {
      REGION(false, TDM_F16);
    }
  } else {
    if (plain) {
      REGION(true, TDM_BF16);
    } else {
      REGION(false, TDM_BF16);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_gpu_mma = {.name = "omp_gpu_mma",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_omp,
                                         .runs_on = mma_runs_on,
                                         .supports = supports,
                                         .prepare = prepare,
                                         .launch = launch,
                                         .cost = cost,
                                         .matrix_units = true,
                                         .types = TDM_16_BIT_TYPES,
                                         .fallback = {16, 0x7, &tdm_gemm_omp_gpu}};
