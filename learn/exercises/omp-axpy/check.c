#include <math.h>

#include "kernel.h"
#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, 0, size[0]);
  a[1] = learn_input("x", CASE_F32, 0, size[0]);
  a[2] = learn_input("y", CASE_F32, 0, size[0]);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++) {
    double product = 2.5 * in[1][i];
    value[i] = product + in[2][i];
    bound[i] = learn_sum_bound(2, fabs(product) + fabs(in[2][i]));
  }
}

static void call(void (*kernel)(void), void *const *a, const int64_t *size) {
  ((__typeof__(axpy) *)kernel)(a[0], a[1], a[2], (int)size[0]);
}

const learn_exercise learn_omp_axpy = {
    .name = "omp-axpy",
    .title = "one loop for any number of teams and threads",
    .kernel = "axpy",
    .c = true,
    .sizes = "n",
    .shapes = {{{16384}}, {{1}}, {{63}}, {{1000}}, {{4097}}},
    .arrays = arrays,
    .reference = reference,
    .call = call,
};
