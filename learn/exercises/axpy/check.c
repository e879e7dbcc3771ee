#include <math.h>

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

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[0], launch->block);
}

const learn_exercise learn_axpy = {
    .name = "axpy",
    .title = "a first kernel: work-items, the size of a workgroup, a tail",
    .kernel = "axpy",
    .sizes = "n",
    .shapes = {{{16384}}, {{1}}, {{63}}, {{1000}}, {{4097}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_WAVES, LEARN_AT_MOST, 16384 / 64,
                 "A wave has 64 lanes, and costs the same when some of them have no work."}},
};
