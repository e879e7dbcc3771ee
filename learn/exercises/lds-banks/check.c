#include "reference.h"

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = learn_pieces(size[1], 32);
  grid[1] = learn_pieces(size[0], 32);
}

const learn_exercise learn_lds_banks = {
    .name = "lds-banks",
    .title = "a transpose through LDS without bank conflicts",
    .kernel = "transpose",
    .sizes = "rows columns",
    .device = "sim:gfx942",
    .shapes = {{{64, 96}}, {{1, 1}}, {{33, 70}}, {{100, 31}}},
    .arrays = learn_transpose_arrays,
    .reference = learn_transpose_reference,
    .grid = grid,
    .targets =
        {{LEARN_CONFLICTS, LEARN_AT_MOST, 0,
          "A bank serves one dword per clock: docs/gfxsim-profile.md, \"LDS\". 32 lanes in 32 banks need no second clock."},
         {LEARN_STORE_LINES, LEARN_AT_MOST, 64 * 96 * 4, "Rows of 64 floats are whole lines of 128 bytes, each written once."}},
};
