/* What the files of the ops share: building arrays, and the constants of error bounds. */
#ifndef TANDEM_CASE_OP_H
#define TANDEM_CASE_OP_H

#include <math.h>

#include "case.h"
#include "src/base/bound.h"

#define TDM_OP(number, name, row, omp, hip, of) extern const case_op of;
#include "src/ops.def"

/* What op->reach returns for an input of which each element is part of every result. */
#define CASE_REACHES_ALL (INT64_C(1) << 60)

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

/* For case_op.excerpt: the case without gaps, batch and shared memory; and the function itself, for ops whose shape begins with
 * rows and whose vectors belong to all of them. */
tdm_case case_packed(const tdm_case *c);
void case_whole_row(const tdm_case *c, int64_t row, int columns, case_element_of_input *input, const void *data, tdm_case *one,
                    case_gather from[CASE_MAX_ARRAYS]);

/* For strides, INT64_MAX where the result does not fit, which the library refuses. Lengths below 1 count as 1 in products, so
 * that an array without elements has strides that the library takes. */
int64_t case_sum(int64_t a, int64_t b);
int64_t case_product(int64_t a, int64_t b);

/* splitmix64 (Steele, Lea, Flood 2014): 64 well-mixed bits for any counter. */
uint64_t case_mix(uint64_t counter);

/* From 64 random bits (fill.c): nearly normal, mean 0 and deviation 1; one of the special values of CASE_EDGES. */
double case_normal(uint64_t bits);
double case_edge(case_element element, uint64_t bits);

/* bound_sum_constant (src/base/bound.h, where the bounds are), for the case's data. */
double case_sum_constant(const tdm_case *c, int64_t terms);

bound_softmax_sum case_softmax_of(const tdm_case *c, const void *base, int64_t at, int64_t count, case_element element);

#endif
