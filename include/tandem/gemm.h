/* C = epilogue(alpha * A B + beta * C), for each matrix of a batch. Sums are f32; the result is rounded once, at the end.
 * Linear (x W^T + b) is layout TDM_NT with W as B and a bias step. */
#ifndef TANDEM_GEMM_H
#define TANDEM_GEMM_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How A and B are stored, row-major. First letter A: n = [m, k], t = [k, m]. Second letter B: n = [k, n], t = [n, k]. */
typedef enum tdm_layout { TDM_NN = 0, TDM_NT = 1, TDM_TN = 2, TDM_TT = 3 } tdm_layout;

/* One step of an epilogue chain: x becomes ... */
typedef enum tdm_epilogue_op {
  TDM_BIAS = 0,   /* x + bias[column] */
  TDM_RESIDUAL,   /* x + residual[row, column] */
  TDM_RELU,       /* max(x, 0); NaN stays NaN */
  TDM_GELU,       /* x/2 (1 + erf(x / sqrt 2)); Hendrycks and Gimpel, arXiv 1606.08415 */
  TDM_GELU_TANH,  /* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); the same paper */
  TDM_QUICK_GELU, /* x sigmoid(1.702 x); the same paper */
  TDM_LEAKY_RELU, /* x < 0 ? value * x : x */
  TDM_SILU,       /* x sigmoid(x) */
  TDM_SCALE,      /* x * value */
  TDM_DIVIDE      /* x / value; value must not be 0 */
} tdm_epilogue_op;

typedef struct tdm_epilogue_step {
  tdm_epilogue_op op;
  float value; /* LEAKY_RELU, SCALE, DIVIDE; ignored by the others */
} tdm_epilogue_step;

typedef struct tdm_gemm_desc {
  int64_t m, n, k; /* each >= 0. k = 0: A B is 0 */
  tdm_type type;   /* of A, B and bias */
  tdm_type out;    /* of C and residual */
  tdm_layout layout;
  int64_t lda, ldb, ldc, ldr; /* elements between stored rows of A, B, C, residual; 0: packed. At least the row's length */
  int64_t batch;              /* matrices, >= 0; default 1 */
  /* Elements from one matrix of the batch to the next; 0: packed (stored rows times leading dimension). At least 1: matrices
   * may lie between each other's rows, as heads of [rows, heads, head_dim] do. Those of C must not overlap: a stride of at
   * least a matrix, or of at least n, with (batch - 1) stride + n at most ldc. */
  int64_t stride_a, stride_b, stride_c, stride_r;
  int broadcast_a, broadcast_b;      /* 1: every matrix of the batch uses the same A (B); its stride must then be 0 */
  float alpha, beta;                 /* defaults 1 and 0. beta = 0: C is not read, so it may hold anything */
  const tdm_epilogue_step *epilogue; /* any order, any length; copied by tdm_gemm_plan. bias and residual are one array each, */
  int64_t epilogue_steps;            /* which each step of that kind adds */
} tdm_gemm_desc;

/* A description with every default filled in: nn, packed, batch 1, out = type, alpha 1, beta 0, no epilogue. */
TDM_API tdm_gemm_desc tdm_gemm_default(int64_t m, int64_t n, int64_t k, tdm_type type);

TDM_API tdm_status tdm_gemm_plan(tdm_context *context, const tdm_gemm_desc *desc, tdm_plan **plan);

/* Device pointers, aligned to their element. bias: [n], used by every matrix of the batch; residual: [batch, m, n]. Each is
 * needed when the epilogue has such a step, and must be NULL when it has none. A pointer to an array of no elements may be
 * NULL. c must not overlap any input, except that residual may be c itself (same pointer, leading dimension and stride). */
TDM_API tdm_status tdm_gemm_run(const tdm_plan *plan, const void *a, const void *b, void *c, const void *bias,
                                const void *residual, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
