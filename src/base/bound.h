/* Error bounds of the ops: how far a result may be from the exact one before it is rounded to its type. The analysis works
 * on scalars only, in f64. The cases' f64 reference (case/) and the shadow runs (shadow.c) both use it, each with its own
 * sums. */
#ifndef TANDEM_BASE_BOUND_H
#define TANDEM_BASE_BOUND_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "tandem/gemm.h"
#include "types.h"

/* u: half the distance from 1 to the next f32, the largest relative error of one rounding. */
#define BOUND_U 0x1p-24
/* Results below the normal numbers of f32 lose relative accuracy, and devices may flush them to zero. */
#define BOUND_TINY 0x1p-126

/* What a value may lose that is rounded to f32 and used further: all of it or less below the normal numbers, as some devices
 * flush these to zero. Up to twice the least normal number, because the value has other errors. */
static inline double bound_underflow(double x) { return fabs(x) < 2 * BOUND_TINY ? fmin(fabs(x), BOUND_TINY) : 0; }

/* A value and the bound of its error, which go through an op together. */
typedef struct bound_estimate {
  double value, error;
} bound_estimate;

/* The c of |error| <= c u sum|terms| for an f32 sum in any order. The proven c is terms - 1, plus 1 for the rounding of the
 * products. Rounding errors of random terms cancel, so for them it grows as the root: 2 + 2 sqrt(terms). Kernels of the omp
 * backend use 0.25 of that at 16 terms and 0.05 at 1000 (tandem-check gemm --dtype f16 --set out=f32,fill=real 64x64xK).
 * Long stretches of equal terms are rounded in one direction, so for them it is the proven c. */
static inline double bound_sum_constant(int64_t terms, bool equal) {
  double n = (double)terms;
  return 2 + (equal ? n : fmin(n, 2 * sqrt(n)));
}

/* x sigmoid(s x), s = 1 or 1.702, as f32 code computes it. The slope is at most 1.1. The absolute error of an exponent is
 * the relative error of its power: s|x| u. There are 4 more roundings: exp, 1 + exp, division, product. */
static inline bound_estimate bound_swish(bound_estimate x, double s) {
  double value = x.value / (1 + exp(-s * x.value));
  return (bound_estimate){value, 1.1 * x.error + (4 + s * fabs(x.value)) * BOUND_U * fabs(value) + BOUND_TINY * fabs(x.value)};
}

/* ---- gemm, swiglu, silu_mul ---- */

/* alpha sum + old, with old = beta C. The sum has its own error (given as times 1). alpha, beta and their sum add a
 * rounding of each term and of the sum. */
static inline bound_estimate bound_linear(bound_estimate sum, double alpha, double beta, double old) {
  double product = alpha * sum.value, before = beta == 0 ? 0 : beta * old;
  bound_estimate x = {product + before, fabs(alpha) * sum.error};
  if (alpha != 1) x.error += BOUND_U * fabs(product);
  if (beta != 0) x.error += BOUND_U * (fabs(before) + fabs(x.value));
  return x;
}

/* One step of an epilogue. Each error is the step's slope times the error so far, plus its own roundings. The slopes of
 * gelu are at most 1.13. gelu and gelu_tanh lose up to 4 u of x in 1 + erf (1 + tanh), and 4 more in the functions and
 * products. */
static inline bound_estimate bound_step(bound_estimate x, tdm_epilogue_step step, double bias, double residual) {
  double v = x.value, value = (double)step.value;
  switch (step.op) {
    case TDM_BIAS: return (bound_estimate){v + bias, x.error + BOUND_U * fabs(v + bias)};
    case TDM_RESIDUAL: return (bound_estimate){v + residual, x.error + BOUND_U * fabs(v + residual)};
    case TDM_RELU: return (bound_estimate){v < 0 ? 0 : v, x.error};
    case TDM_GELU:
      return (bound_estimate){0.5 * v * (1 + erf(v * 0.70710678118654752)), 1.13 * x.error + 8 * BOUND_U * fabs(v)};
    case TDM_GELU_TANH:
      return (bound_estimate){0.5 * v * (1 + tanh(0.79788456080286536 * (v + 0.044715 * v * v * v))),
                              1.13 * x.error + 8 * BOUND_U * fabs(v)};
    case TDM_QUICK_GELU: return bound_swish(x, 1.702);
    case TDM_LEAKY_RELU:
      return (bound_estimate){v < 0 ? value * v : v, fmax(1, fabs(value)) * x.error + BOUND_U * fabs(value * v)};
    case TDM_SILU: return bound_swish(x, 1);
    case TDM_SCALE: return (bound_estimate){v * value, fabs(value) * x.error + BOUND_U * fabs(v * value)};
    case TDM_DIVIDE: return (bound_estimate){v / value, x.error / fabs(value) + 2 * BOUND_U * fabs(v / value)};
  }
  return x;
}

