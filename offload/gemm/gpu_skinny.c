/* gemm with few rows on GPUs (gpu_skinny.h): a wave for each column of C. Memory is the limit. */
#include <stdlib.h>

#include "offload/device/device.h"
#include "offload/engine/epilogue_map.h"
#include "offload/engine/gpu_skinny.h"

/* What a launch needs in addition to its pointers: made with the plan, kept on the device. */
typedef struct skinny_work {
  tdm_gemm_desc d;
  tdm_epilogue_step step[];
} skinny_work;

typedef struct skinny_arrays {
  const void *a, *b;
  void *c;
  const void *bias, *residual;
} skinny_arrays;

/* One element of C. */
TDM_INLINE void finish(float sum, const skinny_work *work, const skinny_arrays *arrays, int64_t batch, int64_t row,
                       int64_t column) {
  const tdm_gemm_desc *d = &work->d;
  int64_t at = batch * d->stride_c + row * d->ldc + column;
  float v = sum * d->alpha;
  if (d->beta != 0) v += d->beta * tdm_load(arrays->c, at, d->out);
  TDM_NO_UNROLL
  for (int s = 0; s < d->epilogue_steps; s++) {
    tdm_epilogue_step step = work->step[s];
    if (step.op == TDM_BIAS)
      v += tdm_load(arrays->bias, column, d->type);
    else if (step.op == TDM_RESIDUAL)
      v += tdm_load(arrays->residual, batch * d->stride_r + row * d->ldr + column, d->out);
    else
      v = tdm_epilogue_map(v, step.op, step.value);
  }
  tdm_store(arrays->c, at, d->out, v);
}

TDM_INLINE void gemm_body(const skinny_work *work, const skinny_arrays *arrays, int m, int n, int k, int batches, bool whole,
                          tdm_position self, int rows, tdm_type type) {
  const tdm_gemm_desc *d = &work->d;
  int lane = self.thread % TDM_WAVE, units = batches * n;
  TDM_NO_UNROLL
  for (int unit = self.team * SKINNY_WAVES + self.thread / TDM_WAVE; unit < units; unit += self.teams * SKINNY_WAVES) {
    int64_t batch = unit / n, column = unit % n;
    float sums[1][SKINNY_ROWS];
    gpu_skinny_part part = {.x = arrays->a,
                            .weight = {arrays->b},
                            .at_x = batch * d->stride_a,
                            .ldx = d->lda,
                            .at = {batch * d->stride_b + column * d->ldb},
                            .rows = m,
                            .k = k};
    gpu_skinny_sums(sums, &part, lane, rows, 1, whole, type);
    float mine = gpu_skinny_mine(sums[0], lane, rows);
    if (lane < m) finish(mine, work, arrays, batch, lane, column);
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return gpu_skinny_supports(plan, d->m, d->n, d->k, d->batch, d->layout, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  size_t bytes = sizeof(skinny_work) + (size_t)d->epilogue_steps * sizeof(tdm_epilogue_step);
  skinny_work *work = malloc(bytes);
  if (work == NULL) return tdm_fail(TDM_ERROR_MEMORY, "gemm: no memory for a plan's %zu bytes", bytes);
  work->d = *d;
  for (int64_t s = 0; s < d->epilogue_steps; s++) work->step[s] = d->epilogue[s];
  tdm_plan_launch(plan, tdm_ceil_div(d->batch * d->n, SKINNY_WAVES), SKINNY_THREADS);
  tdm_status status = tdm_plan_upload(plan, work, bytes);
  free(work);
  return status;
}

#define REGION(rows)                                                                                               \
  TDM_TARGET_BARE(plan->launch, SKINNY_THREADS, a, b, c, bias, residual, work) {                                   \
    skinny_arrays arrays = {a, b, c, bias, residual};                                                              \
    TDM_BY_TYPE(type, gemm_body, work, &arrays, m, n, k, batches, whole != 0, gpu_position(SKINNY_THREADS), rows); \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *a = buffers[0], *b = buffers[1], *bias = buffers[3], *residual = buffers[4];
  void *c = buffers[2];
  const skinny_work *work = plan->table;
  const tdm_gemm_desc *d = &plan->desc.gemm;
  int m = (int)d->m, n = (int)d->n, k = (int)d->k, batches = (int)d->batch;
  tdm_type type = d->type;
  int whole = gpu_skinny_whole(a, b, b, k, d->lda | d->ldb | d->stride_a | d->stride_b, type);
  GPU_SKINNY_LAUNCH(m, REGION);
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_gpu_skinny = {.name = "omp_gpu_skinny",
                                            .op = TDM_OP_GEMM,
                                            .backend = &tdm_backend_omp,
                                            .runs_on = tdm_gpus_only,
                                            .supports = supports,
                                            .prepare = prepare,
                                            .launch = launch};
