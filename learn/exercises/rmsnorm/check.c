#include "reference.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F16, size[0], size[1]);
  a[1] = learn_input("x", CASE_F16, size[0], size[1]);
  a[2] = learn_input("w", CASE_F16, 0, size[1]);
  return 3;
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = (uint32_t)size[0];
}

const learn_exercise learn_rmsnorm = {
    .name = "rmsnorm",
    .title = "every byte once, squares in f32",
    .kernel = "rmsnorm",
    .sizes = "rows columns",
    .shapes = {{{8, 1024}}, {{1, 1}}, {{3, 65}}, {{2, 1000}}, {{2, 512}, 300}},
    .arrays = arrays,
    .reference = learn_rmsnorm_reference,
    .grid = grid,
    .targets =
        {{LEARN_LOADED, LEARN_AT_MOST, 2 * 8 * 1024 * 2,
          "Each element of x once, and of w once per row, 2 bytes each: memory is the limit of ops with few FLOPs per byte."}},
};
