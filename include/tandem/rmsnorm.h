/* rmsnorm: y = x / sqrt(mean(x^2) + eps) * weight for each row of x (Zhang and Sennrich, arXiv 1910.07467).
 * Squares are summed in f32, or in f64 where f32 has no number for them: they overflow from |x| = 1.8e19 on and vanish below
 * |x| = 1e-19.
 * 1 / sqrt(mean(x^2) + eps) is an f32. It overflows when the root is below 2^-128, which takes eps = 0 and subnormal x: the row
 * becomes infinite, and NaN where x is 0. A row of zeros with eps = 0 becomes NaN, as the formula says.
 * With a residual, s = x + residual is written to sum, and y is computed from s before s is rounded. */
#ifndef TANDEM_RMSNORM_H
#define TANDEM_RMSNORM_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_rmsnorm_desc {
  int64_t rows, cols;         /* x, residual, sum and y are [rows, cols]; each >= 0 */
  tdm_type type;              /* of every array */
  int64_t ldx, ldr, lds, ldy; /* leading dimensions of x, residual, sum and y in elements, at least cols; 0 (default): packed */
  float eps;                  /* finite, >= 0; default 1e-5 */
  int residual;               /* 1: add the residual first; default 0 */
} tdm_rmsnorm_desc;

/* A description with every default: all arrays packed, eps 1e-5, no residual. */
TDM_API tdm_rmsnorm_desc tdm_rmsnorm_default(int64_t rows, int64_t cols, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_rmsnorm_plan(tdm_context *context, const tdm_rmsnorm_desc *desc, tdm_plan **plan);

/* weight is [cols], packed. residual and sum are needed when desc.residual is 1, and must be NULL when it is 0.
 * In place, each with the same pointer and leading dimension: y may be x, and sum may be residual or x. No other overlap is
 * allowed, and y and sum must be different arrays. */
TDM_API tdm_status tdm_rmsnorm_run(const tdm_plan *plan, const void *x, const void *weight, const void *residual, void *sum,
                                   void *y, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
