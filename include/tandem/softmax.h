/* y = exp(x - max(x)) / sum(exp(x - max(x))), a row at a time, summed in f32. A row that holds a NaN, +infinity or only
 * -infinity becomes NaN, as the formula says. */
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
