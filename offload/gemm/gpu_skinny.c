/* gemm with few rows on GPUs (gpu_skinny.h). Memory is the limit. */
#include <stdlib.h>

#include "gpu.h"
#include "offload/device/device.h"
#include "offload/engine/epilogue_map.h"
#include "offload/engine/gpu_skinny.h"

/* What the epilogue needs. The rest of the description travels as scalars, because a first read from memory takes a
 * microsecond. */
typedef struct skinny_end {
  void *c;
  const void *bias, *residual;
  const epilogue_step *step;
  int steps;
  int64_t ldc, stride_c, ldr, stride_r;
  float alpha, beta;
  tdm_type type, out;
} skinny_end;

/* One element of C. */
TDM_INLINE void finish(float sum, const skinny_end *end, int64_t batch, int64_t row, int64_t column) {
  int64_t at = batch * end->stride_c + row * end->ldc + column;
  float v = sum * end->alpha;
  if (end->beta != 0) v += end->beta * tdm_load(end->c, at, end->out);
  TDM_NO_UNROLL
  for (int s = 0; s < end->steps; s++) {
    epilogue_step step = end->step[s];
    if (step.op == TDM_BIAS)
      v += tdm_load(end->bias, column, end->type);
    else if (step.op == TDM_RESIDUAL)
      v += tdm_load(end->residual, batch * end->stride_r + row * end->ldr + column, end->out);
    else
      v = step.op == TDM_DIVIDE ? (float)(v * step.reciprocal) : tdm_epilogue_map(v, (tdm_epilogue_op)step.op, step.value);
  }
  tdm_store(end->c, at, end->out, v);
}

TDM_INLINE void gemm_body(const gpu_skinny_job *job, const skinny_end *end, float *memory, tdm_position self,
                          gpu_skinny_way way, int rows, tdm_type type) {
#define FINISH(sums, batch, row, column) finish((sums)[0], end, batch, row, column)
  GPU_SKINNY_UNITS(job, memory, self, way, rows, 1, type, FINISH);
#undef FINISH
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return gpu_skinny_supports(plan, d->m, d->n, d->k, d->batch, reason, size);
}

/* a, b: NULL for a plan. */
static gpu_skinny_cut cut_for(const tdm_plan *plan, const void *a, const void *b) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const bool along_k = d->layout == TDM_NT || d->layout == TDM_TT;
  const bool whole =
      along_k ? d->layout == TDM_NT && gpu_skinny_whole(a, b, b, d->k, d->lda | d->ldb | d->stride_a | d->stride_b, d->type)
              : gpu_skinny_whole(b, b, b, d->n, d->ldb | d->stride_b, d->type);
  return gpu_skinny_cut_for(plan, d->m, d->n, d->k, d->batch, along_k, whole, 1, d->type);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  gpu_skinny_cut cut = cut_for(plan, NULL, NULL);
  gpu_skinny_launch(plan, &cut, d->n, d->batch);
  if (d->epilogue_steps == 0) return TDM_OK;
  size_t bytes = (size_t)d->epilogue_steps * sizeof(epilogue_step);
  epilogue_step *step = malloc(bytes);
  if (step == NULL) return tdm_fail(TDM_ERROR_MEMORY, "gemm: no memory for a plan's %zu bytes", bytes);
  epilogue_steps_of(d, step);
  tdm_status status = tdm_plan_upload(plan, step, bytes);
  free(step);
  return status;
}

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  gpu_skinny_cut cut = cut_for(plan, NULL, NULL);
  gpu_skinny_cost(&cut, d->m, d->n, d->k, d->batch, 1, d->type, cost);
}

#define REGION(way, rows)                                                                                    \
  TDM_TARGET_BARE(of_run, of_run.threads, a, b, c, bias, residual, step) {                                   \
    TDM_TEAM_MEMORY(float, memory, SKINNY_MEMORY(rows));                                                     \
    gpu_skinny_job job = {.x = a,                                                                            \
                          .weight = {b},                                                                     \
                          .stride_x = stride_a,                                                              \
                          .row_step = row_step,                                                              \
                          .k_step = k_step,                                                                  \
                          .stride = stride_b,                                                                \
                          .line_step = {ldb},                                                                \
                          .down = {ldb},                                                                     \
                          .m = m,                                                                            \
                          .n = n,                                                                            \
                          .k = k,                                                                            \
                          .batches = batches,                                                                \
                          .cut = {way, across, columns, parts, 0, whole}};                                   \
    skinny_end end = {c, bias, residual, step, steps, ldc, stride_c, ldr, stride_r, alpha, beta, type, out}; \
    TDM_BY_TYPE(type, gemm_body, &job, &end, memory, tdm_bare_position(), way, rows);                        \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *a = buffers[0], *b = buffers[1], *bias = buffers[3], *residual = buffers[4];
  void *c = buffers[2];
  const epilogue_step *step = plan->table;
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const gpu_skinny_cut cut = cut_for(plan, a, b);
  const tdm_launch of_run = gpu_skinny_launch_of(plan, &cut);
  const bool x_by_k = d->layout == TDM_NN || d->layout == TDM_NT;
  int m = (int)d->m, n = (int)d->n, k = (int)d->k, batches = (int)d->batch, steps = (int)d->epilogue_steps;
  int across = cut.across, columns = cut.columns, parts = cut.parts, whole = cut.whole;
  int64_t row_step = x_by_k ? d->lda : 1, k_step = x_by_k ? 1 : d->lda, stride_a = d->stride_a, stride_b = d->stride_b;
  int64_t ldb = d->ldb, ldc = d->ldc, stride_c = d->stride_c, ldr = d->ldr, stride_r = d->stride_r;
  float alpha = d->alpha, beta = d->beta;
  tdm_type type = d->type, out = d->out;
  GPU_SKINNY_LAUNCH(cut.way, m, REGION);
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_gpu_skinny = {.name = "omp_gpu_skinny",
                                            .op = TDM_OP_GEMM,
                                            .backend = &tdm_backend_omp,
                                            .runs_on = tdm_gpus_only,
                                            .supports = supports,
                                            .prepare = prepare,
                                            .launch = launch,
                                            .cost = cost,
                                            .matrix_units = SKINNY_HAS_MATRICES};
