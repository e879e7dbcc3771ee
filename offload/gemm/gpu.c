/* gemm on GPUs: sums in registers, panels in team memory (gpu_tile.h). Arithmetic is the limit: 2 m n k FLOP. */
#include <stdlib.h>

#include "gpu.h"
#include "offload/device/device.h"

TDM_INLINE void gemm_typed(const gemm_gpu_arrays *arrays, const gemm_gpu_work *work, gpu_panels *panels, tdm_position self,
                           gemm_gpu_end end, tdm_type type) {
  gpu_engine engine;
  gpu_sums sums;
  bool more = gpu_begin(&engine, &work->job, arrays->a, arrays->b, arrays->b, panels, self, 1, type);
  while (more) {
    gpu_place place = engine.place;
    more = gpu_tile_sums(&engine, sums, 1, type);
    switch (end) {
      case GEMM_PLAIN: gemm_gpu_write_plain(sums, gpu_again(work), arrays, place, self.thread); break;
      case GEMM_SUM: gemm_gpu_write_sum(sums, gpu_again(work), arrays, place, self.thread); break;
      case GEMM_CHAIN:
      case GEMM_TYPED:
        gemm_gpu_write(sums, gpu_again(work), arrays, place, self.thread, end);
        gpu_read_first(&engine); /* again: the registers are needed by the epilogue */
        break;
    }
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return gpu_can_tile(plan, d->m, d->n, d->k, d->batch, 1, GPU_THREADS, reason, size);
}

/* How f32 is multiplied on NVIDIA's GPUs; the estimate of other types and GPUs is that of the same tiles. split: parts of a
 * tile, or 0 if that is open. */
static gpu_choice choose(const tdm_plan *plan, int split, bool whole) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const bool a_by_k = d->layout == TDM_NN || d->layout == TDM_NT, b_by_k = d->layout == TDM_NT || d->layout == TDM_TT;
  const double m = (double)d->m, n = (double)d->n, k = (double)d->k, in = tdm_bytes(d->type), out = tdm_bytes(d->out);
  const double arrays = 1 + (d->beta != 0) + plan->buffers[4].used;
  const gpu_product x = {.m = d->m,
                         .n = d->n,
                         .k = d->k,
                         .batch = d->batch,
                         .weights = 1,
                         .staged = TDM_STAGED && d->type == TDM_F32,
                         .whole = whole && (d->lda | d->ldb | d->stride_a | d->stride_b) % 4 == 0,
                         .chain = !gemm_gpu_is_plain(d),
                         .line_a = a_by_k ? d->lda : 0,
                         .line_b = b_by_k ? d->ldb : 0,
                         .bytes = (double)d->batch * (in * (m * k + k * n) + m * n * out * arrays)};
  return gpu_choose(&x, split);
}

/* Uploads a gemm_gpu_work. threads: of a launch of the engine of whole tiles; 0: only the staged engine is launched. */
static tdm_status upload(tdm_plan *plan, int threads, const gpu_choice *choice) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const size_t steps = sizeof(gemm_gpu_work) + (size_t)d->epilogue_steps * sizeof(epilogue_step);
  const size_t bytes = steps + gpu_counter_bytes(choice);
  gemm_gpu_work *work = calloc(1, bytes);
  if (work == NULL) return tdm_fail(TDM_ERROR_MEMORY, "gemm: no memory for a plan's %zu bytes", bytes);
  bool a_by_k = d->layout == TDM_NN || d->layout == TDM_NT, b_by_k = d->layout == TDM_NT || d->layout == TDM_TT;
  const gpu_operand a = gpu_operand_of(d->stride_a, d->lda, d->m, a_by_k),
                    b = gpu_operand_of(d->stride_b, d->ldb, d->n, b_by_k);
  work->d = *d;
  work->steps = (int)d->epilogue_steps;
  work->residual = plan->buffers[4].used;
  work->staged = (gpu_staged_job){
      .grid = choice->grid, .a = a, .b = {b}, .schedule = choice->schedule, .k = (int)d->k, .counters = (int)steps};
  if (threads != 0)
    work->job = (gpu_job){.grid = gpu_grid_for(plan, d->m, d->n, d->batch, 1, threads), .a = a, .b = b, .k = (int)d->k};
  epilogue_steps_of(d, work->step);
  tdm_status status = tdm_plan_upload(plan, work, bytes);
  free(work);
  return status;
}

tdm_status gemm_gpu_prepare_for(tdm_plan *plan, int threads) {
  const gpu_choice choice = choose(plan, 1, false); /* the row's plan has no workspace */
  gpu_launch_choice(plan, &choice);
  return upload(plan, threads, &choice);
}

