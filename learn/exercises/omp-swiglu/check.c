#include <math.h>

#include "kernel.h"
#include "learn.h"
#include "op.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0], size[1]);
  a[1] = learn_input("x", CASE_F32, size[0], size[2]);
  a[2] = learn_input("wg", CASE_F32, size[2], size[1]);
  a[3] = learn_input("wu", CASE_F32, size[2], size[1]);
  return 4;
}

static bound_estimate product(const double *x, const double *w, int64_t n, int64_t k) {
  double sum = 0, absolute = 0;
  for (int64_t l = 0; l < k; l++) {
    sum += x[l] * w[l * n];
    absolute += fabs(x[l] * w[l * n]);
  }
  return (bound_estimate){sum, learn_sum_bound(k, absolute)};
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  int64_t n = size[1], k = size[2];
  for (int64_t e = 0; e < size[0] * n; e++) {
    const double *x = in[1] + e / n * k;
    bound_estimate y = bound_gated(product(x, in[2] + e % n, n, k), product(x, in[3] + e % n, n, k));
    value[e] = y.value;
    bound[e] = y.error;
  }
}

static void call(void (*kernel)(void), void *const *a, const int64_t *size) {
  ((__typeof__(swiglu) *)kernel)(a[0], a[1], a[2], a[3], (int)size[0], (int)size[1], (int)size[2]);
}

const learn_exercise learn_omp_swiglu = {
    .name = "omp-swiglu",
    .title = "two products in one pass, and work for every thread",
    .kernel = "swiglu",
    .c = true,
    .sizes = "m n k",
    .shapes = {{{32, 64, 48}}, {{1, 1, 1}}, {{3, 35, 33}}, {{1, 200, 7}}},
    .arrays = arrays,
    .reference = reference,
    .call = call,
};
