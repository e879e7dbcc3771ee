/* swiglu on GPUs: Y = silu(X Wg) * (X Wu). A panel of B has 64 columns of each weight, so that one pass over X makes both
 * products and a thread holds both sums of its elements. Arithmetic is the limit: 4 m n k FLOP. */
#include <stdio.h>

#include "../src/internal.h"
#include "gpu_epilogue.h"

/* What a launch needs beside its pointers: made with the plan, kept on the device. */
typedef struct swiglu_work {
  tdm_swiglu_desc d;
  gpu_job job;
} swiglu_work;

enum { WEIGHTS = 2, HALF = GPU_VECTORS / WEIGHTS };

TDM_INLINE void write_tile(gpu_sums sums, const swiglu_work *work, void *y, gpu_place place, int thread) {
  gpu_matrix to = {y, 0, work->d.ldy, work->d.out};
  gpu_vec copy[GPU_ROWS * GPU_VECTORS];
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) copy[i * GPU_VECTORS + j] = sums[i][j];
  TDM_NO_UNROLL
  for (int s = 0; s < GPU_ROWS * HALF; s++) {
    int i = s / HALF, j = s % HALF;
    gpu_four at = gpu_four_at(&work->job.grid, place, thread, i, j);
    gpu_vec gate = copy[i * GPU_VECTORS + j], up = copy[i * GPU_VECTORS + j + HALF], v;
    TDM_UNROLL
    for (int e = 0; e < 4; e++) v[e] = tdm_silu(gate[e]) * up[e];
    gpu_store_four(&to, at, v);
  }
}

TDM_INLINE void swiglu_typed(const void *x, const void *wg, const void *wu, void *y, const swiglu_work *work,
                             gpu_panels *panels, tdm_here_t here, tdm_type type) {
  gpu_engine engine;
  gpu_sums sums;
  bool more = gpu_begin(&engine, &work->job, x, wg, wu, panels, here, WEIGHTS, type);
  while (more) {
    gpu_place place = engine.place;
    more = gpu_tile_sums(&engine, sums, WEIGHTS, type);
    write_tile(sums, gpu_again(work), y, place, here.thread);
  }
}

TDM_INLINE void swiglu_body(const void *x, const void *wg, const void *wu, void *y, const swiglu_work *work, gpu_panels *panels,
                            tdm_here_t here) {
  TDM_BY_TYPE(work->d.type, swiglu_typed, x, wg, wu, y, work, panels, here)
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  if (d->ldg != d->ldu) {
    snprintf(reason, size, "ldg and ldu must be equal");
    return false;
  }
  return gpu_can_tile(plan, d->m, d->n, d->k, 1, WEIGHTS, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  swiglu_work work = {.d = *d,
                      .job = {.grid = gpu_grid_for(plan, d->m, d->n, 1, WEIGHTS),
                              .a = {0, d->ldx, (int)d->m, true, 1},
                              .b = {0, d->ldg, (int)d->n, d->layout == TDM_NT, WEIGHTS},
                              .k = (int)d->k}};
  return tdm_plan_upload(plan, &work, sizeof work);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *x = buffers[0], *wg = buffers[1], *wu = buffers[2];
  void *y = buffers[3];
  const swiglu_work *work = plan->table;
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, x, wg, wu, y, work) {
    TDM_TEAM_MEMORY(gpu_panels, panels, 2);
    swiglu_body(x, wg, wu, y, work, panels, tdm_here_bare());
  }
  return TDM_OK;
}

const tdm_kernel tdm_swiglu_omp_gpu = {.name = "omp_gpu",
                                       .op = TDM_OP_SWIGLU,
                                       .backend = &tdm_backend_omp,
                                       .supports = supports,
                                       .prepare = prepare,
                                       .launch = launch};
