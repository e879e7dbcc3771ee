#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0], size[1]);
  a[1] = learn_input("in", CASE_F32, size[0], size[1]);
  a[2] = learn_input("factor", CASE_F32, 0, size[0]);
  return 3;
}

/* One product, rounded once. */
static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t e = 0; e < size[0] * size[1]; e++) {
    value[e] = in[2][e / size[1]] * in[1][e];
    bound[e] = 0;
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[0] * size[1], launch->block);
}

const learn_exercise learn_coalesce = {
    .name = "coalesce",
    .title = "columns or rows: which work-item reads which address",
    .kernel = "scale_rows",
    .sizes = "rows columns",
    .shapes = {{{64, 128}}, {{1, 1}}, {{37, 65}}, {{130, 3}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    /* 64 x 128 floats are 128 waves; each reads a line of `factor`, too */
    .targets =
        {{LEARN_LOAD_LINES, LEARN_AT_MOST, 64 * 128 * 4 + 128 * 128,
          "The L2 and memory move lines of 128 bytes (CDNA 3 white paper): each line of `in` once, one of `factor` per wave."},
         {LEARN_STORE_LINES, LEARN_AT_MOST, 64 * 128 * 4, "Each line of `out` once."}},
};
