/* softmax on GPUs, a row in the registers of a team. */
#include "offload/device/device.h"
#include "offload/engine/exp_sum.h"
#include "offload/engine/gpu_row.h"

/* The team's row. */
TDM_INLINE void softmax_row(const void *x, void *y, tdm_softmax_desc d, float *slots, bool causal, int pieces,
                            tdm_position self, tdm_type type) {
  const int elements = gpu_piece_elements(type);
  const int64_t row = self.team;
  float v[GPU_MOST_PIECES][GPU_PIECE_ELEMENTS], max = -0x1.fffffep127f; /* as in tdm_sum_row: a row of -infinity has sum 0 */
  gpu_piece read[GPU_MOST_PIECES];
  const int seen = causal ? (int)tdm_softmax_seen(&d, row) : (int)d.cols;
  gpu_row_fetch(read, x, row * d.ldx, d.cols, pieces, self, type);
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < elements; e++) {
    v[j][e] = gpu_piece_get(read[j], e, type);
    bool inside = gpu_piece_start(j, self, type) + (causal ? e : 0) < seen;
    max = inside && v[j][e] > max ? v[j][e] : max;
  }
  max = gpu_row_reduce(max, TDM_MAX, slots, 0, self);
  float part = 0;
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < elements; e++) {
    bool inside = gpu_piece_start(j, self, type) + (causal ? e : 0) < seen;
    v[j][e] = inside ? tdm_exp_nonpositive(v[j][e] - max) : 0;
    part += v[j][e];
  }
  float factor = 1 / gpu_row_reduce(part, TDM_SUM, slots, 1, self);
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < elements; e++) {
    v[j][e] *= factor;
    if (causal && gpu_piece_start(j, self, type) + e >= seen) v[j][e] = 0; /* and not x times 0, which may be NaN */
  }
  gpu_row_put(y, row * d.ldy, d.cols, pieces, self, type, v);
}

/* A separate region, because causal rows take twice the time of whole rows. The description is passed as scalars, as in
 * rmsnorm/gpu.c. */
#define WHOLE(threads, pieces, kind)                                                                 \
  TDM_TARGET_BARE(plan->launch, threads, x, y) {                                                     \
    GPU_ROW_SLOTS(slots);                                                                            \
    tdm_softmax_desc of = {.cols = cols, .ldx = ldx, .ldy = ldy, .causal_rows = causal_rows};        \
    GPU_ROW_BY_TYPE(kind, type, softmax_row, x, y, of, slots, false, pieces, gpu_position(threads)); \
  }
#define CAUSAL(threads, pieces, kind)                                                               \
  TDM_TARGET_BARE(plan->launch, threads, x, y) {                                                    \
    GPU_ROW_SLOTS(slots);                                                                           \
    tdm_softmax_desc of = {.cols = cols, .ldx = ldx, .ldy = ldy, .causal_rows = causal_rows};       \
    GPU_ROW_BY_TYPE(kind, type, softmax_row, x, y, of, slots, true, pieces, gpu_position(threads)); \
  }

extern const tdm_kernel tdm_softmax_omp;

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  return gpu_row_supports(plan, d->rows, d->cols, d->type, reason, size) &&
         gpu_row_whole(d->cols, d->ldx | d->ldy, d->type, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  tdm_plan_launch(plan, d->rows, gpu_row_shape_for(d->cols, d->type).threads);
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *x = buffers[0];
  void *y = buffers[1];
  const tdm_softmax_desc *d = &plan->desc.softmax;
  int64_t cols = d->cols, ldx = d->ldx, ldy = d->ldy, causal_rows = d->causal_rows;
  tdm_type type = d->type;
  gpu_row_shape shape = gpu_row_shape_for(cols, type);
  if (causal_rows == 0) {
    GPU_ROW_LAUNCH(shape, type, WHOLE);
  } else {
    GPU_ROW_LAUNCH(shape, type, CAUSAL);
  }
  return TDM_OK;
}

const tdm_kernel tdm_softmax_omp_gpu = {.name = "omp_gpu",
                                        .op = TDM_OP_SOFTMAX,
                                        .backend = &tdm_backend_omp,
                                        .runs_on = tdm_gpus_only,
                                        .supports = supports,
                                        .prepare = prepare,
                                        .launch = launch,
                                        .fallback = {16, 0x3, &tdm_softmax_omp}};
