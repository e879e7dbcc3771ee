/* swiglu with few rows on GPUs (gpu_skinny.h): a wave reads both weights of a column. Memory is the limit. */
#include "offload/engine/gpu_skinny.h"
#include "offload/device/device.h"
#include "offload/device/math.h"

TDM_INLINE void swiglu_body(const void *x, const void *wg, const void *wu, void *y, tdm_swiglu_desc d, bool whole,
                            tdm_position self, int rows, tdm_type type) {
  int lane = self.thread % TDM_WAVE, units = (int)d.n;
  TDM_NO_UNROLL
  for (int unit = self.team * SKINNY_WAVES + self.thread / TDM_WAVE; unit < units; unit += self.teams * SKINNY_WAVES) {
    float sums[SKINNY_WEIGHTS][SKINNY_ROWS];
    gpu_skinny_part part = {
        .x = x, .weight = {wg, wu}, .ldx = d.ldx, .at = {unit * d.ldg, unit * d.ldu}, .rows = (int)d.m, .k = (int)d.k};
    gpu_skinny_sums(sums, &part, lane, rows, SKINNY_WEIGHTS, whole, type);
    float gate = gpu_skinny_mine(sums[0], lane, rows), up = gpu_skinny_mine(sums[1], lane, rows);
    if (lane < d.m) tdm_store(y, lane * d.ldy + unit, d.out, tdm_silu(gate) * up);
  }
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  return gpu_skinny_supports(plan, d->m, d->n, d->k, 1, d->layout, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  tdm_plan_launch(plan, tdm_ceil_div(plan->desc.swiglu.n, SKINNY_WAVES), SKINNY_THREADS);
  return TDM_OK;
}

#define REGION(rows)                                                                                           \
  TDM_TARGET_BARE(plan->launch, SKINNY_THREADS, x, wg, wu, y) {                                                \
    tdm_swiglu_desc of = {.m = m, .n = n, .k = k, .ldx = ldx, .ldg = ldg, .ldu = ldu, .ldy = ldy, .out = out}; \
    TDM_BY_TYPE(type, swiglu_body, x, wg, wu, y, of, whole != 0, gpu_position(SKINNY_THREADS), rows);          \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *x = buffers[0], *wg = buffers[1], *wu = buffers[2];
  void *y = buffers[3];
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  int64_t m = d->m, n = d->n, k = d->k, ldx = d->ldx, ldg = d->ldg, ldu = d->ldu, ldy = d->ldy;
  tdm_type type = d->type, out = d->out;
  int whole = gpu_skinny_whole(x, wg, wu, k, ldx | ldg | ldu, type);
  GPU_SKINNY_LAUNCH(m, REGION);
  return TDM_OK;
}

const tdm_kernel tdm_swiglu_omp_gpu_skinny = {.name = "omp_gpu_skinny",
                                              .op = TDM_OP_SWIGLU,
                                              .backend = &tdm_backend_omp,
                                              .runs_on = tdm_gpus_only,
                                              .supports = supports,
                                              .prepare = prepare,
                                              .launch = launch};
