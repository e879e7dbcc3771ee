#include <math.h>

#include "learn.h"

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("c", CASE_F16, size[0], size[1]);
  a[0].input = true;
  a[1] = learn_input("a", CASE_F16, size[0], size[2]);
  a[2] = learn_input("b", CASE_F16, size[1], size[2]);
  return 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  int64_t n = size[1], k = size[2];
  for (int64_t e = 0; e < size[0] * n; e++) {
    const double *a = in[1] + e / n * k, *b = in[2] + e % n * k;
    double sum = size[3] ? in[0][e] : 0, absolute = fabs(sum);
    for (int64_t l = 0; l < k; l++) {
      sum += a[l] * b[l];
      absolute += fabs(a[l] * b[l]);
    }
    value[e] = sum;
    bound[e] = learn_sum_bound(k + 1, absolute);
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[1], launch->tile[1]);
  grid[1] = learn_pieces(size[0], launch->tile[0]);
}

const learn_exercise learn_llama_gemm = {
    .name = "llama-gemm",
    .title = "capstone: your product inside of a Llama",
    .kernel = "gemm",
    .model = "gemm",
    .tile = true,
    .sizes = "m n k add",
    /* down of a token, qkv of a token, k and v of a prompt, down of a prompt; then sizes that no model has */
    .shapes = {{{1, 64, 256, 1}}, {{1, 128, 64, 0}}, {{21, 64, 64, 0}}, {{21, 64, 256, 1}}, {{33, 70, 40, 1}}, {{1, 1, 8, 0}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_PREDICTED, LEARN_AT_MOST, 20000,
                 "By the model of time, one work-item for each element takes 52500, and four waves that share k take 9000."}},
};
