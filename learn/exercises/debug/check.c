#include <math.h>

#include "learn.h"
#include "op.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0], size[1]);
  a[1] = learn_input("in", CASE_F32, size[0], size[1]);
  return 2;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++) {
    const double *x = in[1] + i * size[1];
    double most = x[0], sum = 0;
    for (int64_t j = 0; j < size[1]; j++) most = fmax(most, x[j]);
    for (int64_t j = 0; j < size[1]; j++) sum += exp(x[j] - most);
    for (int64_t j = 0; j < size[1]; j++) {
      double p = exp(x[j] - most) / sum;
      value[i * size[1] + j] = p;
      /* of the exponent's rounding |x - most| u, of exp and the quotient a few, and of the sum; least of all f32's least number
       */
      bound[i * size[1] + j] = p * (2 * fabs(x[j] - most) * BOUND_U + learn_sum_bound(size[1] + 4, 1)) + BOUND_TINY;
    }
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = (uint32_t)size[0];
}

const learn_exercise learn_debug = {
    .name = "debug",
    .title = "four mistakes, one after the other: compiler, bounds, order, numbers",
    .kernel = "softmax",
    .sizes = "rows columns",
    .shapes = {{{4, 700}}, {{1, 1}}, {{3, 65}}, {{2, 300}, 100}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
};
