#include <math.h>

#include "learn.h"
#include "op.h"

enum { D = 64 };

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0] * size[1], D);
  a[1] = learn_input("q", CASE_F32, size[0] * size[1], D);
  a[2] = learn_input("k", CASE_F32, size[0] * size[1], D);
  a[3] = learn_input("v", CASE_F32, size[0] * size[1], D);
  return 4;
}

/* q k / 8, and the error of it in f32. */
static double score(const double *q, const double *k, double *error) {
  double sum = 0, absolute = 0;
  for (int d = 0; d < D; d++) {
    sum += q[d] * k[d];
    absolute += fabs(q[d] * k[d]);
  }
  *error = learn_sum_bound(D, absolute) / 8;
  return sum / 8;
}

/* One query: keys 0 .. i of its head. A probability's relative error is its exponent's absolute one. */
static void row(const double *q, const double *k, const double *v, int64_t i, double *value, double *bound) {
  double most = -(double)INFINITY, sum = 0, error, worst = 0;
  for (int64_t j = 0; j <= i; j++) {
    most = fmax(most, score(q, k + j * D, &error));
    worst = fmax(worst, error);
  }
  for (int d = 0; d < D; d++) value[d] = bound[d] = 0;
  for (int64_t j = 0; j <= i; j++) {
    double p = exp(score(q, k + j * D, &error) - most);
    sum += p;
    for (int d = 0; d < D; d++) {
      value[d] += p * v[j * D + d];
      bound[d] += p * fabs(v[j * D + d]);
    }
  }
  /* both of numerator and denominator; and the roundings of exp, of the rescaling and of the two sums */
  double relative = 4 * worst + learn_sum_bound(16 * (i + 1), 1);
  for (int d = 0; d < D; d++) {
    value[d] /= sum;
    bound[d] *= relative / sum;
  }
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t h = 0; h < size[0]; h++) {
    int64_t head = h * size[1] * D;
    for (int64_t i = 0; i < size[1]; i++)
      row(in[1] + head + i * D, in[2] + head, in[3] + head, i, value + head + i * D, bound + head + i * D);
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[1], launch->tile[0]);
  grid[1] = (uint32_t)size[0];
}

const learn_exercise learn_attention = {
    .name = "attention",
    .title = "tiles, a causal mask, and numbers that stay finite",
    .kernel = "attention",
    .tile = true,
    .sizes = "heads seq",
    .shapes = {{{1, 128}}, {{1, 1}}, {{2, 33}}, {{1, 65}}, {{1, 70}, 30}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
    /* queries 0-63 need one tile of 64 keys, 64-127 two: 12 of them, K and V, beside Q */
    .targets = {{LEARN_LOADED, LEARN_AT_MOST, (12 * 64 * 2 + 128) * 64 * 4,
                 "16 queries share each tile of 64 keys and values, and no tile behind the last query is read."}},
};