/* silu(gate) up: errors of both factors, and the rounding of their product. */
static inline bound_estimate bound_gated(bound_estimate gate, bound_estimate up) {
  bound_estimate s = bound_swish(gate, 1);
  double value = s.value * up.value;
  return (bound_estimate){
      value, s.error * fabs(up.value) + fabs(s.value) * up.error + s.error * up.error + BOUND_U * fabs(value) + BOUND_TINY};
}

/* ---- rmsnorm, rope ---- */

/* The mean of squares has a relative error of c u (bound_sum_constant), and the root keeps half of it. 8 u more: the sum x
 * + residual in the squares and in the element, mean, eps, root, division and two products. normalized: s / root, which
 * kernels round to f32 before they multiply it by the weight. What it loses if it is below the normal numbers is multiplied
 * too: weights of 1e30 make results of 1e-38 from elements that f32 can't hold. */
static inline double bound_rmsnorm(double value, double normalized, double weight, double sum_constant) {
  return (sum_constant / 2 + 8) * BOUND_U * fabs(value) + bound_underflow(normalized) * fabs(weight) + BOUND_TINY;
}
/* If s / root may be 0 in f32, its product with an infinite weight may be NaN. */
static inline bool bound_rmsnorm_may_be_nan(double normalized, double weight) {
  return isinf(weight) && bound_underflow(normalized) > 0;
}

/* Cosine and sine are rounded to f32, and each product and their sum are rounded once: 3 u of both products. The f64 angle
 * may be wrong by some units of its last place, which matters from angles of 2^27 on. */
static inline double bound_rope(double angle, double a, double b) {
  return (3 * BOUND_U + fabs(angle) * 0x1p-50) * (fabs(a) + fabs(b)) + BOUND_TINY;
}

/* ---- softmax, cross_entropy ---- */

/* The softmax of a row: its largest element, sum(exp(x - max)), and the relative error of that sum: c u
 * (bound_sum_constant), 2 for each exponential, and the mean of 2 u|x - max|, the rounding of their arguments. */
typedef struct bound_softmax_sum {
  double max, sum, arguments, relative_error;
} bound_softmax_sum;

/* Set s.max to the row's largest element; then add each element; then end. */
static inline void bound_softmax_add(bound_softmax_sum *s, double x) {
  double below = x - s->max, power = exp(below);
  s->sum += power;
  if (!isinf(below)) s->arguments += 2 * fabs(below) * power;
}
static inline void bound_softmax_end(bound_softmax_sum *s, double sum_constant) {
  s->relative_error = (sum_constant + 2 + s->arguments / s->sum) * BOUND_U;
}

/* Relative errors: the exponential's argument is rounded (2 u|x - max|, also when powers of 2 are used) and so is its
 * result. The sum has its own error. Exponential and division add 4 more. */
static inline bound_estimate bound_softmax(const bound_softmax_sum *s, double x) {
  double below = x - s->max, value = exp(below) / s->sum, argument = isinf(below) ? 0 : 2 * fabs(below) * BOUND_U;
  return (bound_estimate){value, value * (argument + s->relative_error + 4 * BOUND_U) + BOUND_TINY};
}

/* The sum alone, relative to the largest element; 0 where all are -infinity. */
static inline bound_estimate bound_part_sum(const bound_softmax_sum *s) {
  if (isinf(s->max) && s->max < 0) return (bound_estimate){0, 0};
  return (bound_estimate){s->sum, s->sum * s->relative_error};
}

