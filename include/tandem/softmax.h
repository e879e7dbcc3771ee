/* softmax: y = exp(x - max(x)) / sum(exp(x - max(x))) for each row of x. Sums are f32, and the result is rounded once.
 * As the formula says, a row becomes NaN if it contains a NaN or +infinity, or nothing but -infinity.
 * With causal_rows the rows are those of causal score matrices: what a row does not see is not read and becomes 0. */
#ifndef TANDEM_SOFTMAX_H
#define TANDEM_SOFTMAX_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_softmax_desc {
  int64_t rows, cols; /* x and y are [rows, cols]; each >= 0 */
  tdm_type type;      /* of x and y */
  int64_t ldx, ldy;   /* leading dimensions of x and y in elements, at least cols; 0 (default): packed */
  /* 0 (default): a row sees all of its columns. Above 0: x is a stack of score matrices [causal_rows, cols], as attention makes
   * them, and row r sees the columns j <= r % causal_rows + cols - causal_rows. A row that sees no column becomes 0. */
  int64_t causal_rows;
} tdm_softmax_desc;

/* A description with every default: x and y packed, causal_rows 0. */
TDM_API tdm_softmax_desc tdm_softmax_default(int64_t rows, int64_t cols, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_softmax_plan(tdm_context *context, const tdm_softmax_desc *desc, tdm_plan **plan);

/* y may be x, with the same pointer and leading dimension (in place). Otherwise y must not overlap x. */
TDM_API tdm_status tdm_softmax_run(const tdm_plan *plan, const void *x, void *y, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
