#include <math.h>

#include "kernel.h"
#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0], size[1]);
  a[1] = learn_input("x", CASE_F32, size[0], size[1]);
  a[2] = learn_input("w", CASE_F32, 0, size[1]);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++) {
    const double *x = in[1] + i * size[1];
    double squares = 0;
    for (int64_t j = 0; j < size[1]; j++) squares += x[j] * x[j];
    double scale = 1 / sqrt(squares / (double)size[1] + 1e-5);
    for (int64_t j = 0; j < size[1]; j++) {
      value[i * size[1] + j] = x[j] * scale * in[2][j];
      /* half the relative error of the sum, and six roundings behind it */
      bound[i * size[1] + j] = fabs(value[i * size[1] + j]) * (0.5 * learn_sum_bound(size[1], 1) + learn_sum_bound(6, 1));
    }
  }
}

static void call(void (*kernel)(void), void *const *a, const int64_t *size) {
  ((__typeof__(rmsnorm) *)kernel)(a[0], a[1], a[2], (int)size[0], (int)size[1]);
}

const learn_exercise learn_omp_rmsnorm = {
    .name = "omp-rmsnorm",
    .title = "rows for teams, columns for threads",
    .kernel = "rmsnorm",
    .c = true,
    .sizes = "rows columns",
    .shapes = {{{16, 1000}}, {{1, 1}}, {{3, 65}}, {{33, 7}}},
    .arrays = arrays,
    .reference = reference,
    .call = call,
};
