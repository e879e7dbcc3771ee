#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0], size[1]);
  a[1] = learn_input("a", CASE_F32, size[0], size[2]);
  a[2] = learn_input("b", CASE_F32, size[2], size[1]);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  int64_t m = size[0], n = size[1], k = size[2];
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double sum = 0, absolute = 0;
      for (int64_t l = 0; l < k; l++) {
        double product = in[1][i * k + l] * in[2][l * n + j];
        sum += product;
        absolute += fabs(product);
      }
      value[i * n + j] = sum;
      bound[i * n + j] = learn_sum_bound(k, absolute);
    }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[1], launch->tile[1]);
  grid[1] = learn_pieces(size[0], launch->tile[0]);
}

const learn_exercise learn_occupancy = {
    .name = "occupancy",
    .title = "registers or waves: how large a block each work-item should have",
    .kernel = "product",
    .tile = true,
    .sizes = "m n k",
    .shapes = {{{128, 128, 8}}, {{1, 1, 1}}, {{33, 70, 5}}, {{130, 9, 17}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_LOADED, LEARN_AT_MOST, 2 * 128 * 128 * 8 / 8 * 4,
                 "A block of s x s loads 2 s values for s s products: 2 m n k / s values of 4 bytes, here with s = 8."},
                {LEARN_OCCUPANCY, LEARN_AT_LEAST, 4,
                 "512 registers per lane, shared by the waves of a SIMD (CDNA 4 ISA, VGPRs; docs/gfxsim-profile.md): 128 leave "
                 "room for 4."},
                {LEARN_SCRATCH, LEARN_AT_MOST, 0, "Registers that do not fit go to memory."}},
};
