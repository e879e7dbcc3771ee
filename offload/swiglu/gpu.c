/* swiglu on GPUs: Y = silu(X Wg) * (X Wu). A panel of B has 64 columns of each weight, so one pass over X computes both
 * products, and a thread holds both sums of its elements. Arithmetic is the limit: 4 m n k FLOP. */
#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"
#include "offload/device/device.h"

TDM_INLINE void write_tile(gpu_sums sums, const swiglu_gpu_work *work, void *y, gpu_place place, int thread) {
  gpu_matrix to = {y, 0, work->d.ldy, work->d.out};
  TDM_NO_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) {
    gpu_line_at at = gpu_line_of(&work->job.grid, place, thread, i, SWIGLU_WEIGHTS);
    gpu_line line = gpu_take_row(sums);
    swiglu_gpu_line(&line, SWIGLU_VECTORS);
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

/* Does the staged engine multiply the type? The other one reads both weights by one pointer, so their lines must be equally far
 * apart. */
static bool is_staged(const tdm_swiglu_desc *d) { return TDM_STAGED && d->type == TDM_F32; }

/* How f32 is multiplied on NVIDIA's GPUs; the estimate of other types and GPUs is that of the same tiles. split: parts of a
 * tile, or 0 if that is open. */
static gpu_choice choose(const tdm_plan *plan, int split) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const double m = (double)d->m, n = (double)d->n, k = (double)d->k, in = tdm_bytes(d->type);
  const gpu_product x = {.m = d->m,
                         .n = d->n,
                         .k = d->k,
                         .batch = 1,
                         .weights = SWIGLU_WEIGHTS,
                         .staged = is_staged(d),
                         .whole = d->ldg == d->ldu && (d->ldx | d->ldg) % 4 == 0,
                         .line_a = d->ldx,
                         .line_b = d->layout == TDM_NT ? tdm_max(d->ldg, d->ldu) : 0,
                         .bytes = in * (m * k + 2 * k * n) + m * n * tdm_bytes(d->out)};
  return gpu_choose(&x, split);
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  if (d->ldg != d->ldu && (!is_staged(d) || choose(plan, 1).kind == TILE_WHOLE)) { /* lines may be too far apart to be staged */
    snprintf(reason, size, "ldg and ldu must be equal");
    return false;
  }
  return gpu_can_tile(plan, d->m, d->n, d->k, 1, SWIGLU_WEIGHTS, GPU_THREADS, reason, size);
}

/* Uploads a swiglu_gpu_work. threads: of a launch of the engine of whole tiles; 0: only the staged engine is launched. */
static tdm_status upload(tdm_plan *plan, int threads, const gpu_choice *choice) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const size_t bytes = sizeof(swiglu_gpu_work) + gpu_counter_bytes(choice);
  swiglu_gpu_work *work = calloc(1, bytes);
  if (work == NULL) return tdm_fail(TDM_ERROR_MEMORY, "swiglu: no memory for a plan's %zu bytes", bytes);
  const bool by_k = d->layout == TDM_NT;
  const gpu_operand a = gpu_operand_of(0, d->ldx, d->m, true), b = gpu_operand_of(0, d->ldg, d->n, by_k);
  work->d = *d;
  work->staged = (gpu_staged_job){.grid = choice->grid,
                                  .a = a,
                                  .b = {b, gpu_operand_of(0, d->ldu, d->n, by_k)},
                                  .schedule = choice->schedule,
                                  .k = (int)d->k,
                                  .counters = (int)sizeof *work};
  if (threads != 0)
    work->job = (gpu_job){.grid = gpu_grid_for(plan, d->m, d->n, 1, SWIGLU_WEIGHTS, threads), .a = a, .b = b, .k = (int)d->k};
  tdm_status status = tdm_plan_upload(plan, work, bytes);
  free(work);
  return status;
}

tdm_status swiglu_gpu_prepare_for(tdm_plan *plan, int threads) {
  const gpu_choice choice = choose(plan, 1); /* the row's plan has no workspace */
  gpu_launch_choice(plan, &choice);
  return upload(plan, threads, &choice);
}

static tdm_status prepare(tdm_plan *plan) {
  const gpu_choice choice = choose(plan, plan->tuning.of[TDM_TUNE_SPLIT]);
  gpu_launch_choice(plan, &choice);
  return upload(plan, choice.kind == TILE_WHOLE ? GPU_THREADS : 0, &choice);
}

/* A region for each type: a kernel's registers are those of its largest part. */
#define REGION(type)                                                     \
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, x, wg, wu, y, work) {       \
    TDM_TEAM_MEMORY(gpu_panels, panels, 2);                              \
    swiglu_typed(x, wg, wu, y, work, panels, tdm_bare_position(), type); \
  }

#if TDM_STAGED
#define STAGED_REGION(kind)                                                      \
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, x, wg, wu, y, parts, work) {        \
    TDM_TEAM_MEMORY(float, memory, GPU_KIND_FLOATS(kind));                       \
    swiglu_staged(x, wg, wu, y, parts, work, memory, tdm_bare_position(), kind); \
  }

static void launch_staged(const tdm_plan *plan, void *const *buffers) {
  const void *x = buffers[0], *wg = buffers[1], *wu = buffers[2];
  void *y = buffers[3], *parts = plan->workspace;
  const swiglu_gpu_work *work = plan->table;
  GPU_KIND_LAUNCH(plan->region, STAGED_REGION);
}
#else
static void launch_staged(const tdm_plan *plan, void *const *buffers) { (void)plan, (void)buffers; }
#endif

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *x = buffers[0], *wg = buffers[1], *wu = buffers[2];
  void *y = buffers[3];
  const swiglu_gpu_work *work = plan->table;
  switch (plan->desc.swiglu.type) {
    case TDM_F32:
      if (plan->region != TILE_WHOLE) {
        launch_staged(plan, buffers);
      } else {
        REGION(TDM_F32);
      }
      break;
    case TDM_F16: REGION(TDM_F16); break;
    case TDM_BF16: REGION(TDM_BF16); break;
  }
  return TDM_OK;
}

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  *cost = (tdm_cost){choose(plan, plan->tuning.of[TDM_TUNE_SPLIT]).clocks, "products"};
}

const tdm_kernel tdm_swiglu_omp_gpu = {.name = "omp_gpu",
                                       .op = TDM_OP_SWIGLU,
                                       .backend = &tdm_backend_omp,
                                       .runs_on = tdm_gpus_only,
                                       .supports = supports,
                                       .prepare = prepare,
                                       .launch = launch,
                                       .cost = cost,
                                       .takes = 1 << TDM_TUNE_SPLIT};
