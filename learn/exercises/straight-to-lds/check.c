#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, 0, size[0]);
  a[1] = learn_input("in", CASE_F32, size[0], size[1]);
  a[2] = learn_input("w", CASE_F32, 0, size[1]);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++) {
    double sum = 0, absolute = 0;
    for (int64_t j = 0; j < size[1]; j++) {
      double product = in[1][i * size[1] + j] * in[2][j];
      sum += product;
      absolute += fabs(product);
    }
    value[i] = sum;
    bound[i] = learn_sum_bound(size[1], absolute);
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = learn_pieces(size[0], 64);
}

const learn_exercise learn_straight_to_lds = {
    .name = "straight-to-lds",
    .title = "load-to-LDS of 16 bytes, with a swizzle and two tiles",
    .kernel = "matrix_vector",
    .sizes = "rows columns",
    .device = "sim:gfx950",
    .shapes = {{{256, 512}}, {{1, 32}}, {{70, 96}}, {{64, 64}, .integers = true}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_CONFLICTS, LEARN_AT_MOST, 0,
                 "64 lanes of 16 bytes are four clocks on 64 banks: docs/guide/05-lds-banks.md has a place for each chunk."},
                {LEARN_LDS_INSTRUCTIONS, LEARN_AT_MOST, 4 * 16 * 8,
                 "A load-to-LDS needs no ds_write: what is left are 8 reads of 16 bytes for a tile."},
                {LEARN_PREDICTED, LEARN_AT_MOST, 37000,
                 "With one tile on its way about 48000 clocks, with two 33000, by docs/gfxsim-time.md's model. `start.hip` "
                 "takes 41600."}},
};
