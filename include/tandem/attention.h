/* O = softmax(scale Q K^T) V for each batch and head, with the online softmax of Milakov and Gimelshein (arXiv 1805.02867)
 * as flash attention uses it (Dao et al., arXiv 2205.14135): O(sq) memory, no score matrix. */
#ifndef TANDEM_ATTENTION_H
#define TANDEM_ATTENTION_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements from one batch, head, row to the next; the head_dim values of a row are contiguous. All 0: packed
 * [batch, heads, rows, head_dim]. Otherwise none may be 0 where its dimension is above 1. */
typedef struct tdm_attention_strides {
  int64_t batch, head, row;
} tdm_attention_strides;

typedef struct tdm_attention_desc {
  int64_t batch;
  int64_t heads_q, heads_kv; /* heads_q is a multiple of heads_kv: query head h reads key head h / (heads_q / heads_kv) */
  int64_t sq, skv;           /* query rows and key rows, any two lengths */
  int64_t head_dim;          /* 16 .. 256 */
  tdm_type type;             /* of Q, K, V, O; sums and softmax are f32, but see below */
  tdm_attention_strides q, k, v, o;
  float scale; /* default 1 / sqrt(head_dim) */
  int causal;  /* 1: row i sees keys j <= i + skv - sq, so the last row sees all keys */
  int lse;     /* 1: also write log(sum(exp(scores))) of each row */
} tdm_attention_desc;

/* Kernels hip_flash64, hip_flash128, hip_decode64, hip_decode128 and omp_gpu_mma round the probabilities to `type` before they
 * multiply V, for the matrix instructions of 16-bit types; hip_flash, hip_decode and the omp backend's others keep them in f32.
 * Kernels may scale Q K^T after its sums: these must be finite in f32 too, which bf16 operands of 1e18 are not.
 *
 * A cache of keys and values grows in place: the plan's skv is its whole length, and each run says how many keys it holds
 * (tdm_attention_run_keys). Decode is sq = 1, causal or not: with causal the last query sees all keys. */

/* Packed, scale 1 / sqrt(head_dim), not causal, no lse. */
TDM_API tdm_attention_desc tdm_attention_default(int64_t batch, int64_t heads_q, int64_t heads_kv, int64_t sq, int64_t skv,
                                                 int64_t head_dim, tdm_type type);

TDM_API tdm_status tdm_attention_plan(tdm_context *context, const tdm_attention_desc *desc, tdm_plan **plan);

/* lse: f32 [batch, heads_q, sq], packed; needed when desc.lse is 1, and must be NULL when it is 0.
 * A row that sees no key (skv = 0, or causal with sq > skv) gets O = 0 and lse = -infinity.
 * A row whose scores are all -infinity gets O = NaN and lse = -infinity. What a row does not see may be NaN.
 * o must not overlap any input. */
TDM_API tdm_status tdm_attention_run(const tdm_plan *plan, const void *q, const void *k, const void *v, void *o, float *lse,
                                     tdm_stream *stream);

/* The same with the first skv keys of k and v alone, 0 to desc.skv; causal: row i sees keys j <= i + skv - sq. Strides are the
 * plan's, keys behind skv are not read. The kernel is the one that was chosen with the plan, for desc.skv keys.
 * Errors: UNSUPPORTED where the plan's kernel is a step of a ladder, which runs with all of desc.skv alone. */
TDM_API tdm_status tdm_attention_run_keys(const tdm_plan *plan, const void *q, const void *k, const void *v, void *o,
                                          float *lse, int64_t skv, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
