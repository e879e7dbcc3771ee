#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0], size[1]);
  a[1] = learn_input("a", CASE_F16, size[0], size[2]);
  a[2] = learn_input("b", CASE_F16, size[1], size[2]);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  int64_t n = size[1], k = size[2];
  for (int64_t e = 0; e < size[0] * n; e++) {
    const double *a = in[1] + e / n * k, *b = in[2] + e % n * k;
    double sum = 0, absolute = 0;
    for (int64_t l = 0; l < k; l++) {
      sum += a[l] * b[l];
      absolute += fabs(a[l] * b[l]);
    }
    value[e] = sum;
    bound[e] = learn_sum_bound(k, absolute);
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[1], launch->tile[1]);
  grid[1] = learn_pieces(size[0], launch->tile[0]);
}

const learn_exercise learn_gemm = {
    .name = "gemm",
    .title = "the open challenge: few predicted clocks",
    .kernel = "gemm",
    .tile = true,
    .open = true,
    .cut = "xcds=1,cus_per_xcd=1",
    .sizes = "m n k",
    .shapes = {{{128, 128, 128}}, {{1, 1, 8}}, {{65, 33, 40}}, {{100, 130, 24}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets =
        {{LEARN_FLOOR, LEARN_AT_MOST, 4200,
          "A simple kernel with tiles of 64 x 64 and the matrix unit needs less. The matrix unit alone needs 1024 on gfx950: "
          "128^3 x 2 FLOPs, 4 SIMDs, 16384 FLOPs in 16 clocks (16x16x32)."},
         {LEARN_PREDICTED, LEARN_AT_MOST, 18000,
          "The same simple kernel takes 15000 by the model of time: what it waits for is three times what its pipes need."}},
};
