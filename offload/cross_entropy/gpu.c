/* cross_entropy on GPUs: a team takes a row at a time, and a thread takes four pieces of it at a time, relative to one
 * maximum. */
#include "offload/device/device.h"
#include "offload/engine/exp_sum.h"
#include "offload/engine/gpu_row.h"

enum { PIECES = 4 };

/* Adds the pieces from element `start` on. */
TDM_INLINE tdm_row_sum_t add_pieces(tdm_row_sum_t s, const void *logits, int64_t at, int64_t count, tdm_position self,
                                    tdm_type type) {
  gpu_piece x[PIECES];
  const int elements = gpu_piece_elements(type);
  gpu_row_fetch(x, logits, at, count, PIECES, self, type);
  float max = s.max, part = 0;
  TDM_UNROLL
  for (int j = 0; j < PIECES; j++) TDM_UNROLL
  for (int e = 0; e < elements; e++) {
    bool inside = gpu_piece_start(j, self, type) < count;
    float v = gpu_piece_get(x[j], e, type);
    max = inside && v > max ? v : max;
  }
  TDM_UNROLL
  for (int j = 0; j < PIECES; j++) TDM_UNROLL
  for (int e = 0; e < elements; e++) {
    bool inside = gpu_piece_start(j, self, type) < count;
    part += inside ? tdm_exp_nonpositive(gpu_piece_get(x[j], e, type) - max) : 0;
  }
  return (tdm_row_sum_t){max, tdm_rescale(s, max) + part};
}

TDM_INLINE void cross_entropy_rows(const void *logits, const int32_t *targets, float *loss, tdm_cross_entropy_desc d,
                                   float *slots, tdm_position self, tdm_type type) {
  int64_t step = GPU_ROW_THREADS * PIECES * gpu_piece_elements(type);
  TDM_NO_UNROLL
  for (int64_t row = self.team; row < d.rows; row += self.teams) {
    int32_t target = targets[row];
    bool known = target >= 0 && target < d.vocab;
    float value = target == d.ignore ? 0 : __builtin_nanf("");
    if (target != d.ignore && known) {         /* the same in every thread */
      tdm_row_sum_t s = {-0x1.fffffep127f, 0}; /* as in tdm_sum_row: a row of -infinity has sum 0 */
      TDM_NO_UNROLL
      for (int64_t start = 0; start < d.vocab; start += step)
        s = add_pieces(s, logits, row * d.ldl + start, d.vocab - start, self, type);
      float max = gpu_row_reduce(s.max, TDM_MAX, slots, 0, self);
      float sum = gpu_row_reduce((float)tdm_rescale(s, max), TDM_SUM, slots, 1, self);
      value = tdm_log(sum) + (max - tdm_load(logits, row * d.ldl + target, type));
    }
    if (self.thread == 0) loss[row] = value;
  }
}

extern const tdm_kernel tdm_cross_entropy_omp;

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  return tdm_threads_fit(plan->context, GPU_ROW_THREADS, reason, size) &&
         gpu_row_whole(d->vocab, d->ldl, d->type, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  tdm_plan_launch(plan, d->rows, GPU_ROW_THREADS);
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *logits = buffers[0];
  const int32_t *targets = buffers[1];
  float *loss = buffers[2];
  const tdm_cross_entropy_desc *d = plan->table;
  tdm_type type = plan->desc.cross_entropy.type;
  TDM_TARGET_BARE(plan->launch, GPU_ROW_THREADS, logits, targets, loss, d) {
    GPU_ROW_SLOTS(slots);
    TDM_BY_TYPE(type, cross_entropy_rows, logits, targets, loss, *d, slots, gpu_position(GPU_ROW_THREADS));
  }
  return TDM_OK;
}

const tdm_kernel tdm_cross_entropy_omp_gpu = {.name = "omp_gpu",
                                              .op = TDM_OP_CROSS_ENTROPY,
                                              .backend = &tdm_backend_omp,
                                              .runs_on = tdm_gpus_only,
                                              .supports = supports,
                                              .prepare = prepare,
                                              .launch = launch,
                                              .fallback = {16, 0x1, &tdm_cross_entropy_omp}};
