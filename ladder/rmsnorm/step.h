/* What the steps of the rmsnorm ladder share: their argument. y = x / sqrt(mean(x^2) + eps) * weight for each row, in f32. */
#ifndef TANDEM_LADDER_RMSNORM_STEP_H
#define TANDEM_LADDER_RMSNORM_STEP_H

#include <stdint.h>

typedef struct rmsnorm_step_args {
  const float *x, *weight;
  float *y;
  int64_t rows, cols, ldx, ldy; /* ld: elements from one row to the next */
  float eps;
} rmsnorm_step_args;

#ifdef __HIP__
#include "hip/device/row_groups.h"

DEVICE int64_t workgroup_index(void) { return __builtin_amdgcn_workgroup_id_x(); }

/* Squares are summed in f64: those of f32 overflow from 2^64 on. */
DEVICE float inverse_root(double sum, const rmsnorm_step_args *g) {
  return (float)(1 / __builtin_sqrt(sum / (double)g->cols + g->eps));
}
#endif

#endif
