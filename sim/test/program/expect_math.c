#include "programs.h"
#include "sim/test/half_expect.h"

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

/* ---- f16 and bf16: each operation in f32, which holds it exactly or to twice the bits, then rounded ---- */

static float rounded(float value) { return (float)half_value(half_from(value)); }
static float half_of(uint32_t pair, int which) { return (float)half_value(which == 0 ? low(pair) : high(pair)); }

static void f16(int n) {
  for (int i = 0; i < n; i++) {
    float r[2];
    for (int h = 0; h < 2; h++) {
      float x = half_of(a[i], h), y = half_of(b[i], h);
      r[h] = rounded(rounded(x * y) + x);
      r[h] = rounded(r[h] - rounded(y * (h == 0 ? 0.5f : 3)));
    }
    r[0] = rounded(r[0] < half_of(b[i], 0) ? r[0] + 1 : r[0] * 2);
    r[1] = rounded(r[1] * 0.25f + half_of(a[i], 1));
    want[i] = (uint32_t)pair(half_from(r[0]), half_from(r[1]));
  }
}

static void bf16(int n) {
  for (int i = 0; i < n; i++) {
    float x = bfloat(bfloat_from(as_float(a[i]) * 1.7f)), y = bfloat(bfloat_from(as_float(b[i])));
    want[i] = (uint32_t)pair(bfloat_from(x * y + x), bfloat_from(y));
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
