/* What the OpenMP steps of the rmsnorm ladder share: their argument. y = x / sqrt(mean(x^2) + eps) * weight of each row, in
 * f32. Squares are summed in f64: those of f32 may overflow it. */
#ifndef TANDEM_LADDER_RMSNORM_OMP_STEPS_H
#define TANDEM_LADDER_RMSNORM_OMP_STEPS_H

#include "../omp_steps.h"

typedef struct rmsnorm_step {
  const float *x, *weight;
  float *y;
  int64_t rows, cols, ldx, ldy; /* ld: elements from one row to the next */
  float eps;
} rmsnorm_step;

bool rmsnorm_step_supports(const tdm_plan *plan, char *reason, size_t size);
rmsnorm_step rmsnorm_step_of(const tdm_plan *plan, void *const *buffers);

TDM_INLINE float inverse_of(rmsnorm_step r, double squares) {
  return (float)(1 / __builtin_sqrt(squares / (double)r.cols + (double)r.eps));
}

#define RMSNORM_STEP(row, run) STEP_OMP_ROW(TDM_OP_RMSNORM, row, rmsnorm_step_supports, run)

#endif
