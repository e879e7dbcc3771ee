/* vectors: a thread takes 16 bytes at a time, on a host a whole register.
 *
 * what: loads, stores and sums are vectors (offload/device/vector.h). Each lane has a sum of its own, in f32; a part of a row
 * whose squares overflow that is summed once more, in f64.
 * why: a host's 16 sums (AVX-512) do not wait for each other. A GPU asks for the same bytes with a quarter of the loads.
 * limit: host: from the latency of an addition to memory. GPU: more bytes on their way at a time.
 * predict: host: time / before = 0.2 to 0.95
 * predict: omp: time / before = 0.3 to 0.8
 */
#include "offload/engine/row_work.h"
#include "omp_steps.h"

/* Squares of a thread's part of a row: in f32, and once more in f64 where that overflows, or loses what is below 2^-126. */
TDM_INLINE double squares_of(const float *x, int64_t cols, tdm_position self) {
  const int64_t first = self.thread * TDM_LANES, stride = (int64_t)self.threads * TDM_LANES;
  tdm_vec sums = {0};
  for (int64_t i = first; i < cols; i += stride) {
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
  float inverse = inverse_of(r, tdm_team_reduce(squares_of(x, r.cols, self), TDM_SUM, slots, self));
  for (int64_t i = first; i < r.cols; i += stride)
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

const tdm_kernel tdm_rmsnorm_omp_step03_vectors = RMSNORM_STEP("omp_step03_vectors", launch);
