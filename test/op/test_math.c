/* The functions of offload/device/math.h against the C library in f64: a part of all floats, and the special values.
 * `math STRIDE` measures every STRIDE-th float; 1 takes minutes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "offload/device/math.h"

enum { BLOCK = 4096 };

static uint64_t stride = 251; /* a prime: all exponents, and fractions of every kind */

/* Whole blocks, so that the vector code is what is measured. */
#define BLOCK_OF(function)                                                   \
  static void function##_block(float *restrict y, const float *restrict x) { \
    for (int i = 0; i < BLOCK; i++) y[i] = function(x[i]);                   \
  }
static float exp_nonpositive(float x) { return tdm_exp_nonpositive(-fabsf(x)); }
BLOCK_OF(tdm_exp)
BLOCK_OF(exp_nonpositive)
BLOCK_OF(tdm_log)
BLOCK_OF(tdm_sigmoid)
BLOCK_OF(tdm_silu)
BLOCK_OF(tdm_tanh)
BLOCK_OF(tdm_erf)

static double exp_nonpositive_f64(double x) { return exp(-fabs(x)); }
static double sigmoid_f64(double x) { return 1 / (1 + exp(-x)); }
static double silu_f64(double x) { return x / (1 + exp(-x)); }

typedef struct subject {
  const char *name;
  void (*block)(float *restrict, const float *restrict);
  double (*f64)(double);
  double ulps;     /* bound on |error| / (distance of floats at the value) */
  double absolute; /* bound on |error| */
  double least;    /* the distance is not taken smaller than at this value */
} subject;

static const subject subjects[] = {
    {"exp", tdm_exp_block, exp, 1.1, INFINITY, 0},
    {"exp, x <= 0", exp_nonpositive_block, exp_nonpositive_f64, 1.1, INFINITY, 0},
    {"log", tdm_log_block, log, 1, INFINITY, 0},
    {"sigmoid", tdm_sigmoid_block, sigmoid_f64, 2, 1e-7, 0},
    {"silu", tdm_silu_block, silu_f64, 4, INFINITY, 0x1p-119},
    {"tanh", tdm_tanh_block, tanh, 2, 1e-7, 0},
    {"erf", tdm_erf_block, erf, 2, 1e-7, 0},
};

/* The distance between floats at |y|. */
static double spacing(double y) {
  int exponent;
  frexp(y, &exponent);
  return ldexp(1, exponent < -125 ? -149 : exponent - 24);
}

/* Errors in ulps and absolute; a wrong NaN, infinity or sign of infinity is an infinite error. */
static void error_of(float got, double want, double least, double *ulps, double *absolute) {
  *ulps = *absolute = 0;
  if (isnan(want) && isnan(got)) return;
  if ((double)got == want || ((float)want == got && isinf(got))) return;
  *absolute = fabs(got - want);
  *ulps = *absolute / fmax(spacing(want), spacing(least));
  if (!(*absolute < INFINITY)) *absolute = *ulps = INFINITY;
}

static void test_errors(void **state) {
  (void)state;
  static float x[BLOCK], y[BLOCK];
  for (size_t s = 0; s < sizeof subjects / sizeof subjects[0]; s++) {
    double worst_ulps = 0, worst_absolute = 0;
    float at = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX;) {
      for (int i = 0; i < BLOCK; i++, bits += stride) x[i] = tdm_from_bits(bits <= UINT32_MAX ? (uint32_t)bits : 0);
      subjects[s].block(y, x);
      for (int i = 0; i < BLOCK; i++) {
        double ulps, absolute;
        error_of(y[i], subjects[s].f64(x[i]), subjects[s].least, &ulps, &absolute);
        if (absolute > worst_absolute) worst_absolute = absolute;
        if (ulps > worst_ulps) worst_ulps = ulps, at = x[i];
      }
    }
    print_message("%-11s %.3f ulp (at %a), %.2e\n", subjects[s].name, worst_ulps, (double)at, worst_absolute);
    assert_true(worst_ulps <= subjects[s].ulps);
    assert_true(worst_absolute <= subjects[s].absolute);
  }
}

static void test_special_values(void **state) {
  (void)state;
  const float infinity = INFINITY;
  for (size_t s = 0; s < sizeof subjects / sizeof subjects[0]; s++) {
    static float x[BLOCK], y[BLOCK];
    x[0] = NAN, x[1] = -NAN, x[2] = infinity, x[3] = -infinity, x[4] = 0, x[5] = -0.0f;
    subjects[s].block(y, x);
    for (int i = 0; i < 6; i++) {
      double want = subjects[s].f64(x[i]);
      if (isnan(want))
        assert_true(isnan(y[i]));
      else
        assert_true(y[i] == (float)want);
    }
  }
  assert_true(tdm_exp(-infinity) == 0 && tdm_exp(infinity) == infinity && tdm_exp(0) == 1);
  assert_true(tdm_log(0) == -infinity && isnan(tdm_log(-1)) && tdm_log(infinity) == infinity);
  assert_true(signbit(tdm_tanh(-0.0f)) && signbit(tdm_erf(-0.0f)));
}

int main(int argc, char **argv) {
  if (argc > 1) stride = strtoull(argv[1], NULL, 10);
  if (stride == 0) return fprintf(stderr, "math: STRIDE = %s: must be a number of at least 1\n", argv[1]), 2;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors), cmocka_unit_test(test_special_values)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
