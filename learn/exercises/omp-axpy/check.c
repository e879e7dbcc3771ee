#include "kernel.h"
#include "reference.h"

static void call(void (*kernel)(void), void *const *a, const int64_t *size) {
  ((__typeof__(axpy) *)kernel)(a[0], a[1], a[2], (int)size[0]);
}

const learn_exercise learn_omp_axpy = {
    .name = "omp-axpy",
    .title = "one loop for any number of teams and threads",
    .kernel = "axpy",
    .c = true,
    .sizes = "n",
    .shapes = {{{16384}}, {{1}}, {{63}}, {{1000}}, {{4097}}},
    .arrays = learn_axpy_arrays,
    .reference = learn_axpy_reference,
    .call = call,
};