static tdm_status prepare(tdm_plan *plan) {
  const gpu_choice choice = choose(plan, plan->tuning.of[TDM_TUNE_SPLIT], true);
  gpu_launch_choice(plan, &choice);
  return upload(plan, choice.kind == TILE_WHOLE ? GPU_THREADS : 0, &choice);
}

/* A region for each type, and for f32 also for each kind of what follows the product: a kernel's registers are those of its
 * largest part. */
#define REGION(end, type)                                                     \
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, a, b, c, bias, residual, work) { \
    TDM_TEAM_MEMORY(gpu_panels, panels, 2);                                   \
    gemm_gpu_arrays arrays = {a, b, c, bias, residual};                       \
    gemm_typed(&arrays, work, panels, tdm_bare_position(), end, type);        \
  }

#if TDM_STAGED
#define STAGED_REGION(end, kind)                                                     \
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, a, b, c, bias, residual, parts, work) { \
    TDM_TEAM_MEMORY(float, memory, GPU_KIND_FLOATS(kind));                           \
    gemm_gpu_arrays arrays = {a, b, c, bias, residual};                              \
    gemm_staged(&arrays, parts, work, memory, tdm_bare_position(), end, kind);       \
  }
#define PLAIN_REGION(kind) STAGED_REGION(GEMM_PLAIN, kind)
#define CHAIN_REGION(kind) STAGED_REGION(GEMM_CHAIN, kind)
#define TYPED_REGION(kind) STAGED_REGION(GEMM_TYPED, kind)

static void launch_staged(const tdm_plan *plan, void *const *buffers, gemm_gpu_end end) {
  const void *a = buffers[0], *b = buffers[1], *bias = buffers[3], *residual = buffers[4];
  void *c = buffers[2], *parts = plan->workspace;
  const gemm_gpu_work *work = plan->table;
  if (end == GEMM_PLAIN) {
    GPU_KIND_LAUNCH(plan->region, PLAIN_REGION);
  } else if (end == GEMM_TYPED) {
    GPU_KIND_LAUNCH(plan->region, TYPED_REGION);
  } else {
    GPU_KIND_LAUNCH(plan->region, CHAIN_REGION);
  }
}
#else
static void launch_staged(const tdm_plan *plan, void *const *buffers, gemm_gpu_end end) {
  (void)plan, (void)buffers, (void)end;
}
#endif

/* A plan's description no longer has the steps, because they were the caller's. One step with a residual adds it. */
static gemm_gpu_end end_of(const tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (d->type != TDM_F32 || d->out != TDM_F32) return GEMM_TYPED;
  if (gemm_gpu_is_plain(d)) return GEMM_PLAIN;
  return gemm_gpu_is_product(d) && d->epilogue_steps == 1 && plan->buffers[4].used ? GEMM_SUM : GEMM_CHAIN;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *a = buffers[0], *b = buffers[1], *bias = buffers[3], *residual = buffers[4];
  void *c = buffers[2];
  const gemm_gpu_work *work = plan->table;
  const gemm_gpu_end end = end_of(plan);
  switch (plan->desc.gemm.type) {
    case TDM_F32:
      if (plan->region != TILE_WHOLE) {
        launch_staged(plan, buffers, end);
      } else if (end == GEMM_PLAIN) {
        REGION(GEMM_PLAIN, TDM_F32);
      } else if (end == GEMM_SUM) {
        REGION(GEMM_SUM, TDM_F32);
      } else if (end == GEMM_CHAIN) {
        REGION(GEMM_CHAIN, TDM_F32);
      } else {
        REGION(GEMM_TYPED, TDM_F32);
      }
      break;
    case TDM_F16: REGION(GEMM_TYPED, TDM_F16); break;
    case TDM_BF16: REGION(GEMM_TYPED, TDM_BF16); break;
  }
  return TDM_OK;
}

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  *cost = (tdm_cost){choose(plan, plan->tuning.of[TDM_TUNE_SPLIT], true).clocks, "products"};
}

const tdm_kernel tdm_gemm_omp_gpu = {.name = "omp_gpu",
                                     .op = TDM_OP_GEMM,
                                     .backend = &tdm_backend_omp,
                                     .runs_on = tdm_gpus_only,
                                     .supports = supports,
                                     .prepare = prepare,
                                     .launch = launch,
                                     .cost = cost,
                                     .takes = 1 << TDM_TUNE_SPLIT};
