/* y = x / sqrt(mean(x^2) + eps) * weight, a row at a time (Zhang and Sennrich, arXiv 1910.07467), summed in f32.
 * Squares that leave f32 are summed in f64: those that overflow (|x| from 1.8e19 on) and those that vanish (|x| below 1e-19).
 * 1 / sqrt(mean(x^2) + eps) is an f32: a row whose root is below 2^-128 gives infinities, and NaN where x is 0, which takes
 * eps = 0 and subnormal x. A row of zeros with eps = 0 gives NaN, as the formula says.
 * With residual: s = x + residual is written to sum, and y is made of s (before s is rounded). */
#ifndef TANDEM_RMSNORM_H
#define TANDEM_RMSNORM_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_rmsnorm_desc {
  int64_t rows, cols;         /* each >= 0 */
  tdm_type type;              /* of every array */
  int64_t ldx, ldr, lds, ldy; /* elements between rows of x, residual, sum, y; 0: packed */
  float eps;                  /* >= 0; default 1e-5 */
  int residual;               /* 1: add the residual first */
} tdm_rmsnorm_desc;

/* Packed, eps 1e-5, no residual. */
TDM_API tdm_rmsnorm_desc tdm_rmsnorm_default(int64_t rows, int64_t cols, tdm_type type);

TDM_API tdm_status tdm_rmsnorm_plan(tdm_context *context, const tdm_rmsnorm_desc *desc, tdm_plan **plan);

/* weight: [cols]. residual and sum are needed when desc.residual is 1, and must be NULL when it is 0.
 * In place: y may be x, and sum may be residual or x (same pointer and leading dimension). No other overlap; y is not sum. */
TDM_API tdm_status tdm_rmsnorm_run(const tdm_plan *plan, const void *x, const void *weight, const void *residual, void *sum,
                                   void *y, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
