/* Sums of results, for outputs of gemm that take too long to compare element by element: with signs x drawn at random,
 * C x = A (B x), which costs as much as reading C (Freivalds, 1977). A row has a sum for each CASE_SUM_COLUMNS of its columns,
 * so that every element counts once.
 *
 * The allowed difference: an element may be off by b (case.h, reference). Signs that the run did not know add such errors up
 * to more than t sqrt(sum b^2) with a probability below 2 exp(-t^2 / 2) (Hoeffding, 1963): 3e-14 for t = 8. b is at most
 * c u |row of A| |column of B| (Cauchy-Schwarz) and the rounding of the element itself. With 64 columns that is 64 times what
 * one element may be off by. Wherever it is, an element of normal data is found when it is wrong by these shares of its row's
 * root mean square, which the test bench-verify plants; smaller errors are found element by element alone:
 *
 *   k      f32     f16     bf16
 *     64   0.1 %   3.3 %   24 %
 *   1024   0.9 %   3.9 %   25 %
 *   4096   3.4 %   6.3 %   28 %
 *  16384   13 %    16 %    38 %
 */
#ifndef TANDEM_CASE_SUMS_H
#define TANDEM_CASE_SUMS_H

#include "case.h"

enum { CASE_SUM_COLUMNS = 64 };

typedef struct case_sums {
  const tdm_case *c;
  const case_array *arrays;
  const void *const *inputs;
  int64_t blocks;   /* sums of a row */
  double *sign;     /* of each column: 1 or -1 */
  double *products; /* [matrix][k][block]: sum of x B over the block's columns */
  double *norms;    /* [matrix][block]: root of the sum of B^2 */
} case_sums;

/* Is the case's output such a product: gemm without an epilogue? */
bool case_sums_apply(const tdm_case *c);
/* false: no memory. inputs: host copies, as they were before the run; they must stay. */
bool case_sums_open(case_sums *s, const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS]);
void case_sums_close(case_sums *s);
/* Sums of row `row` of the output, and of each the part of the allowed difference that the products bring. */
void case_sums_row(const case_sums *s, int64_t row, double *value, double *error);
/* The same sum of what a run wrote: data is the row's first element. *allowed is the difference from value that is allowed. */
double case_sums_of(const case_sums *s, const void *data, int64_t block, double error, double *allowed);

#endif
