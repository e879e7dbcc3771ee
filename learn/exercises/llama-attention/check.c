#include <math.h>

#include "learn.h"

enum { D = 16 }; /* of a head, as in tiny-llama's preset tiny */

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F16, size[0], size[2] * D);
  a[1] = learn_input("q", CASE_F16, size[0], size[2] * D);
  a[2] = learn_input("kv", CASE_F16, size[1], 2 * size[3] * D);
  return 3;
}

static double score(const double *q, const double *k, double *error) {
  double sum = 0, absolute = 0;
  for (int d = 0; d < D; d++) {
    sum += q[d] * k[d];
    absolute += fabs(q[d] * k[d]);
  }
  *error = learn_sum_bound(D, absolute) / 4;
  return sum / 4;
}

/* Keys 0 to count - 1, `stride` elements apart; a key's value stands `values` elements before it. A probability's relative
 * error is its exponent's absolute one. A kernel may round probabilities to f16 for the matrix unit, as attention-mfma does. */
static void row(const double *q, const double *k, int64_t values, int64_t stride, int64_t count, double *value, double *bound) {
  double most = -(double)INFINITY, sum = 0, error, worst = 0, largest = 0;
  for (int64_t j = 0; j < count; j++) {
    most = fmax(most, score(q, k + j * stride, &error));
    worst = fmax(worst, error);
  }
  for (int d = 0; d < D; d++) value[d] = bound[d] = 0;
  for (int64_t j = 0; j < count; j++) {
    double p = exp(score(q, k + j * stride, &error) - most);
    sum += p;
    for (int d = 0; d < D; d++) {
      double v = k[j * stride - values + d];
      value[d] += p * v;
      bound[d] += p * fabs(v);
      largest = fmax(largest, fabs(v));
    }
  }
  double relative = 4 * worst + learn_sum_bound(16 * count, 1), rounded = ldexp(2, -11) + (double)count * ldexp(2, -25);
  for (int d = 0; d < D; d++) {
    value[d] /= sum;
    bound[d] = bound[d] * relative / sum + largest * rounded;
  }
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  int64_t queries = size[0], keys = size[1], heads = size[2], kv_heads = size[3];
  for (int64_t i = 0; i < queries; i++)
    for (int64_t h = 0; h < heads; h++) {
      int64_t at = (i * heads + h) * D, key = (kv_heads + h / (heads / kv_heads)) * D;
      row(in[1] + at, in[2] + key, kv_heads * D, 2 * kv_heads * D, i + 1 + keys - queries, value + at, bound + at);
    }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[0], launch->tile[0]);
  grid[1] = (uint32_t)size[2];
}

const learn_exercise learn_llama_attention = {
    .name = "llama-attention",
    .title = "capstone: your attention inside of a Llama",
    .kernel = "attention",
    .model = "attention",
    .tile = true,
    .sizes = "queries keys heads kv_heads",
    /* a token after 99, a prompt, a first token; then a prompt after a prompt, many keys, large scores */
    .shapes = {{{1, 100, 4, 2}}, {{21, 21, 4, 2}}, {{1, 1, 4, 2}}, {{5, 12, 6, 2}}, {{1, 300, 2, 1}}, {{9, 70, 4, 4}, 8}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    .targets = {{LEARN_PREDICTED, LEARN_AT_MOST, 60000,
                 "By the model of time, one work-item for a query takes 350000, and a lane for each key takes 16300."}},
};
