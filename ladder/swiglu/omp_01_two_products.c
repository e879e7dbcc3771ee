/* two products: the gate's, then the other one.
 *
 * what: a thread computes one element of Y: two sums over k, one after the other.
 * why: it is how the formula reads.
 * limit: none yet. Each product reads an X and a W, and a row of X is read twice.
 * predict: host: time = 0.05 to 10
 * predict: omp: time = 0.05 to 1
 */
#include "omp_steps.h"

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  swiglu_step s = swiglu_step_of(plan, buffers);
  STEP_TARGET_LOOPS(plan->launch, 2, s)
  for (int64_t row = 0; row < s.m; row++)
    for (int64_t column = 0; column < s.n; column++) {
      float gate = 0, up = 0;
      for (int64_t k = 0; k < s.k; k++) gate += s.x[row * s.ldx + k] * s.wg[k * s.ldg + column];
      for (int64_t k = 0; k < s.k; k++) up += s.x[row * s.ldx + k] * s.wu[k * s.ldu + column];
      s.y[row * s.ldy + column] = tdm_silu(gate) * up;
    }
  return TDM_OK;
}

const tdm_kernel tdm_swiglu_omp_step01_two_products = SWIGLU_STEP("omp_step01_two_products", launch);
