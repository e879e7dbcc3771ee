/* Y = silu(X Wg) * (X Wu) in one pass over X, silu(v) = v sigmoid(v): the gated unit of Shazeer, arXiv 2002.05202.
 * Both products are kept in f32; the result is rounded once. */
#ifndef TANDEM_SWIGLU_H
#define TANDEM_SWIGLU_H

#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_swiglu_desc {
  int64_t m, n, k;   /* each >= 0. X [m, k], Y [m, n] */
  tdm_type type;     /* of X, Wg, Wu */
  tdm_type out;      /* of Y */
  tdm_layout layout; /* TDM_NN: weights [k, n]; TDM_NT: weights [n, k], as a Linear layer stores them. Others are refused */
  int64_t ldx, ldg, ldu, ldy; /* elements between stored rows of X, Wg, Wu, Y; 0: packed */
} tdm_swiglu_desc;

/* nn, packed, out = type. */
TDM_API tdm_swiglu_desc tdm_swiglu_default(int64_t m, int64_t n, int64_t k, tdm_type type);

TDM_API tdm_status tdm_swiglu_plan(tdm_context *context, const tdm_swiglu_desc *desc, tdm_plan **plan);

/* y must not overlap any input. */
TDM_API tdm_status tdm_swiglu_run(const tdm_plan *plan, const void *x, const void *wg, const void *wu, void *y,
                                  tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
