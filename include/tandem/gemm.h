/* gemm: C = epilogue(alpha * A B + beta * C), for each matrix of a batch. Sums are f32, and the result is rounded once, at the
 * end. A Linear layer, x W^T + b, is a gemm with A = x, B = W, layout TDM_NT and a bias step. */
#ifndef TANDEM_GEMM_H
#define TANDEM_GEMM_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How A and B are stored, both row-major; t is transposed. The first letter is for A: n = [m, k], t = [k, m]. The second letter
 * is for B: n = [k, n], t = [n, k]. */
typedef enum tdm_layout { TDM_NN = 0, TDM_NT = 1, TDM_TN = 2, TDM_TT = 3 } tdm_layout;

/* One step of the epilogue. x is an f32: at first alpha * A B + beta * C, later the result of the step before. A step makes: */
typedef enum tdm_epilogue_op {
  TDM_BIAS = 0,   /* x + bias[column] */
  TDM_RESIDUAL,   /* x + residual[row, column] */
  TDM_RELU,       /* max(x, 0); NaN stays NaN */
  TDM_GELU,       /* x/2 (1 + erf(x / sqrt 2)); Hendrycks and Gimpel, arXiv 1606.08415 */
  TDM_GELU_TANH,  /* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); the same paper */
  TDM_QUICK_GELU, /* x sigmoid(1.702 x); the same paper */
  TDM_LEAKY_RELU, /* x < 0 ? value * x : x; NaN stays NaN */
  TDM_SILU,       /* x sigmoid(x) */
  TDM_SCALE,      /* x * value */
  TDM_DIVIDE      /* x / value; value must not be 0 */
} tdm_epilogue_op;

typedef struct tdm_epilogue_step {
  tdm_epilogue_op op;
  float value; /* finite; used by LEAKY_RELU, SCALE and DIVIDE, ignored by the others */
} tdm_epilogue_step;

typedef struct tdm_gemm_desc {
  int64_t m, n, k;            /* C is [m, n]; each >= 0. With k = 0 the product is 0 */
  tdm_type type;              /* of A, B and bias */
  tdm_type out;               /* of C and residual; default: type */
  tdm_layout layout;          /* default TDM_NN */
  int64_t lda, ldb, ldc, ldr; /* leading dimensions of A, B, C, residual in elements, at least a stored row; 0: packed */
  int64_t batch;              /* number of matrices, >= 0; default 1 */
  /* Elements from one matrix of the batch to the next. 0 (default): packed, that is stored rows times leading dimension.
   * Otherwise at least 1. Matrices may be interleaved, like the heads of [rows, heads, head_dim], but those of C must not
   * overlap: stride_c is at least a whole matrix, or at least n with (batch - 1) * stride_c + n <= ldc. */
  int64_t stride_a, stride_b, stride_c, stride_r;
  int broadcast_a, broadcast_b; /* 1: every matrix of the batch uses the same A (or B), whose stride must be 0; default 0 */
  float alpha, beta;            /* finite; defaults 1 and 0. With beta = 0 C is not read, so it may hold anything */
  /* The steps, in any order and number, and how many there are; default none. tdm_gemm_plan copies them. There is one bias and
   * one residual array: two bias steps add the same array twice. */
  const tdm_epilogue_step *epilogue;
  int64_t epilogue_steps;
} tdm_gemm_desc;

/* A description with every default: layout nn, all arrays packed, batch 1, out = type, alpha 1, beta 0, no epilogue. */
TDM_API tdm_gemm_desc tdm_gemm_default(int64_t m, int64_t n, int64_t k, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_gemm_plan(tdm_context *context, const tdm_gemm_desc *desc, tdm_plan **plan);

/* bias is [n], packed, and every matrix of the batch uses it. residual is [batch, m, n]. Each of the two is needed when the
 * epilogue has such a step, and must be NULL when it has none. c must not overlap any input. The exception is residual, which
 * may be c itself, with the same pointer, leading dimension and stride (in place). */
TDM_API tdm_status tdm_gemm_run(const tdm_plan *plan, const void *a, const void *b, void *c, const void *bias,
                                const void *residual, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
