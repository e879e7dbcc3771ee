#include "reference.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0], size[1]);
  a[1] = learn_input("x", CASE_F32, size[0], size[1]);
  a[2] = learn_input("w", CASE_F32, 0, size[1]);
  return 3;
}

const learn_exercise learn_omp_rmsnorm = {
    .name = "omp-rmsnorm",
    .title = "rows for teams, columns for threads",
    .kernel = "rmsnorm",
    .c = true,
    .sizes = "rows columns",
    .shapes = {{{16, 1000}}, {{1, 1}}, {{3, 65}}, {{33, 7}}},
    .arrays = arrays,
    .reference = learn_rmsnorm_reference,
};
