#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, 0, size[1]);
  a[1] = learn_input("in", CASE_F32, size[0], size[1]);
  return 2;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t j = 0; j < size[1]; j++) {
    double sum = 0, absolute = 0;
    for (int64_t i = 0; i < size[0]; i++) {
      sum += in[1][i * size[1] + j];
      absolute += fabs(in[1][i * size[1] + j]);
    }
    value[j] = sum;
    bound[j] = learn_sum_bound(size[0], absolute);
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = learn_pieces(size[1], 64);
}

const learn_exercise learn_missing_wait = {
    .name = "missing-wait",
    .title = "find the wait that is too weak",
    .kernel = "column_sum",
    .sizes = "rows columns",
    .shapes = {{{32, 256}}, {{1, 1}}, {{7, 100}}, {{2, 64}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets =
        {{LEARN_PREDICTED, LEARN_AT_MOST, 32000,
          "One row after the other costs a load's latency for each of 32 rows: about 41000 clocks, with or without LDS. With "
          "two rows outstanding, it is about 26000. All of this is predicted by docs/gfxsim-time.md's model."}},
};
