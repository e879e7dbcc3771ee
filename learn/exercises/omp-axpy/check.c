#include "reference.h"

const learn_exercise learn_omp_axpy = {
    .name = "omp-axpy",
    .title = "one loop for any number of teams and threads",
    .kernel = "axpy",
    .c = true,
    .sizes = "n",
    .shapes = {{{16384}}, {{1}}, {{63}}, {{1000}}, {{4097}}},
    .arrays = learn_axpy_arrays,
    .reference = learn_axpy_reference,
};
