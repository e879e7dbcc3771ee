#include "reference.h"

const learn_exercise learn_omp_tiles = {
    .name = "omp-tiles",
    .title = "a transpose by tiles, and their edges",
    .kernel = "transpose",
    .c = true,
    .sizes = "rows columns",
    .shapes = {{{64, 96}}, {{1, 1}}, {{100, 31}}, {{16, 17}}},
    .arrays = learn_transpose_arrays,
    .reference = learn_transpose_reference,
};
