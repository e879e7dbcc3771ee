/* Functions of f32 for kernels, without branches, tables or library calls, so that loops over them become vector code on
 * hosts and GPUs. A NaN gives a NaN. test/op/test_math.c measures their errors against the C library in f64, and contains
 * the bounds. The polynomials are weighted minimax fits. */
#ifndef TANDEM_OFFLOAD_DEVICE_MATH_H
#define TANDEM_OFFLOAD_DEVICE_MATH_H

#include "src/base/elem.h"

/* ln 2 in two parts; the first has 15 bits, so that its products with exponents are exact. */
#define TDM_LN2_HIGH 0x1.62e4p-1f
#define TDM_LN2_LOW 0x1.7f7d1cp-20f

/* e^r for |r| <= ln 2 / 2. */
TDM_INLINE float tdm_exp_reduced(float r) {
  float p = 0x1.6a1a6ep-10f;
  p = p * r + 0x1.123fc6p-7f;
  p = p * r + 0x1.555916p-5f;
  p = p * r + 0x1.55548ap-3f;
  p = p * r + 0x1.fffffcp-2f;
  return p * (r * r) + r + 1;
}

/* e^x = 2^n e^r with n = round(x / ln 2). Below -103.97 it is 0, above 88.72 infinity. Subnormal results are rounded like
 * others. */
TDM_INLINE float tdm_exp(float x) {
  const float round = 0x1.8p23f; /* adding it leaves the rounded integer part in the low bits */
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  float t = x * 0x1.715476p+0f + round, n = t - round;
  float r = x - n * TDM_LN2_HIGH - n * TDM_LN2_LOW;
  /* 2^n as two factors: n may be 128, or below the exponents of normal numbers. */
  int32_t exponent = (int32_t)(tdm_bits(t) - tdm_bits(round)), half = exponent >> 1;
  float first = tdm_from_bits((uint32_t)(half + 127) << 23), second = tdm_from_bits((uint32_t)(exponent - half + 127) << 23);
  return tdm_exp_reduced(r) * first * second;
}

/* The same for x <= 0 (it is correct up to 43), in two thirds of the time: 2^n as 2^(n + 64) times 2^-64. NVIDIA GPUs have
 * 2^h as an instruction, within 2^-22; low is what rounding x log2 e to h lost. */
#if defined(__NVPTX__)
TDM_INLINE float tdm_exp_nonpositive(float x) {
  x = x < -104.0f ? -104.0f : x;
  float h = x * 0x1.715476p+0f, low = __builtin_fmaf(x, 0x1.715476p+0f, -h) + x * 0x1.4ae0cp-26f, y = __nvvm_ex2_approx_f(h);
  return __builtin_fmaf(y, low * 0x1.62e43p-1f, y);
}
#else
TDM_INLINE float tdm_exp_nonpositive(float x) {
  const float round = 0x1.8p23f + 127 + 64; /* also moves the biased exponent into the low bits */
  x = x < -104.0f ? -104.0f : x;
  float t = x * 0x1.715476p+0f + round, n = t - round;
  float r = x - n * TDM_LN2_HIGH - n * TDM_LN2_LOW;
  return tdm_exp_reduced(r) * tdm_from_bits(tdm_bits(t) << 23) * 0x1p-64f;
}
#endif

/* The same for exponentials of 16-bit elements: GPUs have 2^h, and rounding x log2 e costs |x| 2^-24 of the result. */
TDM_INLINE float tdm_exp_short(float x) {
#if defined(__NVPTX__)
  return __nvvm_ex2_approx_f(x * 0x1.715476p+0f);
#elif defined(__AMDGCN__)
  return __builtin_amdgcn_exp2f(x * 0x1.715476p+0f);
#else
  return tdm_exp_nonpositive(x);
#endif
}

