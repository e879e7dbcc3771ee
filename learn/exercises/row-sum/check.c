#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, 0, size[0]);
  a[1] = learn_input("in", CASE_F32, size[0], size[1]);
  return 2;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++) {
    double sum = 0, absolute = 0;
    for (int64_t j = 0; j < size[1]; j++) {
      sum += in[1][i * size[1] + j];
      absolute += fabs(in[1][i * size[1] + j]);
    }
    value[i] = sum;
    bound[i] = learn_sum_bound(size[1], absolute);
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = (uint32_t)size[0];
}

const learn_exercise learn_row_sum = {
    .name = "row-sum",
    .title = "a reduction: lanes, waves, a workgroup",
    .kernel = "row_sum",
    .sizes = "rows columns",
    .shapes = {{{16, 1024}}, {{1, 1}}, {{3, 63}}, {{5, 1000}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_LONGEST, LEARN_AT_MOST, 200,
                 "A wave does 4 loads and 6 exchanges, and adds 4 wave sums. 255 additions one after the other are too many."},
                {LEARN_PREDICTED, LEARN_AT_MOST, 12000,
                 "By the model of time, one lane that adds takes 13500, and exchanges 10500."}},
};
