/* Activations of four values, for results that are rounded to 16 bits. With packed arithmetic and fewer corrections they
 * take half as many clocks as those of math.h, or less. Errors are below 1e-5 of the result or 1e-7 of x. */
#ifndef TANDEM_HIP_DEVICE_MATH_ROUNDED_H
#define TANDEM_HIP_DEVICE_MATH_ROUNDED_H

#include "types.h"

/* A constant that is loaded where it is written. Otherwise clang keeps all of them in registers around the loops of an
 * epilogue, and those are full of sums. */
DEVICE float constant_here(float value) {
  float x;
  asm volatile("s_mov_b32 %0, %1" : "=s"(x) : "i"(__builtin_bit_cast(uint32_t, value)));
  return x;
}

DEVICE f32x4 exp2_four(f32x4 x) {
#pragma unroll
  for (int i = 0; i < 4; i++) x[i] = __builtin_amdgcn_exp2f(x[i]);
  return x;
}
DEVICE f32x4 reciprocal_four(f32x4 x) {
#pragma unroll
  for (int i = 0; i < 4; i++) x[i] = __builtin_amdgcn_rcpf(x[i]);
  return x;
}
/* x sigmoid(u): 2^t overflows to infinity, whose reciprocal is 0. */
DEVICE f32x4 x_sigmoid_four(f32x4 x, f32x4 u) { return x * reciprocal_four(1 + exp2_four(u * constant_here(-1.44269504f))); }

/* max(x, 0) - |x| P(X > |x|), where P = e^(-x^2 / 2) times a polynomial of 1 / (1 + 0.2316419 |x|): Abramowitz and Stegun,
 * 26.2.17, with an error of 7.5e-8; the coefficients include 1 / sqrt(2 pi). */
DEVICE f32x4 gelu_four(f32x4 x) {
  f32x4 a, twice; /* 2 max(x, 0), which is NaN if x is */
#pragma unroll
  for (int i = 0; i < 4; i++) a[i] = __builtin_fminf(__builtin_fabsf(x[i]), 64.0f), twice[i] = x[i] + __builtin_fabsf(x[i]);
  f32x4 t = reciprocal_four(1 + a * constant_here(0.2316419f)),
        p = t * constant_here(0.530702714f) + constant_here(-0.726576013f);
  p = p * t + constant_here(0.71070687f);
  p = p * t + constant_here(-0.142248368f);
  p = p * t + constant_here(0.127414796f);
  return twice * 0.5f - a * (p * t * exp2_four(a * a * constant_here(-0.72134752f)));
}

#endif
