#include "reference.h"

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[0], launch->block);
}

const learn_exercise learn_axpy = {
    .name = "axpy",
    .title = "a first kernel: work-items, the size of a workgroup, a tail",
    .kernel = "axpy",
    .sizes = "n",
    .shapes = {{{16384}}, {{1}}, {{63}}, {{1000}}, {{4097}}},
    .arrays = learn_axpy_arrays,
    .reference = learn_axpy_reference,
    .grid = grid,
    .targets = {{LEARN_WAVES, LEARN_AT_MOST, 16384 / 64,
                 "A wave has 64 lanes. It costs the same if some of them have no work."}},
};
