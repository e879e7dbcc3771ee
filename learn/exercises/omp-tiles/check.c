#include "kernel.h"
#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[1], size[0]);
  a[1] = learn_input("in", CASE_F32, size[0], size[1]);
  return 2;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++)
    for (int64_t j = 0; j < size[1]; j++) {
      value[j * size[0] + i] = in[1][i * size[1] + j];
      bound[j * size[0] + i] = 0;
    }
}

static void call(void (*kernel)(void), void *const *a, const int64_t *size) {
  ((__typeof__(transpose) *)kernel)(a[0], a[1], (int)size[0], (int)size[1]);
}

const learn_exercise learn_omp_tiles = {
    .name = "omp-tiles",
    .title = "a transpose by tiles, and their edges",
    .kernel = "transpose",
    .c = true,
    .sizes = "rows columns",
    .shapes = {{{64, 96}}, {{1, 1}}, {{100, 31}}, {{16, 17}}},
    .arrays = arrays,
    .reference = reference,
    .call = call,
};
