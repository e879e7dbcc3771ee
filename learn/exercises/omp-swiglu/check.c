#include "kernel.h"
#include "reference.h"

static void call(void (*kernel)(void), void *const *a, const int64_t *size) {
  ((__typeof__(swiglu) *)kernel)(a[0], a[1], a[2], a[3], (int)size[0], (int)size[1], (int)size[2]);
}

const learn_exercise learn_omp_swiglu = {
    .name = "omp-swiglu",
    .title = "two products in one pass, and work for every thread",
    .kernel = "swiglu",
    .c = true,
    .sizes = "m n k",
    .shapes = {{{32, 64, 48}}, {{1, 1, 1}}, {{3, 35, 33}}, {{1, 200, 7}}},
    .arrays = learn_swiglu_arrays,
    .reference = learn_swiglu_reference,
    .call = call,
};
