/* What the OpenMP steps of the swiglu ladder share: their argument. Y = silu(X Wg) * (X Wu) in f32, X [m, k], W [k, n], all row
 * by row. */
#ifndef TANDEM_LADDER_SWIGLU_OMP_STEPS_H
#define TANDEM_LADDER_SWIGLU_OMP_STEPS_H

#include "../omp_steps.h"
#include "offload/device/math.h"

typedef struct swiglu_step {
  const float *x, *wg, *wu;
  float *y;
  int64_t m, n, k, ldx, ldg, ldu, ldy; /* ld: elements from one row to the next */
} swiglu_step;

bool swiglu_step_supports(const tdm_plan *plan, char *reason, size_t size);
swiglu_step swiglu_step_of(const tdm_plan *plan, void *const *buffers);

#define SWIGLU_STEP(row, run) STEP_OMP_ROW(TDM_OP_SWIGLU, row, swiglu_step_supports, run)

#endif
