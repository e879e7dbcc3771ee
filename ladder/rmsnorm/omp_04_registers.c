/* registers: the row is read once, and kept.
 *
 * what: each thread keeps 4 vectors of the row between the sum and the result; of longer rows the rest is read again.
 * why: memory is the limit, and the second reading is a third of what goes through the caches. A host's row is in its L1
 * anyway.
 * limit: GPU: bytes, where the second reading missed the L1. Host: none.
 * predict: host: time / before = 0.7 to 1.4
 * predict: omp: time / before = 0.7 to 1.1
 */
#include "offload/engine/row_work.h"
#include "omp_steps.h"

/* Vectors that a thread keeps: of 256 threads of a GPU these are a row of 4096. */
enum { KEPT = 4 };

/* Does the thread keep them? Only where all are inside and can be loaded at once: tests of each cost more registers than that.
 */
TDM_INLINE bool keeps(const float *x, int64_t cols, tdm_position self) {
  const int64_t last = (self.thread + (KEPT - 1) * (int64_t)self.threads) * TDM_LANES;
  return step_is_whole(x + self.thread * TDM_LANES, cols - last);
}

/* Squares of a thread's part of a row: in f32, and once more in f64 where that overflows, or loses what is below 2^-126. */
TDM_INLINE double squares_of(tdm_vec kept[KEPT], const float *x, int64_t cols, tdm_position self) {
  const int64_t first = self.thread * TDM_LANES, stride = (int64_t)self.threads * TDM_LANES;
  tdm_vec sums = {0};
  bool keep = keeps(x, cols, self);
  if (keep) {
    TDM_UNROLL
    for (int n = 0; n < KEPT; n++) kept[n] = STEP_LOAD_WHOLE(x + first + n * stride);
    TDM_UNROLL
    for (int n = 0; n < KEPT; n++) sums += kept[n] * kept[n];
  }
  for (int64_t i = keep ? first + KEPT * stride : first; i < cols; i += stride) {
    tdm_vec v = step_load(x + i, cols - i);
    sums += v * v;
  }
  float fast = step_sum(sums);
  if (fast > 0x1p-90f && fast < __builtin_inff()) return (double)fast;
  double squares = 0;
  for (int64_t i = first; i < cols; i += stride)
    for (int64_t j = i; j < tdm_min(i + TDM_LANES, cols); j++) squares += (double)x[j] * (double)x[j];
  return squares;
}

TDM_INLINE void norm(rmsnorm_step r, int64_t row, double *slots, tdm_position self) {
  const int64_t first = self.thread * TDM_LANES, stride = (int64_t)self.threads * TDM_LANES;
  const float *x = r.x + row * r.ldx;
  float *y = r.y + row * r.ldy;
  bool keep = keeps(x, r.cols, self);
  tdm_vec kept[KEPT] = {0};
  float inverse = inverse_of(r, tdm_team_reduce(squares_of(kept, x, r.cols, self), TDM_SUM, slots, self));
  TDM_UNROLL
  for (int n = 0; n < KEPT && keep; n++) {
    int64_t i = first + n * stride;
    step_store(y + i, r.cols - i, kept[n] * inverse * step_load(r.weight + i, r.cols - i));
  }
  for (int64_t i = keep ? first + KEPT * stride : first; i < r.cols; i += stride)
    step_store(y + i, r.cols - i, step_load(x + i, r.cols - i) * inverse * step_load(r.weight + i, r.cols - i));
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  rmsnorm_step r = rmsnorm_step_of(plan, buffers);
  TDM_TARGET_TEAMS(plan->launch, r) {
    TDM_TEAM_SLOTS(slots);
    TDM_PARALLEL {
      tdm_position self = tdm_my_position();
      for (int64_t row = self.team; row < r.rows; row += self.teams) norm(r, row, slots, self);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_rmsnorm_omp_step04_registers = RMSNORM_STEP("omp_step04_registers", launch);
