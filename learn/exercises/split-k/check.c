#include <math.h>

#include "learn.h"

enum { SIDE = 16 };

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, SIDE, SIDE);
  a[0].input = true;
  a[1] = learn_input("a", CASE_F32, SIDE, size[0]);
  a[2] = learn_input("b", CASE_F32, SIDE, size[0]);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int e = 0; e < SIDE * SIDE; e++) {
    const double *a = in[1] + e / SIDE * size[0], *b = in[2] + e % SIDE * size[0];
    double sum = in[0][e], absolute = fabs(in[0][e]);
    for (int64_t l = 0; l < size[0]; l++) {
      sum += a[l] * b[l];
      absolute += fabs(a[l] * b[l]);
    }
    value[e] = sum;
    bound[e] = learn_sum_bound(size[0] + 1, absolute);
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)size;
  grid[0] = (uint32_t)launch->tile[0];
}

const learn_exercise learn_split_k = {
    .name = "split-k",
    .title = "many workgroups for a small result",
    .kernel = "product",
    .tile = true,
    .sizes = "k",
    /* a lost addition is no rounding: sums of integers are exact in any order */
    .shapes = {{{8192}, .integers = true}, {{64}}, {{192}, .integers = true}, {{4160}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets =
        {{LEARN_LONGEST, LEARN_AT_MOST, 1200,
          "256 CUs can share 8192 of k (CDNA 4 white paper). One wave alone needs more than 20000 instructions for them."},
         {LEARN_PREDICTED, LEARN_AT_MOST, 30000,
          "By the model of time, 64 workgroups take 16000, and one takes about a hundred times as long."}},
};
