/* Rotary position embedding (Su et al., arXiv 2104.09864): pair i of a head turns by the angle (offset + s) * f_i, with
 * f_i = theta^(-2 i / head_dim), or what scaling makes of it. The angles are computed in f64 with the plan, and used as f32
 * sines and cosines. */
#ifndef TANDEM_ROPE_H
#define TANDEM_ROPE_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tdm_rope_style {
  TDM_ROPE_INTERLEAVED = 0, /* pair i is elements 2 i and 2 i + 1 */
  TDM_ROPE_HALF = 1         /* pair i is elements i and i + head_dim / 2, as Hugging Face stores Llama */
} tdm_rope_style;

/* Elements from one batch, position, head to the next; the head_dim values are contiguous. All 0: packed
 * [batch, seq, heads, head_dim]. Otherwise none may be 0 where its dimension is above 1, and in y each must be at least what
 * the smaller ones span, so that no two elements overlap. */
typedef struct tdm_rope_strides {
  int64_t batch, seq, head;
} tdm_rope_strides;

/* Slower turns, for sequences longer than those that a model was trained on.
 * trained = 0: every f_i is divided by factor (position interpolation; Chen et al., arXiv 2306.15595).
 * Else as Llama 3.1 does: with r = trained f_i / (2 pi), the turns within the trained length, pairs with r >= high keep their
 * f_i, those with r <= low are divided by factor, and between them f_i (w + (1 - w) / factor) with w = (r - low) / (high -
 * low). */
typedef struct tdm_rope_scaling {
  double factor;    /* > 0; default 1 */
  int64_t trained;  /* positions, >= 0; default 0 */
  double low, high; /* 0 <= low < high; defaults 1 and 4. Not used where trained is 0 */
} tdm_rope_scaling;

typedef struct tdm_rope_desc {
  int64_t batch, seq, heads, head_dim; /* head_dim is even and >= 2; the others >= 0 */
  tdm_type type;
  tdm_rope_strides x, y;
  tdm_rope_style style; /* default interleaved */
  int64_t offset;       /* position of s = 0, >= 0; default 0 */
  int64_t positions; /* from offset on, whose angles the plan computes: >= seq, or 0: seq (default). offset + positions at most
                      * 2^53, so that f64 holds each one. The device keeps positions * head_dim f32 */
  double theta;      /* > 0; default 1e4 */
  tdm_rope_scaling scaling;
} tdm_rope_desc;

/* Packed, interleaved, offset 0, theta 1e4, not scaled. */
TDM_API tdm_rope_desc tdm_rope_default(int64_t batch, int64_t seq, int64_t heads, int64_t head_dim, tdm_type type);

TDM_API tdm_status tdm_rope_plan(tdm_context *context, const tdm_rope_desc *desc, tdm_plan **plan);

/* In place: y may be x (same pointer and strides); no other overlap. */
TDM_API tdm_status tdm_rope_run(const tdm_plan *plan, const void *x, void *y, tdm_stream *stream);

/* The same with s = 0 at another position: desc.offset to desc.offset + desc.positions - desc.seq. */
TDM_API tdm_status tdm_rope_run_at(const tdm_plan *plan, const void *x, void *y, int64_t offset, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
