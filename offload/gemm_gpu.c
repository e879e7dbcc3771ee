/* gemm on GPUs: sums in registers, panels in team memory (gpu_tile.h). Arithmetic is the limit: 2 m n k FLOP. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "../src/internal.h"
#include "gpu_epilogue.h"

/* What a launch needs beside its pointers: made with the plan, kept on the device. */
typedef struct gemm_work {
  tdm_gemm_desc d;
  gpu_job job;
  int steps;
  tdm_epilogue_step step[]; /* the epilogue chain */
} gemm_work;

/* The arrays of a launch. */
typedef struct gemm_arrays {
  const void *a, *b;
  void *c;
  const void *bias, *residual;
} gemm_arrays;

/* The chain for 4 columns. */
TDM_INLINE gpu_vec apply_chain(gpu_vec v, const gemm_work *work, const gemm_arrays *arrays, gpu_four at) {
  const tdm_gemm_desc *d = &work->d;
  gpu_matrix bias = {(void *)(uintptr_t)arrays->bias, 0, 0, d->type}; /* every row is the same */
  gpu_matrix residual = {(void *)(uintptr_t)arrays->residual, d->stride_r, d->ldr, d->out};
  TDM_NO_UNROLL
  for (int s = 0; s < work->steps; s++) {
    tdm_epilogue_step step = work->step[s];
    if (step.op == TDM_BIAS) {
      v += gpu_load_four(&bias, at);
    } else if (step.op == TDM_RESIDUAL) {
      v += gpu_load_four(&residual, at);
    } else {
      TDM_NO_UNROLL
      for (int e = 0; e < 4; e++) v[e] = tdm_epilogue_map(v[e], step.op, step.value);
    }
  }
  return v;
}

/* No part of the kernel's body: its registers are full of sums. */
static __attribute__((noinline)) void write_chain(const gpu_vec *sums, const gemm_work *work, const gemm_arrays *arrays,
                                                  gpu_place place, int thread) {
  const tdm_gemm_desc *d = &work->d;
  gpu_matrix c = {arrays->c, d->stride_c, d->ldc, d->out};
  TDM_NO_UNROLL
  for (int s = 0; s < GPU_ROWS * GPU_VECTORS; s++) {
    gpu_four at = gpu_four_at(&work->job.grid, place, thread, s / GPU_VECTORS, s % GPU_VECTORS);
    if (at.count <= 0) continue;
    gpu_vec v = sums[s] * d->alpha;
    if (d->beta != 0) v += d->beta * gpu_load_four(&c, at);
    gpu_store_four(&c, at, apply_chain(v, work, arrays, at));
  }
}

TDM_INLINE void write_tile(gpu_sums sums, const gemm_work *work, const gemm_arrays *arrays, gpu_place place, int thread) {
  const tdm_gemm_desc *d = &work->d;
  gpu_matrix c = {arrays->c, d->stride_c, d->ldc, d->out};
  if (work->steps == 0 && d->beta == 0 && gpu_is_whole(&work->job.grid, place, 1) && gpu_matrix_aligned(&c)) {
    gpu_write(sums, &c, place, thread, d->alpha);
    return;
  }
  gpu_vec copy[GPU_ROWS * GPU_VECTORS];
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) copy[i * GPU_VECTORS + j] = sums[i][j];
  write_chain(copy, work, arrays, place, thread);
}

TDM_INLINE void gemm_typed(const gemm_arrays *arrays, const gemm_work *work, gpu_panels *panels, tdm_here_t here,
                           tdm_type type) {
  gpu_engine engine;
  gpu_sums sums;
  bool more = gpu_begin(&engine, &work->job, arrays->a, arrays->b, arrays->b, panels, here, 1, type);
  while (more) {
    gpu_place place = engine.place;
    more = gpu_tile_sums(&engine, sums, 1, type);
    write_tile(sums, gpu_again(work), arrays, place, here.thread);
  }
}

TDM_INLINE void gemm_body(const gemm_arrays *arrays, const gemm_work *work, gpu_panels *panels, tdm_here_t here) {
  TDM_BY_TYPE(work->d.type, gemm_typed, arrays, work, panels, here)
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return gpu_can_tile(plan, d->m, d->n, d->k, d->batch, 1, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  size_t bytes = sizeof(gemm_work) + (size_t)d->epilogue_steps * sizeof(tdm_epilogue_step);
  gemm_work *work = malloc(bytes);
  if (work == NULL) return tdm_fail(TDM_ERROR_MEMORY, "gemm: no memory for a plan's %zu bytes", bytes);
  bool a_by_k = d->layout == TDM_NN || d->layout == TDM_NT, b_by_k = d->layout == TDM_NT || d->layout == TDM_TT;
  *work = (gemm_work){.d = *d, .steps = (int)d->epilogue_steps};
  work->job = (gpu_job){.grid = gpu_grid_for(plan, d->m, d->n, d->batch, 1),
                        .a = {d->stride_a, d->lda, (int)d->m, a_by_k, 1},
                        .b = {d->stride_b, d->ldb, (int)d->n, b_by_k, 1},
                        .k = (int)d->k};
  for (int s = 0; s < work->steps; s++) work->step[s] = d->epilogue[s];
  tdm_status status = tdm_plan_upload(plan, work, bytes);
  free(work);
  return status;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *a = buffers[0], *b = buffers[1], *bias = buffers[3], *residual = buffers[4];
  void *c = buffers[2];
  const gemm_work *work = plan->table;
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, a, b, c, bias, residual, work) {
    TDM_TEAM_MEMORY(gpu_panels, panels, 2);
    gemm_arrays arrays = {a, b, c, bias, residual};
    gemm_body(&arrays, work, panels, tdm_here_bare());
  }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_gpu = {.name = "omp_gpu",
                                     .op = TDM_OP_GEMM,
                                     .backend = &tdm_backend_omp,
                                     .supports = supports,
                                     .prepare = prepare,
                                     .launch = launch};
