#include <math.h>

#include "learn.h"

enum { SIDE = 256 };

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, SIDE, SIDE);
  a[1] = learn_input("a", CASE_F16, SIDE, size[0]);
  a[2] = learn_input("b", CASE_F16, SIDE, size[0]);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int e = 0; e < SIDE * SIDE; e++) {
    const double *a = in[1] + e / SIDE * size[0], *b = in[2] + e % SIDE * size[0];
    double sum = 0, absolute = 0;
    for (int64_t l = 0; l < size[0]; l++) {
      sum += a[l] * b[l];
      absolute += fabs(a[l] * b[l]);
    }
    value[e] = sum;
    bound[e] = learn_sum_bound(size[0], absolute);
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) { (void)size, (void)launch, (void)grid; }

const learn_exercise learn_ping_pong = {
    .name = "ping-pong",
    .title = "two groups of waves: one multiplies while the other one reads",
    .kernel = "product",
    .cut = "xcds=1,cus_per_xcd=1",
    .sizes = "k",
    .shapes = {{{1024}}, {{64}}, {{192}, .integers = true}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_MFMA_FLOPS, LEARN_AT_LEAST, 2.0 * 256 * 256 * 1024, "2 m n k FLOPs, all by matrix instructions."},
                {LEARN_PREDICTED, LEARN_AT_MOST, 68000,
                 "By the model of time, two groups in turns take 66900, and the same slots with all waves in step 78200."}},
};
