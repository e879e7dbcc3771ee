/* a row a thread: OpenMP deals rows to threads.
 *
 * what: one directive over the loop of rows; squares are summed in f64, one after the other.
 * why: it is the shortest kernel that is right on every device.
 * limit: none yet. Host: each addition waits for the one before. GPU: neighbour threads read neighbour rows, 16 KiB apart: a
 * wave's load is 32 lines, of which it uses 4 bytes each.
 * predict: host: time = 0.005 to 0.5
 * predict: omp: time = 0.003 to 0.03
 */
#include "omp_steps.h"

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  rmsnorm_step r = rmsnorm_step_of(plan, buffers);
  STEP_TARGET_LOOPS(plan->launch, 1, r)
  for (int64_t row = 0; row < r.rows; row++) {
    const float *x = r.x + row * r.ldx;
    double squares = 0;
    for (int64_t i = 0; i < r.cols; i++) squares += (double)x[i] * (double)x[i];
    float inverse = inverse_of(r, squares);
    for (int64_t i = 0; i < r.cols; i++) r.y[row * r.ldy + i] = x[i] * inverse * r.weight[i];
  }
  return TDM_OK;
}

const tdm_kernel tdm_rmsnorm_omp_step01_row_a_thread = RMSNORM_STEP("omp_step01_row_a_thread", launch);
