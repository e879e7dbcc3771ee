#include <math.h>

#include "learn.h"

enum { SIDE = 16 };

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0] * SIDE, SIDE);
  a[1] = learn_input("a", CASE_F16, size[0] * SIDE, size[1]);
  a[2] = learn_input("b", CASE_F16, size[0] * size[1], SIDE);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  int64_t k = size[1];
  for (int64_t row = 0; row < size[0] * SIDE; row++)
    for (int j = 0; j < SIDE; j++) {
      double sum = 0, absolute = 0;
      for (int64_t l = 0; l < k; l++) {
        double product = in[1][row * k + l] * in[2][(row / SIDE * k + l) * SIDE + j];
        sum += product;
        absolute += fabs(product);
      }
      value[row * SIDE + j] = sum;
      bound[row * SIDE + j] = learn_sum_bound(k, absolute);
    }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = (uint32_t)size[0];
}

const learn_exercise learn_lds_transpose = {
    .name = "lds-transpose",
    .title = "a matrix instruction's operand from LDS, transposed as it is read",
    .kernel = "products",
    .sizes = "count k",
    .device = "sim:gfx950",
    .shapes = {{{8, 512}}, {{1, 32}}, {{7, 96}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_LOADS, LEARN_AT_MOST, 8 * 16 * 2,
                 "In a step of 32 of k, a wave's part of a and of b is one load of 16 bytes a lane each."},
                {LEARN_LDS_INSTRUCTIONS, LEARN_AT_MOST, 8 * 16 * 3,
                 "A step's part of b is one write of 16 bytes a lane, and two reads of 8 bytes that transpose."},
                {LEARN_LONGEST, LEARN_AT_MOST, 290,
                 "Nothing has to be put together: a step takes about 14 instructions. By hand it takes 23, or 19 at least."}},
};
