/* What the OpenMP steps of the gemm ladder share: their argument. C = A B in f32, A [m, k], B [k, n], all row by row. */
#ifndef TANDEM_LADDER_GEMM_OMP_STEPS_H
#define TANDEM_LADDER_GEMM_OMP_STEPS_H

#include "../omp_steps.h"

typedef struct gemm_step {
  const float *a, *b;
  float *c;
  int64_t m, n, k, lda, ldb, ldc; /* ld: elements from one row to the next */
} gemm_step;

bool gemm_step_supports(const tdm_plan *plan, char *reason, size_t size);
gemm_step gemm_step_of(const tdm_plan *plan, void *const *buffers);

#define GEMM_STEP(row, run) STEP_OMP_ROW(TDM_OP_GEMM, row, gemm_step_supports, run)

#endif
