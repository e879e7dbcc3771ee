#include <math.h>

#include "programs.h"

/* ---- binary16 ---- */

float half_round(float value) {
  int exponent;
  frexpf(value, &exponent); /* 11 bits; below 2^-14 multiples of 2^-24 */
  float quantum = ldexpf(1, (exponent < -13 ? -13 : exponent) - 11);
  float rounded = rintf(value / quantum) * quantum;
  return fabsf(rounded) > 65504 ? copysignf(INFINITY, value) : rounded;
}

uint16_t half_bits(float value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  float size = fabsf(value);
  int exponent;
  if (isinf(value)) return sign | 0x7c00;
  if (size < 0x1p-14f) return (uint16_t)(sign | (int)(size * 0x1p24f));
  float fraction = frexpf(size, &exponent);
  return (uint16_t)(sign | (exponent + 14) << 10 | ((int)(fraction * 0x1p11f) & 0x3ff));
}

float half_value(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  float fraction = (float)(bits & 0x3ff);
  float size = exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                              : ldexpf(exponent == 0 ? fraction : fraction + 1024, (exponent == 0 ? 1 : exponent) - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

/* ---- Expectations ---- */

static void f32(int n) {
  for (int i = 0; i < n; i++) {
    float x = as_float(a[i]), y = as_float(b[i]);
    float r = x * y + x;
    r = fmaf(r, y, x) / (y * y + 0.5f);
    r += sqrtf(fabsf(x)) - floorf(y) + rintf(x * 4) * truncf(y);
    r += x < y ? fminf(x, 2 * y) : fmaxf(x, y / 3);
    want[i] = float_bits(r + (float)(int)(x * 100) - (float)(unsigned)(fabsf(y) * 10));
  }
}

static void f64(int n) {
  for (int i = 0; i < n; i++) {
    double x = as_float(a[i]), y = as_float(b[i]), r = 1;
    for (int k = 12; k > 0; k--) r = fma(r * x, 1.0 / k, 1);
    r = r / (y * y + 1.25) + sqrt(x * x + y * y) - floor(x * 8) * 0.125 + (double)(int)(y * 7);
    r = r > 2 ? fmax(r, x) : fmin(r, y);
    uint64_t bits;
    memcpy(&bits, &r, sizeof bits);
    want[i] = (uint32_t)bits + (uint32_t)(bits >> 32) * 3 + (uint32_t)(int64_t)(r * 1e6);
  }
}

static void approximate(int n) {
  const double turn = 6.283185307179586;
  for (int i = 0; i < n; i++) {
    double x = as_float(a[i]), y = (double)(as_float(b[i]) * as_float(b[i])) + 0.25;
    want[i] = float_bits((float)(exp2(x) + log2(y) + 1 / y + 1 / sqrt(y) + sqrt(y) + sin(turn * x) + cos(turn * x) + 16));
  }
}

static void parts(int n) {
  for (int i = 0; i < n; i++) {
    int exponent;
    float fraction = frexpf(as_float(b[i]) + 3, &exponent), x = as_float(a[i]);
    want[i] = float_bits(x - floorf(x) + ldexpf(fraction, exponent % 5) + (float)exponent + copysignf(as_float(b[i]), x));
  }
}

static float half_of(uint32_t pair, int which) { return half_value((uint16_t)(pair >> (16 * which))); }

static void f16(int n) {
  for (int i = 0; i < n; i++) {
    float r[2];
    for (int h = 0; h < 2; h++) {
      float x = half_of(a[i], h), y = half_of(b[i], h);
      r[h] = half_round(half_round(x * y) + x);
      r[h] = half_round(r[h] - half_round(y * (h == 0 ? 0.5f : 3)));
    }
    r[0] = half_round(r[0] < half_of(b[i], 0) ? r[0] + 1 : r[0] * 2);
    r[1] = half_round(r[1] * 0.25f + half_of(a[i], 1));
    want[i] = half_bits(r[0]) | (uint32_t)half_bits(r[1]) << 16;
  }
}

/* The upper half of the bits, rounded to nearest even. */
static uint32_t bf16_bits(float value) {
  uint32_t bits = float_bits(value);
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
static float bf16_round(float value) { return as_float(bf16_bits(value) << 16); }

static void bf16(int n) {
  for (int i = 0; i < n; i++) {
    float x = bf16_round(as_float(a[i]) * 1.7f), y = bf16_round(as_float(b[i]));
    want[i] = bf16_bits(x * y + x) | bf16_bits(y) << 16;
  }
}

/* Relative error of 2^-19 for sums of 7 instructions that are each specified to about an ulp (2^-23). */
const program math_programs[] = {
    {"f32", {4, 1, 1}, {256, 1, 1}, 1000, 1000, f32, FILL_FLOATS},
    {"f64", {4, 1, 1}, {256, 1, 1}, 1000, 1000, f64, FILL_FLOATS},
    {"approximate", {4, 1, 1}, {256, 1, 1}, 1000, 1000, approximate, FILL_FLOATS, .tolerance = 0x1p-19f},
    {"parts", {4, 1, 1}, {256, 1, 1}, 1000, 1000, parts, FILL_FLOATS},
    {"f16", {4, 1, 1}, {256, 1, 1}, 1000, 1000, f16, FILL_HALVES},
    {"bf16", {4, 1, 1}, {256, 1, 1}, 1000, 1000, bf16, FILL_FLOATS},
    {0},
};
