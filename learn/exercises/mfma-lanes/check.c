#include <math.h>

#include "learn.h"

enum { SIDE = 16 };

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0] * SIDE, SIDE);
  a[1] = learn_input("a", CASE_F16, size[0] * SIDE, SIDE);
  a[2] = learn_input("b", CASE_F16, size[0] * SIDE, SIDE);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t row = 0; row < size[0] * SIDE; row++)
    for (int j = 0; j < SIDE; j++) {
      double sum = 0, absolute = 0;
      for (int l = 0; l < SIDE; l++) {
        double product = in[1][row * SIDE + l] * in[2][(row / SIDE * SIDE + l) * SIDE + j];
        sum += product;
        absolute += fabs(product);
      }
      value[row * SIDE + j] = sum;
      bound[row * SIDE + j] = learn_sum_bound(SIDE, absolute);
    }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = (uint32_t)size[0];
}

const learn_exercise learn_mfma_lanes = {
    .name = "mfma-lanes",
    .title = "a matrix instruction: which lane holds which element",
    .kernel = "tiles",
    .sizes = "count",
    .shapes = {{{64}}, {{1}}, {{7}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_MFMA_FLOPS, LEARN_AT_LEAST, 64 * 2 * 16 * 16 * 16, "2 m n k FLOPs of each product."},
                {LEARN_VALU, LEARN_AT_MOST, 64 * 40,
                 "On the vector unit a wave needs 64 instructions for 4096 products. The addresses of a lane need about 20."},
                {LEARN_PREDICTED, LEARN_AT_MOST, 9000,
                 "By the model of time, a wave without matrix instructions takes 11900, and one with them 6600."}},
};
