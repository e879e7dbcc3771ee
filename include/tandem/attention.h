/* attention: O = softmax(scale * Q K^T) V for each batch and head. Kernels use an online softmax (Milakov and Gimelshein, arXiv
 * 1805.02867) as FlashAttention does (Dao et al., arXiv 2205.14135): they need O(sq) memory, and write no score matrix. */
#ifndef TANDEM_ATTENTION_H
#define TANDEM_ATTENTION_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements from one batch, head or row to the next; the head_dim elements of a row are contiguous. All three 0 (default):
 * packed [batch, heads, rows, head_dim]. Otherwise a stride may be 0 only if its dimension is at most 1, and the strides of O
 * must keep its elements apart. */
typedef struct tdm_attention_strides {
  int64_t batch, head, row;
} tdm_attention_strides;

typedef struct tdm_attention_desc {
  int64_t batch;                    /* >= 0 */
  int64_t heads_q, heads_kv;        /* heads_q >= 0, a multiple of heads_kv >= 1: head h of Q uses head h / (heads_q / heads_kv)
                                     * of K and V */
  int64_t sq, skv;                  /* query rows and key rows, each >= 0 */
  int64_t head_dim;                 /* 16 to 256 */
  tdm_type type;                    /* of Q, K, V and O; sums and softmax are f32, but see below */
  tdm_attention_strides q, k, v, o; /* default packed */
  float scale;                      /* finite; default 1 / sqrt(head_dim) */
  int causal;                       /* 1: row i sees the keys j <= i + skv - sq, so that the last row sees all; default 0 */
  int lse;                          /* 1: also write log(sum(exp(scores))) of each row; default 0 */
} tdm_attention_desc;

/* Precision: hip_flash64, 96, 128 and 256, hip_decode64, 96, 128 and 256, omp_gpu_mma, omp_gpu_decode_mma, omp_gpu_wgmma,
 * omp_amx and omp_amx_fp16 use the matrix instructions of 16-bit types, so they round the probabilities to `type` before they
 * multiply by V. The other kernels keep them in f32. Kernels may apply the scale after the sum over head_dim, so Q K^T must be
 * finite in f32 before the scale, too. With bf16 elements of 1e18 it is not. Exponentials are powers of 2, so the scores times
 * log2(e), 1.44, must be finite in f32 as well: with a scale of 1e36 scores of 250 before the scale are not.
 *
 * A key-value cache grows in place: the plan's skv is the length of the whole cache, and each run says how many keys it holds
 * (tdm_attention_run_keys). Decode is sq = 1. It makes no difference whether it is causal: the last query sees all keys. */

/* A description with every default: all arrays packed, scale 1 / sqrt(head_dim), not causal, no lse. */
TDM_API tdm_attention_desc tdm_attention_default(int64_t batch, int64_t heads_q, int64_t heads_kv, int64_t sq, int64_t skv,
                                                 int64_t head_dim, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_attention_plan(tdm_context *context, const tdm_attention_desc *desc, tdm_plan **plan);

/* lse is f32 [batch, heads_q, sq], packed. It is needed when desc.lse is 1, and must be NULL when it is 0.
 * A row that sees no key (skv = 0, or causal with sq > skv) gets O = 0 and lse = -infinity. A row whose scores are all
 * -infinity gets O = NaN and lse = -infinity. A NaN in keys or values that a row does not see has no effect on it.
 * o and lse must not overlap any input, nor each other. */
TDM_API tdm_status tdm_attention_run(const tdm_plan *plan, const void *q, const void *k, const void *v, void *o, float *lse,
                                     tdm_stream *stream);

/* Runs with the first skv keys of k and v only, 0 <= skv <= desc.skv. With causal, row i sees the keys j <= i + skv - sq. The
 * strides are the plan's, and the keys from skv on are not read. The kernel is the plan's, which was chosen for desc.skv keys.
 * UNSUPPORTED: the plan's kernel is not rebindable. Only the steps of ladders are not; make a plan for each length there. */
TDM_API tdm_status tdm_attention_run_keys(const tdm_plan *plan, const void *q, const void *k, const void *v, void *o,
                                          float *lse, int64_t skv, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
