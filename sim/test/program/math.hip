#include "../device_code.h"

/* One rounding an operation, as in the C functions. */
#pragma clang fp contract(off)

/* Sums and products with one rounding each, division, square root: f32 as IEEE 754 says, denormals too. */
KERNEL void f32(const float *a, const float *b, float *c, int n) {
  int i = item_x();
  if (i >= n) return;
  float x = a[i], y = b[i];
  float r = x * y + x;
  r = __builtin_fmaf(r, y, x) / (y * y + 0.5f);
  r += __builtin_sqrtf(__builtin_fabsf(x)) - __builtin_floorf(y) + __builtin_rintf(x * 4) * __builtin_truncf(y);
  r += x < y ? __builtin_fminf(x, 2 * y) : __builtin_fmaxf(x, y / 3);
  c[i] = r + (float)(int)(x * 100) - (float)(unsigned)(__builtin_fabsf(y) * 10);
}

/* A polynomial, division and square root in f64; the sum of both halves of the result. */
KERNEL void f64(const float *a, const float *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  double x = a[i], y = b[i], r = 1;
  for (int k = 12; k > 0; k--) r = __builtin_fma(r * x, 1.0 / k, 1);
  r = r / (y * y + 1.25) + __builtin_sqrt(x * x + y * y) - __builtin_floor(x * 8) * 0.125 + (double)(int)(y * 7);
  r = r > 2 ? __builtin_fmax(r, x) : __builtin_fmin(r, y);
  unsigned long long bits;
  __builtin_memcpy(&bits, &r, sizeof bits);
  c[i] = (unsigned)bits + (unsigned)(bits >> 32) * 3 + (unsigned)(long long)(r * 1e6);
}

/* The instructions that are specified to an error: exp2, log2, rcp, rsq, sqrt, sin, cos. */
KERNEL void approximate(const float *a, const float *b, float *c, int n) {
  int i = item_x();
  if (i >= n) return;
  float x = a[i], y = b[i] * b[i] + 0.25f;
  c[i] = __builtin_amdgcn_exp2f(x) + __builtin_amdgcn_logf(y) + __builtin_amdgcn_rcpf(y) + __builtin_amdgcn_rsqf(y) +
         __builtin_amdgcn_sqrtf(y) + __builtin_amdgcn_sinf(x) + __builtin_amdgcn_cosf(x) + 16;
}

/* Exponents and fractions taken apart and put together. */
KERNEL void parts(const float *a, const float *b, float *c, int n) {
  int i = item_x();
  if (i >= n) return;
  int e = __builtin_amdgcn_frexp_expf(b[i] + 3);
  float m = __builtin_amdgcn_frexp_mantf(b[i] + 3);
  c[i] = __builtin_amdgcn_fractf(a[i]) + __builtin_ldexpf(m, e % 5) + (float)e + __builtin_copysignf(b[i], a[i]);
}

/* f16: one rounding an operation; packed pairs. */
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
KERNEL void f16(const half2 *a, const half2 *b, half2 *c, int n) {
  int i = item_x();
  if (i >= n) return;
  half2 x = a[i], y = b[i], r = x * y + x;
  r = r - y * (half2){(_Float16)0.5f, (_Float16)3};
  r.x = r.x < y.x ? r.x + (_Float16)1 : r.x * (_Float16)2;
  r.y = (_Float16)((float)r.y * 0.25f + (float)x.y);
  c[i] = r;
}

/* bf16: rounded to nearest even, and back. */
KERNEL void bf16(const float *a, const float *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  __bf16 x = (__bf16)(a[i] * 1.7f), y = (__bf16)b[i];
  __bf16 sum = (__bf16)((float)x * (float)y + (float)x);
  unsigned short lo, hi;
  __builtin_memcpy(&lo, &sum, 2);
  __builtin_memcpy(&hi, &y, 2);
  c[i] = lo | (unsigned)hi << 16;
}
