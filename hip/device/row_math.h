/* Functions of f32 that are as precise as sums over rows need. */
#ifndef TANDEM_HIP_DEVICE_ROW_MATH_H
#define TANDEM_HIP_DEVICE_ROW_MATH_H

#include "types.h"

/* 1 / d for d of 1 .. 2^125; 0, infinity and NaN give NaN. One Newton step improves the estimate to half a unit in the last
 * place, except in rare cases. */
DEVICE float reciprocal(float d) {
  float r = __builtin_amdgcn_rcpf(d);
  return __builtin_fmaf(__builtin_fmaf(-d, r, 1.0f), r, r);
}

/* ln x for x that is not subnormal: log2(x) times ln 2 in two parts. */
DEVICE float log_normal(float x) {
  float two = __builtin_amdgcn_logf(x);
  return __builtin_fmaf(two, 0x1.62e43p-1f, two * -0x1.05c61p-29f);
}

#endif
