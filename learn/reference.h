/* What a kernel must compute, where an exercise in HIP and one in OpenMP are about the same kernel: arrays and f64 reference as
 * learn_exercise has them. */
#ifndef TANDEM_LEARN_REFERENCE_H
#define TANDEM_LEARN_REFERENCE_H

#include "learn.h"

/* out = 2.5 x + y */
int learn_axpy_arrays(const int64_t *size, case_array *arrays);
void learn_axpy_reference(const int64_t *size, const double *const *in, double *value, double *bound);
/* out[j][i] = in[i][j] */
int learn_transpose_arrays(const int64_t *size, case_array *arrays);
void learn_transpose_reference(const int64_t *size, const double *const *in, double *value, double *bound);
/* x w / sqrt(mean(x^2) + 1e-5) of each row */
void learn_rmsnorm_reference(const int64_t *size, const double *const *in, double *value, double *bound);
/* silu(x wg) * (x wu) */
int learn_swiglu_arrays(const int64_t *size, case_array *arrays);
void learn_swiglu_reference(const int64_t *size, const double *const *in, double *value, double *bound);
/* softmax(q k^T / 8) v of each head, causal */
int learn_attention_arrays(const int64_t *size, case_array *arrays);
void learn_attention_reference(const int64_t *size, const double *const *in, double *value, double *bound);

#endif
