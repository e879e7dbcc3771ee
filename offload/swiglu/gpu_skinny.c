/* swiglu with few rows on GPUs (gpu_skinny.h): a wave reads both weights of its columns. Memory is the limit. */
#include "offload/engine/gpu_skinny.h"
#include "offload/device/device.h"
#include "offload/device/math.h"

enum { WEIGHTS = 2 };

TDM_INLINE void swiglu_body(const gpu_skinny_job *job, void *y, int64_t ldy, float *memory, tdm_position self,
                            gpu_skinny_way way, int rows, tdm_type out, tdm_type type) {
#define FINISH(sums, batch, row, column) \
  tdm_store(y, (row) * ldy + (column) + 0 * (batch), out, tdm_silu((sums)[0]) * (sums)[1])
  GPU_SKINNY_UNITS(job, memory, self, way, rows, WEIGHTS, type, FINISH);
#undef FINISH
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  return gpu_skinny_supports(plan, d->m, d->n, d->k, 1, reason, size);
}

/* x, wg, wu: NULL for a plan. */
static gpu_skinny_cut cut_for(const tdm_plan *plan, const void *x, const void *wg, const void *wu) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const bool along_k = d->layout == TDM_NT;
  const bool whole = along_k ? gpu_skinny_whole(x, wg, wu, d->k, d->ldx | d->ldg | d->ldu, d->type)
                             : gpu_skinny_whole(wg, wg, wu, d->n, d->ldg | d->ldu, d->type);
  return gpu_skinny_cut_for(plan, d->m, d->n, d->k, 1, along_k, whole, WEIGHTS, d->type);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  gpu_skinny_cut cut = cut_for(plan, NULL, NULL, NULL);
  gpu_skinny_launch(plan, &cut, d->n, 1);
  return TDM_OK;
}

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  gpu_skinny_cut cut = cut_for(plan, NULL, NULL, NULL);
  gpu_skinny_cost(&cut, d->m, d->n, d->k, 1, WEIGHTS, d->type, cost);
}

#define REGION(way, rows)                                                                      \
  TDM_TARGET_BARE(of_run, of_run.threads, x, wg, wu, y) {                                      \
    TDM_TEAM_MEMORY(float, memory, SKINNY_MEMORY(rows));                                       \
    gpu_skinny_job job = {.x = x,                                                              \
                          .weight = {wg, wu},                                                  \
                          .row_step = ldx,                                                     \
                          .k_step = 1,                                                         \
                          .line_step = {ldg, ldu},                                             \
                          .down = {ldg, ldu},                                                  \
                          .m = m,                                                              \
                          .n = n,                                                              \
                          .k = k,                                                              \
                          .batches = 1,                                                        \
                          .cut = {way, across, columns, parts, 0, whole}};                     \
    TDM_BY_TYPE(type, swiglu_body, &job, y, ldy, memory, tdm_bare_position(), way, rows, out); \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *x = buffers[0], *wg = buffers[1], *wu = buffers[2];
  void *y = buffers[3];
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const gpu_skinny_cut cut = cut_for(plan, x, wg, wu);
  const tdm_launch of_run = gpu_skinny_launch_of(plan, &cut);
  int m = (int)d->m, n = (int)d->n, k = (int)d->k;
  int across = cut.across, columns = cut.columns, parts = cut.parts, whole = cut.whole;
  int64_t ldx = d->ldx, ldg = d->ldg, ldu = d->ldu, ldy = d->ldy;
  tdm_type type = d->type, out = d->out;
  GPU_SKINNY_LAUNCH(cut.way, m, REGION);
  return TDM_OK;
}

const tdm_kernel tdm_swiglu_omp_gpu_skinny = {.name = "omp_gpu_skinny",
                                              .op = TDM_OP_SWIGLU,
                                              .backend = &tdm_backend_omp,
                                              .runs_on = tdm_gpus_only,
                                              .supports = supports,
                                              .prepare = prepare,
                                              .launch = launch,
                                              .cost = cost,
                                              .matrix_units = SKINNY_HAS_MATRICES};