/* log x = e ln 2 + log(1 + f), with x = 2^e (1 + f) and 1 + f in sqrt(1/2) .. sqrt(2). log 0 = -infinity; x < 0 gives NaN. */
TDM_INLINE float tdm_log(float x) {
  const uint32_t sqrt_half = 0x3f3504f3;
  int subnormal = x < 0x1p-126f;
  uint32_t bits = tdm_bits(subnormal ? x * 0x1p23f : x);
  int32_t exponent = (int32_t)(bits - sqrt_half) >> 23;
  float f = tdm_from_bits(bits - ((uint32_t)exponent << 23)) - 1;
  float e = (float)(exponent - (subnormal ? 23 : 0));
  float p = 0x1.1454c2p-4f;
  p = p * f - 0x1.dfe2aep-4f;
  p = p * f + 0x1.e7d510p-4f;
  p = p * f - 0x1.fbf1acp-4f;
  p = p * f + 0x1.2325e4p-3f;
  p = p * f - 0x1.555ce6p-3f;
  p = p * f + 0x1.99a584p-3f;
  p = p * f - 0x1.000006p-2f;
  p = p * f + 0x1.555546p-2f;
  float tail = p * f * (f * f) - 0.5f * (f * f) + e * TDM_LN2_LOW;
  float y = e * TDM_LN2_HIGH + (f + tail);
  y = x <= 0x1.fffffep127f ? y : x; /* infinity, NaN */
  y = x == 0 ? -__builtin_inff() : y;
  return x < 0 ? __builtin_nanf("") : y;
}

/* 1 / d for d in 1 .. 2: a parabola with an error of 1/99 (1 - d p(d) is the third Chebyshev polynomial of 3 - 2 d, over
 * 99), then two Newton steps. A division of 16 floats takes 16 clocks; these six multiply-adds take three. */
TDM_INLINE float tdm_reciprocal_1_to_2(float d) {
  float r = (d * (32.0f / 99) - 144.0f / 99) * d + 210.0f / 99;
  r += r * (1 - d * r);
  return r + r * (1 - d * r);
}

/* 1 / (1 + e^-x) from the exponential of -|x|, so that small results keep their digits. */
TDM_INLINE float tdm_sigmoid(float x) {
  float z = tdm_exp_nonpositive(-__builtin_fabsf(x)), y = tdm_reciprocal_1_to_2(1 + z);
  return x < 0 ? z * y : y;
}

/* x sigmoid(x). It is NaN for -infinity, as the product says. Results below 2^-119 come from a subnormal factor and lose
 * digits. */
TDM_INLINE float tdm_silu(float x) { return x * tdm_sigmoid(x); }

/* tanh x = 1 - 2 z / (1 + z), z = e^-2|x|, with the sign of x. Below 0.625 that would lose digits, so an odd polynomial is
 * used. */
TDM_INLINE float tdm_tanh(float x) {
  float a = __builtin_fabsf(x), z = tdm_exp_nonpositive(-2 * a), s = x * x;
  float large = 1 - 2 * z * tdm_reciprocal_1_to_2(1 + z);
  float p = -0x1.752140p-8f;
  p = p * s + 0x1.52022ep-6f;
  p = p * s - 0x1.b837f0p-5f;
  p = p * s + 0x1.110710p-3f;
  p = p * s - 0x1.555532p-2f;
  float small = p * s * a + a;
  return __builtin_copysignf(a >= 0.625f ? large : small, x);
}

/* Below 0.875: x + x P(x^2). Above: 1 - e^(x Q(x)). From 4 on that is 1. */
TDM_INLINE float tdm_erf(float x) {
  float a = __builtin_fabsf(x), s = x * x;
  a = a > 4 ? 4 : a;
  float p = -0x1.453868p-11f;
  p = p * s + 0x1.49cfe6p-8f;
  p = p * s - 0x1.b6f5a4p-6f;
  p = p * s + 0x1.ce2158p-4f;
  p = p * s - 0x1.81270ep-2f;
  p = p * s + 0x1.06eba6p-3f;
  float q = 0x1.c2e386p-13f;
  q = q * a - 0x1.a67f36p-9f;
  q = q * a + 0x1.7779fap-6f;
  q = q * a - 0x1.af541ap-4f;
  q = q * a - 0x1.45788ep-1f;
  q = q * a - 0x1.20e6f6p+0f;
  float small = p * a + a, large = 1 - tdm_exp_nonpositive(a * q);
  return __builtin_copysignf(a < 0.875f ? small : large, x);
}

#endif
