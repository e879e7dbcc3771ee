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
  /* A part of a larger vocabulary, as in tensor parallel: logits has the columns first .. first + vocab - 1 out of
   * 0 .. total - 1, and a run writes three f32 a row in place of the loss (below). total 0 (default): logits is whole, and
   * first must be 0. Otherwise first + vocab <= total <= 2^31 - 1. */
  int64_t first, total;
} tdm_cross_entropy_desc;

/* A description with every default: logits packed, ignore -100, targets int32. */
TDM_API tdm_cross_entropy_desc tdm_cross_entropy_default(int64_t rows, int64_t vocab, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_cross_entropy_plan(tdm_context *context, const tdm_cross_entropy_desc *desc, tdm_plan **plan);

/* targets is int32 or int64 [rows], loss is f32 [rows]; both are packed. A target that is neither `ignore` nor in
 * 0 .. vocab - 1 gives the loss NaN, because a device can't return a status. loss must not overlap logits or targets.
 *
 * Where total is set, loss is f32 [rows, 3], packed. A row has m, the largest logit of the part; s, the sum of exp(logit - m);
 * and t, the target's logit, 0 if another part has it. With M the largest m of all parts, and T the sum of their t:
 *   loss[r] = log(sum over the parts of s exp(m - M)) + M - T
 * A part with nothing but -infinity, or without columns, has m = -2^128 (1 - 2^-24), the least f32, and s = 0. A NaN or
 * +infinity makes m and s NaN. A row to ignore has m = s = t = 0 in every part. A target that is neither `ignore` nor in
 * 0 .. total - 1 makes t NaN. */
TDM_API tdm_status tdm_cross_entropy_run(const tdm_plan *plan, const void *logits, const void *targets, float *loss,
                                         tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
