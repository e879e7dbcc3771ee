#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("c", CASE_F32, 0, size[0]);
  a[1] = learn_input("a", CASE_F32, 0, size[0]);
  a[2] = learn_input("b", CASE_F32, 0, size[0]);
  return 3;
}

/* One sum, rounded once. */
static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++) {
    value[i] = in[1][i] + in[2][i];
    bound[i] = 0;
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[0], 4 * (int64_t)launch->block);
}

const learn_exercise learn_wide_loads = {
    .name = "wide-loads",
    .title = "sixteen bytes per lane, and a tail that is not a multiple of four",
    .kernel = "add",
    .sizes = "n",
    .shapes = {{{32768}}, {{1}}, {{4}}, {{1023}}, {{4098}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_LOADS, LEARN_AT_MOST, 2 * 32768 / 256,
                 "A wave loads at most 64 x 16 bytes with one instruction (CDNA 4 ISA, GLOBAL_LOAD_DWORDX4): 256 floats."}},
};
