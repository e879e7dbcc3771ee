#include <math.h>

#include "kernel.h"
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

static void call(void (*kernel)(void), void *const *a, const int64_t *size) {
  ((__typeof__(attention) *)kernel)(a[0], a[1], a[2], a[3], (int)size[0], (int)size[1]);
}

const learn_exercise learn_omp_attention = {
    .name = "omp-attention",
    .title = "an online softmax: no matrix of scores, finite numbers",
    .kernel = "attention",
    .c = true,
    .sizes = "heads seq",
    .shapes = {{{2, 96}}, {{1, 1}}, {{3, 33}}, {{1, 70}, 30}},
    .arrays = arrays,
    .reference = reference,
    .call = call,
};