/* log(sum) has the sum's relative error as its absolute one, and 2 roundings of its own. Then max, log(sum) and the
 * target's logit are added in any order: a rounding of each magnitude, and of the result. */
static inline bound_estimate bound_loss(const bound_softmax_sum *s, double chosen) {
  double value = log(s->sum) + (s->max - chosen);
  double rounding = 2 * fabs(log(s->sum)) + fabs(s->max) + fabs(s->max + log(s->sum)) + fabs(value);
  return (bound_estimate){value, s->relative_error + BOUND_U * rounding};
}

/* ---- attention ---- */

/* A row's largest score, and the largest error of a score. */
typedef struct bound_scores {
  double max, max_error;
} bound_scores;

/* scale sum(q k): c u sum|q k|; scaling q or the sum adds 2 u. */
static inline bound_estimate bound_score(double sum, double magnitudes, double scale, double sum_constant) {
  return (bound_estimate){scale * sum, fabs(scale) * magnitudes * (sum_constant + 2) * BOUND_U};
}

/* exp(score - max): the exponent has the errors of score and max and its own rounding, 2 u of it. Weights below the normal
 * numbers may be flushed to zero. */
static inline bound_estimate bound_weight(bound_estimate score, bound_scores r) {
  double below = score.value - r.max, value = exp(below);
  if (isinf(below)) return (bound_estimate){value, 0};
  double relative = expm1(score.error + r.max_error + (2 * fabs(below) + 4) * BOUND_U);
  return (bound_estimate){value, fmin(1, value * relative + bound_underflow(value))};
}

/* Half the distance from 1 to the next value of the type to which probabilities are rounded before they are multiplied by
 * V, in kernels that round them (rounds_weights of a kernel's row): matrix instructions of 16-bit types take 16-bit
 * probabilities, as in every flash attention. 0: they stay f32. */
static inline double bound_weight_unit(tdm_type type, bool rounds) {
  return rounds && tdm_bytes(type) < 4 ? tdm_rounding_of(type).unit : 0;
}

/* The sums over keys of one output element: p v, the errors of p times |v|, |p v|, (p v)^2, |v|. */
typedef struct bound_output_sums {
  double value, errors, magnitudes, squares, values;
} bound_output_sums;

/* own: the relative error of a sum over keys. Each product may be lost below the normal numbers: where the largest weight meets
 * a value of 0, a result consists of such products. */
static inline void bound_output_add(bound_output_sums *s, bound_estimate p, double v, double own) {
  s->value += p.value * v;
  s->errors += (p.error + own * p.value) * fabs(v) + bound_underflow(p.value * v);
  s->magnitudes += p.value * fabs(v);
  s->squares += p.value * v * p.value * v;
  s->values += fabs(v);
}

/* What the rounding of the weights adds. As in bound_sum_constant, errors of random terms cancel; each is at most unit /
 * sqrt(3) in the mean of squares. Weights below the normal numbers of f16 are wrong by 2^-25. */
static inline double bound_rounded_weights(const bound_output_sums *s, double unit, bool equal) {
  double random = equal ? s->magnitudes : fmin(s->magnitudes, 4 * sqrt(s->squares));
  return unit == 0 ? 0 : unit * random + (unit == 0x1p-11 ? 0x1p-25 * s->values : 0);
}

/* Numerator and denominator have the errors of the weights, and those of their own sums. Rescaling by the online softmax
 * adds roundings of the same kind. No error can leave the span of the values: largest is that of |v|. */
static inline bound_estimate bound_output(const bound_output_sums *s, bound_estimate sum, double own, double largest,
                                          double unit, bool equal) {
  double value = s->value / sum.value, errors = s->errors + bound_rounded_weights(s, unit, equal);
  double error = fmin(errors / sum.value + fabs(value) * (sum.error / sum.value + own), 2 * largest) + BOUND_TINY;
  return (bound_estimate){value, error};
}

static inline bound_estimate bound_log_sum(bound_scores r, bound_estimate sum, double sum_constant) {
  double value = r.max + log(sum.value), own = (sum_constant + 4 + 2 * fabs(log(sum.value))) * BOUND_U;
  return (bound_estimate){value, r.max_error + sum.error / sum.value + own + BOUND_U * (fabs(r.max) + fabs(value))};
}

#endif
