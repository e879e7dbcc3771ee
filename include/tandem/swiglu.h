/* swiglu: Y = silu(X Wg) * (X Wu), with silu(v) = v sigmoid(v): the gated unit of Shazeer, arXiv 2002.05202. X is read once for
 * both products. Both products stay in f32, and the result is rounded once. */
#ifndef TANDEM_SWIGLU_H
#define TANDEM_SWIGLU_H

#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_swiglu_desc {
  int64_t m, n, k;   /* X is [m, k], Y is [m, n]; each >= 0 */
  tdm_type type;     /* of X, Wg and Wu */
  tdm_type out;      /* of Y; default: type */
  tdm_layout layout; /* TDM_NN (default): weights [k, n]. TDM_NT: weights [n, k], as a Linear layer stores them. No others */
  int64_t ldx, ldg, ldu, ldy; /* leading dimensions of X, Wg, Wu, Y in elements; 0 (default): packed */
} tdm_swiglu_desc;

/* A description with every default: layout nn, all arrays packed, out = type. */
TDM_API tdm_swiglu_desc tdm_swiglu_default(int64_t m, int64_t n, int64_t k, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_swiglu_plan(tdm_context *context, const tdm_swiglu_desc *desc, tdm_plan **plan);

/* y must not overlap any input. */
TDM_API tdm_status tdm_swiglu_run(const tdm_plan *plan, const void *x, const void *wg, const void *wu, void *y,
                                  tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
