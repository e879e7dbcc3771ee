#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F16, size[0], size[1]);
  a[1] = learn_input("x", CASE_F16, size[0], size[1]);
  a[2] = learn_input("w", CASE_F16, 0, size[1]);
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

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = (uint32_t)size[0];
}

const learn_exercise learn_rmsnorm = {
    .name = "rmsnorm",
    .title = "every byte once, squares in f32",
    .kernel = "rmsnorm",
    .sizes = "rows columns",
    .shapes = {{{8, 1024}}, {{1, 1}}, {{3, 65}}, {{2, 1000}}, {{2, 512}, 300}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets =
        {{LEARN_LOADED, LEARN_AT_MOST, 2 * 8 * 1024 * 2,
          "Each element of x once, and of w once a row, 2 bytes each: memory is the limit of ops with few FLOPs a byte."}},
};
