/* Functions of f32 made of the GPU's own instructions: v_exp_f32 (2^x) and v_rcp_f32 are correct to 1 unit in the last
 * place. NaN gives NaN. The polynomials interpolate at Chebyshev nodes. The oracle's polynomials (offload/device/math.h)
 * are different ones, on purpose. */
#ifndef TANDEM_HIP_DEVICE_MATH_H
#define TANDEM_HIP_DEVICE_MATH_H

#include "types.h"

/* e^x = 2^n 2^f with n = round(x / ln 2), and f = x / ln 2 - n to full precision. ldexp makes subnormal results and
 * infinity. */
DEVICE float exp_f32(float x) {
  x = x < -105.0f ? -105.0f : x; /* comparisons keep NaN; v_max_f32 would not */
  x = x > 90.0f ? 90.0f : x;
  float n = __builtin_rintf(x * 0x1.715476p+0f);
  float r = __builtin_fmaf(n, -0x1.62e4p-1f, x); /* ln 2 in two parts; the first has 15 bits, so that n times it is exact */
  r = __builtin_fmaf(n, -0x1.7f7d1cp-20f, r);
  return __builtin_ldexpf(__builtin_amdgcn_exp2f(r * 0x1.715476p+0f), (int)n);
}

/* 1 / d for d of 1 .. 2. One Newton step improves the estimate to half a unit in the last place, except in rare cases. */
DEVICE float reciprocal_1_to_2(float d) {
  float r = __builtin_amdgcn_rcpf(d);
  return __builtin_fmaf(__builtin_fmaf(-d, r, 1.0f), r, r);
}

/* 1 / (1 + e^-x) from the exponential of -|x|, so that small results keep their digits. */
DEVICE float sigmoid_f32(float x) {
  float z = exp_f32(-__builtin_fabsf(x)), y = reciprocal_1_to_2(1 + z);
  return x < 0 ? z * y : y;
}

DEVICE float silu_f32(float x) { return x * sigmoid_f32(x); }

/* |x| < 1: x P(x^2), the error of P is 1.3e-9. |x| >= 1: 1 - e^(x Q(x)), where the error of Q is 3.6e-7, times e^(xQ) <=
 * 0.16. From 4 on: 1. */
DEVICE float erf_f32(float x) {
  float a = __builtin_fabsf(x), s = x * x;
  a = a > 4 ? 4 : a;
  float p = 7.87587505e-05f;
  p = __builtin_fmaf(p, s, -0.000801686428f);
  p = __builtin_fmaf(p, s, 0.00518908742f);
  p = __builtin_fmaf(p, s, -0.026854212f);
  p = __builtin_fmaf(p, s, 0.112835947f);
  p = __builtin_fmaf(p, s, -0.376126267f);
  p = __builtin_fmaf(p, s, 1.12837917f);
  float q = -1.63092907e-05f;
  q = __builtin_fmaf(q, a, 0.000369162381f);
  q = __builtin_fmaf(q, a, -0.00380515293f);
  q = __builtin_fmaf(q, a, 0.0240325997f);
  q = __builtin_fmaf(q, a, -0.10644119f);
  q = __builtin_fmaf(q, a, -0.635109358f);
  q = __builtin_fmaf(q, a, -1.12863511f);
  return __builtin_copysignf(a < 1 ? p * a : 1 - exp_f32(a * q), x);
}

/* ---- Activations, as defined in tandem/gemm.h ---- */

DEVICE float gelu_f32(float x) { return 0.5f * x * (1 + erf_f32(x * 0.70710678f)); }
/* (1 + tanh u) / 2 = sigmoid(2 u) */
DEVICE float gelu_tanh_f32(float x) { return x * sigmoid_f32(1.59576912f * (x + 0.044715f * x * x * x)); }
DEVICE float quick_gelu_f32(float x) { return x * sigmoid_f32(1.702f * x); }

#endif
