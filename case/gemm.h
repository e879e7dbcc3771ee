/* gemm's matrices as its reference reads them. */
#ifndef TANDEM_CASE_GEMM_H
#define TANDEM_CASE_GEMM_H

#include "case.h"

enum { GEMM_A, GEMM_B, GEMM_C, GEMM_BIAS, GEMM_RESIDUAL }; /* arrays of a case */

/* One matrix: element [i][j] lies at start + i row + j column. */
typedef struct case_gemm_view {
  const void *base;
  case_element element;
  int64_t start, row, column;
} case_gemm_view;

case_gemm_view case_gemm_a(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS],
                           int64_t matrix);
case_gemm_view case_gemm_b(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS],
                           int64_t matrix);
case_gemm_view case_gemm_c(const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int64_t matrix);

static inline double case_gemm_get(const case_gemm_view *v, int64_t i, int64_t j) {
  return case_get(v->base, v->start + i * v->row + j * v->column, v->element);
}

#endif
