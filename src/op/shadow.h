/* What the bounds of several ops are made of, for shadow runs: elements of the inputs, sums of products, sums of exponentials.
 */
#ifndef TANDEM_OP_SHADOW_H
#define TANDEM_OP_SHADOW_H

#include "src/base/bound.h"
#include "src/base/elem.h"
#include "src/dispatch/op.h"

static inline shadow_view shadow_matrix(int buffer, int64_t rows, int64_t cols, int64_t leading, tdm_type type) {
  return (shadow_view){.buffer = buffer, .rank = 2, .dim = {rows, cols}, .stride = {leading, 1}, .type = type};
}

static inline double shadow_element(const shadow_row *r, int buffer, int64_t at, tdm_type type) {
  return (double)tdm_load(r->inputs[buffer], at, type);
}

/* The error of one rounding to f32, before the rounding to a 16-bit type. */
static inline void shadow_one_rounding(const shadow_row *r, const unsigned char *wanted, double *error) {
  const shadow_view *v = r->view;
  for (int64_t i = 0; i < v->dim[v->rank - 1]; i++)
    if (wanted[i]) error[i] = BOUND_U * fabs((double)tdm_load(r->expected, r->at + i, v->type));
}

/* ---- Sums of products ---- */

/* What the bound of a sum of products needs: |terms| and their squares tell whether the terms are alike. */
typedef struct shadow_products {
  double value, magnitudes, squares;
} shadow_products;

static inline void shadow_add_product(shadow_products *s, double a, double b) {
  double term = a * b;
  s->value += term;
  s->magnitudes += fabs(term);
  s->squares += term * term;
}

/* Long stretches of terms of nearly the same magnitude are rounded in one direction. If all are equal, n sum t^2 =
 * (sum|t|)^2; for products of uniform numbers it is 1.8 times that, for normal ones 2.5. */
static inline bool shadow_alike(const shadow_products *s, int64_t terms) {
  return (double)terms * s->squares <= 1.25 * s->magnitudes * s->magnitudes;
}

static inline double shadow_constant(const shadow_products *s, int64_t terms) {
  return bound_sum_constant(terms, shadow_alike(s, terms));
}

static inline bound_estimate shadow_estimate(const shadow_products *s, int64_t terms) {
  return (bound_estimate){s->value, shadow_constant(s, terms) * BOUND_U * s->magnitudes};
}

/* sum of a[i step_a] b[i step_b]. */
static inline shadow_products shadow_multiply(const void *a, int64_t at_a, int64_t step_a, const void *b, int64_t at_b,
                                              int64_t step_b, int64_t terms, tdm_type type) {
  shadow_products s = {0};
  for (int64_t i = 0; i < terms; i++)
    shadow_add_product(&s, (double)tdm_load(a, at_a + i * step_a, type), (double)tdm_load(b, at_b + i * step_b, type));
  return s;
}

/* ---- Sums of exponentials ---- */

static inline bound_softmax_sum shadow_sum_row(const void *x, int64_t at, int64_t count, tdm_type type) {
  bound_softmax_sum s = {.max = -(double)INFINITY};
  double squares = 0;
  for (int64_t i = 0; i < count; i++) s.max = fmax(s.max, (double)tdm_load(x, at + i, type));
  for (int64_t i = 0; i < count; i++) {
    double power = exp((double)tdm_load(x, at + i, type) - s.max);
    squares += power * power;
    bound_softmax_add(&s, (double)tdm_load(x, at + i, type));
  }
  bound_softmax_end(&s, bound_sum_constant(count, (double)count * squares <= 1.25 * s.sum * s.sum));
  return s;
}

#endif
