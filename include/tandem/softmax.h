/* y = exp(x - max(x)) / sum(exp(x - max(x))), a row at a time, summed in f32. A row that holds a NaN, +infinity or only
 * -infinity becomes NaN, as the formula says.
 * With causal_rows, rows are those of causal score matrices: elements that a row does not see are not read and become 0. */
#ifndef TANDEM_SOFTMAX_H
#define TANDEM_SOFTMAX_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_softmax_desc {
  int64_t rows, cols; /* each >= 0 */
  tdm_type type;
  int64_t ldx, ldy; /* elements between rows; 0: packed */
  /* 0 (default): a row sees all of its columns. Else rows are stacked score matrices [causal_rows, cols], as attention has
   * them: row r sees columns j <= r % causal_rows + cols - causal_rows. A row that sees none becomes 0. At least 0 */
  int64_t causal_rows;
} tdm_softmax_desc;

/* Packed. */
TDM_API tdm_softmax_desc tdm_softmax_default(int64_t rows, int64_t cols, tdm_type type);

TDM_API tdm_status tdm_softmax_plan(tdm_context *context, const tdm_softmax_desc *desc, tdm_plan **plan);

/* In place: y may be x (same pointer and leading dimension); no other overlap. */
TDM_API tdm_status tdm_softmax_run(const tdm_plan *plan, const void *x, void *y, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
