#include <math.h>
#include <stdlib.h>

#include "reference.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0], size[1]);
  a[1] = learn_input("x", CASE_F32, size[0], size[1]);
  a[2] = learn_input("r", CASE_F32, size[0], size[1]);
  a[3] = learn_input("w", CASE_F32, 0, size[1]);
  return 4;
}

/* The sum is rounded once more than the norm's own x: relative to |x| + |r|, which may be much more than |s|. */
static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++) {
    const double *x = in[1] + i * size[1], *r = in[2] + i * size[1];
    double squares = 0, errors = 0;
    for (int64_t j = 0; j < size[1]; j++) {
      squares += (x[j] + r[j]) * (x[j] + r[j]);
      errors += 2 * fabs(x[j] + r[j]) * learn_sum_bound(1, fabs(x[j] + r[j]));
    }
    double scale = 1 / sqrt(squares / (double)size[1] + 1e-5),
           relative = 0.5 * learn_sum_bound(size[1], 1) + learn_sum_bound(8, 1);
    if (squares > 0) relative += 0.5 * errors / squares;
    for (int64_t j = 0; j < size[1]; j++) {
      value[i * size[1] + j] = (x[j] + r[j]) * scale * in[3][j];
      bound[i * size[1] + j] = fabs(value[i * size[1] + j]) * relative;
    }
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = (uint32_t)size[0];
}

const learn_exercise learn_fusion = {
    .name = "fusion",
    .title = "a residual and a norm: a sum that never reaches memory",
    .kernel = "add_norm",
    .sizes = "rows columns",
    .shapes = {{{8, 2048}}, {{1, 1}}, {{3, 65}}, {{2, 1000}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_LOADED, LEARN_AT_MOST, 3 * 8 * 2048 * 4,
                 "x and r once, and w once for each row, 4 bytes each. The sum need not be loaded at all."},
                {LEARN_STORE_LINES, LEARN_AT_MOST, 8 * 2048 * 4, "Each line of out is written once."}},
};
