/* References and arrays of kernels that two exercises have, one in HIP and one in OpenMP. */
#include "reference.h"

#include <math.h>

#include "op.h"

/* ---- axpy: out = 2.5 x + y ---- */

int learn_axpy_arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, 0, size[0]);
  a[1] = learn_input("x", CASE_F32, 0, size[0]);
  a[2] = learn_input("y", CASE_F32, 0, size[0]);
  return 3;
}

void learn_axpy_reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++) {
    double product = 2.5 * in[1][i];
    value[i] = product + in[2][i];
    bound[i] = learn_sum_bound(2, fabs(product) + fabs(in[2][i]));
  }
}

/* ---- transpose: out[j][i] = in[i][j] ---- */

int learn_transpose_arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[1], size[0]);
  a[1] = learn_input("in", CASE_F32, size[0], size[1]);
  return 2;
}

void learn_transpose_reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++)
    for (int64_t j = 0; j < size[1]; j++) {
      value[j * size[0] + i] = in[1][i * size[1] + j];
      bound[j * size[0] + i] = 0;
    }
}

/* ---- rmsnorm: x w / sqrt(mean(x^2) + 1e-5) of each row ---- */

void learn_rmsnorm_reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t i = 0; i < size[0]; i++) {
    const double *x = in[1] + i * size[1];
    double squares = 0;
    for (int64_t j = 0; j < size[1]; j++) squares += x[j] * x[j];
    double scale = 1 / sqrt(squares / (double)size[1] + 1e-5);
    for (int64_t j = 0; j < size[1]; j++) {
      value[i * size[1] + j] = x[j] * scale * in[2][j];
      /* half the relative error of the sum, and six roundings after it */
      bound[i * size[1] + j] = fabs(value[i * size[1] + j]) * (0.5 * learn_sum_bound(size[1], 1) + learn_sum_bound(6, 1));
    }
  }
}

/* ---- swiglu: silu(x wg) * (x wu) ---- */

int learn_swiglu_arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, size[0], size[1]);
  a[1] = learn_input("x", CASE_F32, size[0], size[2]);
  a[2] = learn_input("wg", CASE_F32, size[2], size[1]);
  a[3] = learn_input("wu", CASE_F32, size[2], size[1]);
  return 4;
}

static bound_estimate product(const double *x, const double *w, int64_t n, int64_t k) {
  double sum = 0, absolute = 0;
  for (int64_t l = 0; l < k; l++) {
    sum += x[l] * w[l * n];
    absolute += fabs(x[l] * w[l * n]);
  }
  return (bound_estimate){sum, learn_sum_bound(k, absolute)};
}

void learn_swiglu_reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  int64_t n = size[1], k = size[2];
  for (int64_t e = 0; e < size[0] * n; e++) {
    const double *x = in[1] + e / n * k;
    bound_estimate y = bound_gated(product(x, in[2] + e % n, n, k), product(x, in[3] + e % n, n, k));
    value[e] = y.value;
    bound[e] = y.error;
  }
}

/* ---- attention: softmax(q k^T / 8) v of each head, causal ---- */

enum { D = 64 }; /* of a head */

int learn_attention_arrays(const int64_t *size, case_array *a) {
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
static void attention_row(const double *q, const double *k, const double *v, int64_t i, double *value, double *bound) {
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

void learn_attention_reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t h = 0; h < size[0]; h++) {
    int64_t head = h * size[1] * D;
    for (int64_t i = 0; i < size[1]; i++)
      attention_row(in[1] + head + i * D, in[2] + head, in[3] + head, i, value + head + i * D, bound + head + i * D);
  }
}
