#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0], size[1]);
  a[1] = learn_input("a", CASE_F32, size[0], size[2]);
  a[2] = learn_input("b", CASE_F32, size[1], size[2]);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  int64_t n = size[1], k = size[2];
  for (int64_t e = 0; e < size[0] * n; e++) {
    double sum = 0, absolute = 0;
    for (int64_t l = 0; l < k; l++) {
      double product = in[1][e / n * k + l] * in[2][e % n * k + l];
      sum += product;
      absolute += fabs(product);
    }
    value[e] = sum;
    bound[e] = learn_sum_bound(k, absolute);
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = (uint32_t)(size[0] * size[1]);
}

const learn_exercise learn_tile_order = {
    .name = "tile-order",
    .title = "an order of work for eight chiplets, a bijection for every count",
    .kernel = "scores",
    .sizes = "rows columns k xcds",
    .shapes = {{{16, 16, 512, 8}}, {{1, 1, 64, 8}}, {{3, 11, 64, 8}}, {{7, 9, 128, 8}}, {{5, 5, 64, 3}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_L2_MISSES, LEARN_AT_MOST, 8 * (4 + 8) * 512 * 4,
                 "Each of 8 L2s (CDNA 3 white paper) reads what its 32 elements need: for 4 x 8 elements that is 12 rows of "
                 "512 floats. "
                 "Which XCD a workgroup runs on is an assumption of ours: id % 8."}},
};
