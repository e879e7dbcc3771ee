/* loss[r] = log(sum_j exp(logits[r, j])) - logits[r, target[r]], a row at a time, in f32. A row that holds a NaN, +infinity or
 * only -infinity gives NaN. */
#ifndef TANDEM_CROSS_ENTROPY_H
#define TANDEM_CROSS_ENTROPY_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_cross_entropy_desc {
  int64_t rows, vocab; /* each >= 0; vocab at most 2^31 - 1, the largest target */
  tdm_type type;       /* of logits */
  int64_t ldl;         /* elements between rows of logits; 0: packed */
  int32_t ignore;      /* a row with this target gets loss 0; default -100 */
} tdm_cross_entropy_desc;

/* Packed, ignore -100. */
TDM_API tdm_cross_entropy_desc tdm_cross_entropy_default(int64_t rows, int64_t vocab, tdm_type type);

TDM_API tdm_status tdm_cross_entropy_plan(tdm_context *context, const tdm_cross_entropy_desc *desc, tdm_plan **plan);

/* targets: [rows]; loss: f32 [rows]. A target outside 0 .. vocab - 1 that is not `ignore` gives NaN: a device can't return a
 * status. loss must not overlap any input. */
TDM_API tdm_status tdm_cross_entropy_run(const tdm_plan *plan, const void *logits, const int32_t *targets, float *loss,
                                         tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
