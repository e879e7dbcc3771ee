/* What the files of the ops share: building arrays, and the constants of error bounds. */
#ifndef TANDEM_CASE_OP_H
#define TANDEM_CASE_OP_H

#include <math.h>

#include "case.h"

extern const case_op case_add, case_attention, case_cross_entropy, case_embedding, case_gemm, case_rmsnorm, case_rope,
    case_silu_mul, case_softmax, case_swiglu;

case_element case_element_of(tdm_type type);
/* The index-th leading dimension of a case, for rows of a length; 0: packed. Arrays that share memory get equal ones. */
int64_t case_leading(const tdm_case *c, int index, int64_t length);
/* An array of rows with a leading dimension (0: packed), and a packed vector; neither input nor output yet. */
case_array case_matrix(const char *name, tdm_type type, int64_t rows, int64_t cols, int64_t leading);
case_array case_vector(const char *name, case_element element, int64_t length);
case_array case_input(case_array array);
case_array case_output(case_array array);
/* An argument for which this case passes NULL. */
case_array case_unused(const char *name);

int64_t case_row_length(const case_array *array);
/* Every input read once, every output written once; gaps don't count. */
double case_all_bytes(const tdm_case *c);

/* For strides, INT64_MAX where the result does not fit, which the library refuses. Lengths below 1 count as 1 in products, so
 * that an array without elements has strides that the library takes. */
int64_t case_sum(int64_t a, int64_t b);
int64_t case_product(int64_t a, int64_t b);

/* ---- Error bounds. u: half the distance from 1 to the next f32, the largest relative error of one rounding. ---- */

#define CASE_U 0x1p-24
/* Results below the normal numbers of f32 lose relative accuracy, and devices may flush them. */
#define CASE_TINY 0x1p-126

/* The c of |error| <= c u sum|terms| for an f32 sum in any order. The proven c is terms - 1, plus 1 for the products' own
 * rounding. Rounding errors of random terms cancel, so there it grows as the root: 2 + 2 sqrt(terms). Kernels of the omp
 * backend use 0.25 of that at 16 terms and 0.05 at 1000 (tandem-check gemm --dtype f16 --set out=f32,fill=real 64x64xK). Equal
 * terms are rounded in one direction for whole stretches: for them the proven one. */
double case_sum_constant(const tdm_case *c, int64_t terms);

/* A value and the bound of its error, as both go through an op. */
typedef struct case_estimate {
  double value, error;
} case_estimate;

/* The softmax of a row: its largest element, sum(exp(x - max)), and that sum's relative error: c u (case_sum_constant), 2 for
 * each exponential, and the mean of 2 u|x - max|, the rounding of their arguments. */
typedef struct case_softmax_sum {
  double max, sum, relative_error;
} case_softmax_sum;
case_softmax_sum case_softmax_of(const tdm_case *c, const void *base, int64_t at, int64_t count, case_element element);

/* x sigmoid(s x), s = 1 or 1.702, as f32 code computes it. Slope at most 1.1. An exponent's absolute error is the relative
 * error of its power: s|x| u; 4 more roundings: exp, 1 + exp, division, product. */
case_estimate case_swish(case_estimate x, double s);

#endif
