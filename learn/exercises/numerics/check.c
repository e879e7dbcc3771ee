#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, 0, size[0]);
  a[1] = learn_input("x", CASE_F16, size[0], size[1]);
  return 2;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++) {
    const double *x = in[1] + i * size[1];
    double most = x[0], sum = 0, weighted = 0;
    for (int64_t j = 1; j < size[1]; j++) most = fmax(most, x[j]);
    for (int64_t j = 0; j < size[1]; j++) {
      sum += exp(x[j] - most);
      weighted += exp(x[j] - most) * (most - x[j]);
    }
    value[i] = most + log(sum);
    /* a relative error of the sum is an absolute one of its log: of the sum, of e^d, which rounds d / log(2), and of what
     * follows */
    bound[i] = learn_sum_bound(size[1] + 32, 1) + learn_sum_bound(4, weighted / sum) + learn_sum_bound(8, fabs(value[i]));
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = (uint32_t)size[0];
}

const learn_exercise learn_numerics = {
    .name = "numerics",
    .title = "where sums are kept, and what overflows",
    .kernel = "log_sum_exp",
    .sizes = "rows columns",
    .shapes = {{{8, 4096}}, {{1, 1}}, {{3, 65}}, {{2, 1000}, 60}, {{2, 300}, 3000}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_LOADED, LEARN_AT_MOST, 8 * 4096 * 2, "Each score once, 2 bytes."}},
};
