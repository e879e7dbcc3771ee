/* What the steps of the swiglu ladder share: their argument. Y = silu(X Wg^T) * (X Wu^T) in bf16, X [m, k], Wg and Wu [n, k]:
 * all run along k, as in Linear layers. Sums are f32. */
#ifndef TANDEM_LADDER_SWIGLU_STEP_H
#define TANDEM_LADDER_SWIGLU_STEP_H

#include <stdint.h>

typedef struct swiglu_step_args {
  const void *x, *wg, *wu;
  void *y;
  int64_t m, n, k, ldx, ldg, ldu, ldy; /* ld: elements from one row to the next */
  uint32_t tiles_n;
} swiglu_step_args;

#ifdef __HIP__
#include "hip/device/math.h"

DEVICE uint32_t workgroup_index(void) { return (uint32_t)__builtin_amdgcn_workgroup_id_x(); }
#endif

#endif
