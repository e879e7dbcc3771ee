#include "reference.h"

const learn_exercise learn_omp_swiglu = {
    .name = "omp-swiglu",
    .title = "two products in one pass, and work for every thread",
    .kernel = "swiglu",
    .c = true,
    .sizes = "m n k",
    .shapes = {{{32, 64, 48}}, {{1, 1, 1}}, {{3, 35, 33}}, {{1, 200, 7}}},
    .arrays = learn_swiglu_arrays,
    .reference = learn_swiglu_reference,
};
