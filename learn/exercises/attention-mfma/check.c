#include <math.h>

#include "reference.h"

enum { D = 64 };

static int arrays(const int64_t *size, case_array *a) {
  int count = learn_attention_arrays(size, a);
  for (int n = 1; n < count; n++) a[n].element = CASE_F16;
  return count;
}

/* Probabilities are rounded to f16 before they meet v, and those below its normal numbers to a multiple of 2^-24. The sum is
 * of the rounded ones or of others. */
static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  learn_attention_reference(size, in, value, bound);
  for (int64_t h = 0; h < size[0]; h++)
    for (int d = 0; d < D; d++) {
      double most = 0;
      for (int64_t i = 0; i < size[1]; i++) {
        int64_t at = (h * size[1] + i) * D + d;
        most = fmax(most, fabs(in[3][at]));
        bound[at] += most * (ldexp(2, -11) + (double)(i + 1) * ldexp(2, -25));
      }
    }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[1], launch->tile[0]);
  grid[1] = (uint32_t)size[0];
}

const learn_exercise learn_attention_mfma = {
    .name = "attention-mfma",
    .title = "two products, and what a lane holds between them",
    .kernel = "attention",
    .tile = true,
    .sizes = "heads seq",
    .shapes = {{{1, 128}}, {{1, 1}}, {{2, 33}}, {{1, 65}}, {{1, 70}, 30}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    /* 16 x 16 tiles on and below the diagonal of 8 x 8, two products of 64 each */
    .targets = {{LEARN_MFMA_FLOPS, LEARN_AT_LEAST, 36 * 2 * 2 * 16 * 16 * 64,
                 "2 products of 2 x 16 x 16 x 64 FLOPs for each tile of 16 x 16 that the causal mask leaves."},
                {LEARN_VALU, LEARN_AT_MOST, 20000,
                 "On the vector unit each score of a query costs a wave about 15 instructions."},
                {LEARN_PREDICTED, LEARN_AT_MOST, 60000,
                 "By the model of time, the vector unit takes 183000 and the matrix unit 38000."}},
};
