/* silu_mul: y = silu(gate) * up, element by element, with silu(v) = v sigmoid(v) = v / (1 + exp(-v)). It is computed in f32 and
 * rounded once. This is the gate of a feed-forward layer (Shazeer, arXiv 2002.05202); swiglu.h includes its two products. */
#ifndef TANDEM_SILU_MUL_H
#define TANDEM_SILU_MUL_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_silu_mul_desc {
  int64_t rows, cols;    /* gate, up and y are [rows, cols]; each >= 0 */
  tdm_type type;         /* of gate, up and y */
  int64_t ldg, ldu, ldy; /* leading dimensions of gate, up and y in elements, at least cols; 0 (default): packed */
} tdm_silu_mul_desc;

/* A description with every default: all arrays packed. */
TDM_API tdm_silu_mul_desc tdm_silu_mul_default(int64_t rows, int64_t cols, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_silu_mul_plan(tdm_context *context, const tdm_silu_mul_desc *desc, tdm_plan **plan);

/* y may be gate or up, with the same pointer and leading dimension (in place). Otherwise y must not overlap gate or up. */
TDM_API tdm_status tdm_silu_mul_run(const tdm_plan *plan, const void *gate, const void *up, void *y, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
