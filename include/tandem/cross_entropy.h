/* cross_entropy: the loss of each row of logits, computed in f32:
 *   loss[r] = log(sum_j exp(logits[r, j])) - logits[r, targets[r]]
 * A row that contains a NaN or +infinity, or nothing but -infinity, has the loss NaN. */
#ifndef TANDEM_CROSS_ENTROPY_H
#define TANDEM_CROSS_ENTROPY_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_cross_entropy_desc {
  int64_t rows, vocab;    /* logits is [rows, vocab]; each >= 0, vocab at most 2^31 - 1 */
  tdm_type type;          /* of logits; loss is always f32 */
  int64_t ldl;            /* leading dimension of logits in elements, at least vocab; 0 (default): packed */
  int32_t ignore;         /* a row with this target has the loss 0; default -100, as in PyTorch */
  tdm_index_type targets; /* TDM_I32 (default) or TDM_I64 */
} tdm_cross_entropy_desc;

/* A description with every default: logits packed, ignore -100, targets int32. */
TDM_API tdm_cross_entropy_desc tdm_cross_entropy_default(int64_t rows, int64_t vocab, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_cross_entropy_plan(tdm_context *context, const tdm_cross_entropy_desc *desc, tdm_plan **plan);

/* targets is int32 or int64 [rows], loss is f32 [rows]; both are packed. A target that is neither `ignore` nor in
 * 0 .. vocab - 1 gives the loss NaN, because a device can't return a status. loss must not overlap logits or targets. */
TDM_API tdm_status tdm_cross_entropy_run(const tdm_plan *plan, const void *logits, const void *targets, float *loss,
                                         tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
