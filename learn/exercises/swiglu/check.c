#include <math.h>

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

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = learn_pieces(size[1], 16);
  grid[1] = learn_pieces(size[0], 16);
}

const learn_exercise learn_swiglu = {
    .name = "swiglu",
    .title = "two products in one pass: FLOPs for each byte",
    .kernel = "swiglu",
    .sizes = "m n k",
    .shapes = {{{64, 64, 64}}, {{1, 1, 1}}, {{17, 35, 33}}, {{16, 5, 100}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets =
        {{LEARN_LOADED, LEARN_AT_MOST, 3 * (64 / 16) * 64 * 64 * 4,
          "Each of the three matrices is read once for each of 4 rows or columns of tiles; x for both products at once."}},
};
