/* collapse: a thread computes one element of C, OpenMP deals them out.
 *
 * what: one directive over two loops, which collapse(2) makes one: m n iterations for all threads of all teams.
 * why: it is the shortest kernel that is right on every device, and shows what memory sees of it.
 * limit: none yet. Each product reads an A and a B. A host thread walks down a column of B: of each line of 64 bytes it
 * takes 4, and rows 4 KiB apart share so few sets of the caches that the line is gone when the next column wants it. A GPU's
 * wave reads one line of B for its 32 columns and one element of A; two reads for 32 products are its limit.
 * predict: host: time = 0.5 to 30
 * predict: omp: time = 0.03 to 0.3
 */
#include "omp_steps.h"

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  gemm_step g = gemm_step_of(plan, buffers);
  STEP_TARGET_LOOPS(plan->launch, 2, g)
  for (int64_t row = 0; row < g.m; row++)
    for (int64_t column = 0; column < g.n; column++) {
      float sum = 0;
      for (int64_t k = 0; k < g.k; k++) sum += g.a[row * g.lda + k] * g.b[k * g.ldb + column];
      g.c[row * g.ldc + column] = sum;
    }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_step01_collapse = GEMM_STEP("omp_step01_collapse", launch);
