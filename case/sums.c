/* Sums of gemm's results with random signs. */
#include "sums.h"

#include <stdlib.h>
#include <string.h>

#include "gemm.h"
#include "op.h"

bool case_sums_apply(const tdm_case *c) { return c->op == &case_gemm && c->epilogue_steps == 0; }

static void add_matrix(case_sums *s, int64_t matrix) {
  const tdm_case *c = s->c;
  int64_t n = c->shape[1], k = c->shape[2];
  case_gemm_view b = case_gemm_b(c, s->arrays, s->inputs, matrix);
  double *norms = s->norms + matrix * s->blocks;
  for (int64_t p = 0; p < k; p++) {
    double *sums = s->products + (matrix * k + p) * s->blocks;
    for (int64_t j = 0; j < n; j++) {
      double x = case_gemm_get(&b, p, j);
      sums[j / CASE_SUM_COLUMNS] += s->sign[j] * x;
      norms[j / CASE_SUM_COLUMNS] += x * x;
    }
  }
  for (int64_t i = 0; i < s->blocks; i++) norms[i] = sqrt(norms[i]);
}

bool case_sums_open(case_sums *s, const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS]) {
  *s = (case_sums){.c = c, .arrays = arrays, .inputs = inputs};
  s->blocks = (c->shape[1] + CASE_SUM_COLUMNS - 1) / CASE_SUM_COLUMNS;
  size_t columns = (size_t)(c->batch * s->blocks);
  s->sign = malloc((size_t)c->shape[1] * sizeof *s->sign + 1);
  s->products = calloc(columns * (size_t)c->shape[2] + 1, sizeof *s->products);
  s->norms = calloc(columns + 1, sizeof *s->norms);
  if (s->sign == NULL || s->products == NULL || s->norms == NULL) return false;
  uint64_t key = case_mix(c->seed);
  for (int64_t j = 0; j < c->shape[1]; j++) s->sign[j] = case_mix(key + (uint64_t)j) >> 63 ? -1 : 1;
  for (int64_t matrix = 0; matrix < c->batch; matrix++) add_matrix(s, matrix);
  return true;
}

void case_sums_close(case_sums *s) {
  free(s->sign);
  free(s->products);
  free(s->norms);
}

void case_sums_row(const case_sums *s, int64_t row, double *value, double *error) {
  const tdm_case *c = s->c;
  int64_t n = c->shape[1], k = c->shape[2], matrix = row / c->shape[0];
  case_gemm_view a = case_gemm_a(c, s->arrays, s->inputs, matrix);
  double alpha = (double)(float)c->alpha, beta = (double)(float)c->beta, norm = 0;
  memset(value, 0, (size_t)s->blocks * sizeof *value);
  for (int64_t p = 0; p < k; p++) {
    double x = alpha * case_gemm_get(&a, row % c->shape[0], p);
    const double *products = s->products + (matrix * k + p) * s->blocks;
    norm += x * x;
    for (int64_t i = 0; i < s->blocks; i++) value[i] += x * products[i];
  }
  for (int64_t i = 0; i < s->blocks; i++)
    error[i] = case_sum_constant(c, k) * BOUND_U * sqrt(norm) * s->norms[matrix * s->blocks + i];
  if (beta == 0) return;
  case_gemm_view old = case_gemm_c(s->arrays, s->inputs, matrix);
  for (int64_t j = 0; j < n; j++) {
    double x = beta * case_gemm_get(&old, row % c->shape[0], j);
    value[j / CASE_SUM_COLUMNS] += s->sign[j] * x;
    error[j / CASE_SUM_COLUMNS] += BOUND_U * fabs(x); /* its own rounding */
  }
}

/* Half the distance from 1 to the next value of a type, and the same below its normal numbers. */
static double unit_of(case_element type, double *least) {
  *least = type == CASE_F16 ? 0x1p-25 : BOUND_TINY;
  return type == CASE_F16 ? 0x1p-11 : type == CASE_BF16 ? 0x1p-8 : BOUND_U;
}

/* The power of two at or below |x|, by which the distance to x's neighbours goes: x without its sign and fraction, as no
 * element's value is below the normal numbers of f64. */
static double power_below(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits &= UINT64_C(0x7ff) << 52;
  memcpy(&x, &bits, sizeof x);
  return x;
}

double case_sums_of(const case_sums *s, const void *data, int64_t block, double error, double *allowed) {
  const double t = 8;
  int64_t first = block * CASE_SUM_COLUMNS, n = s->c->shape[1];
  int64_t end = first + CASE_SUM_COLUMNS < n ? first + CASE_SUM_COLUMNS : n;
  case_element type = s->arrays[GEMM_C].element;
  double sum = 0, squares = 0, powers = 0, least, unit = unit_of(type, &least);
  for (int64_t j = first; j < end; j++) {
    double x = case_get(data, j, type);
    sum += s->sign[j] * x;
    double power = power_below(x);
    squares += x * x;
    powers += power * power;
  }
  /* The element's rounding to its type, and those of alpha, beta and their sum. A wrong element widens this by t units of
   * itself, a part of what it is off by. */
  *allowed = t * (error + unit * sqrt(powers) + 3 * BOUND_U * sqrt(squares) + least * sqrt((double)(end - first)));
  return sum;
}
