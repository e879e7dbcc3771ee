#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, 0, 1);
  a[1] = learn_input("x", CASE_F32, 0, size[0]);
  a[2] = learn_input("y", CASE_F32, 0, size[0]);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  double absolute = 0;
  value[0] = 0;
  for (int64_t i = 0; i < size[0]; i++) {
    value[0] += in[1][i] * in[2][i];
    absolute += fabs(in[1][i] * in[2][i]);
  }
  bound[0] = learn_sum_bound(size[0], absolute);
}

const learn_exercise learn_omp_dot = {
    .name = "omp-dot",
    .title = "a sum that many threads make",
    .kernel = "dot",
    .c = true,
    .sizes = "n",
    /* Sums of a million numbers are rounded so often that a thread's lost addition is within the bound: those are of
     * integers. */
    .shapes = {{{1000003}, .integers = true}, {{1}}, {{7}}, {{4096}}},
    .arrays = arrays,
    .reference = reference,
};
