#include "reference.h"

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = learn_pieces(size[1], 16);
  grid[1] = learn_pieces(size[0], 16);
}

const learn_exercise learn_swiglu = {
    .name = "swiglu",
    .title = "two products in one pass: FLOPs for each byte",
    .kernel = "swiglu",
    .sizes = "m n k",
    .shapes = {{{64, 64, 64}}, {{1, 1, 1}}, {{17, 35, 33}}, {{16, 5, 100}}},
    .arrays = learn_swiglu_arrays,
    .reference = learn_swiglu_reference,
    .grid = grid,
    .targets = {{LEARN_LOADED, LEARN_AT_MOST, 3 * (64 / 16) * 64 * 64 * 4,
                 "Each of the three matrices is read once for each of 4 rows or columns of tiles, and x is read once for both "
                 "products."},
                {LEARN_PREDICTED, LEARN_AT_MOST, 15000, "By the model of time, two passes take 18100 and one takes 13400."}},
};
