/* rope: rotary position embedding (Su et al., arXiv 2104.09864). Pair i of a head at position p = offset + s is rotated by the
 * angle p * f_i, in radians, with the frequency f_i = theta^(-2 i / head_dim):
 *   y0 = x0 cos - x1 sin,  y1 = x0 sin + x1 cos
 * Scaling changes the frequencies (tdm_rope_scaling). The plan computes angles in f64, and keeps sines and cosines as f32. */
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

/* Elements from one batch, position or head to the next; the head_dim elements of a head are contiguous. All three 0 (default):
 * packed [batch, seq, heads, head_dim]. Otherwise a stride may be 0 only if its dimension is at most 1, and the strides of y
 * must keep its elements apart: each is at least what the smaller ones span. */
typedef struct tdm_rope_strides {
  int64_t batch, seq, head;
} tdm_rope_strides;

/* Lower frequencies, for sequences longer than those that a model was trained on.
 * trained = 0: every f_i is divided by factor (position interpolation; Chen et al., arXiv 2306.15595).
 * trained > 0: the rule of Llama 3.1. r = trained * f_i / (2 pi) is the number of full rotations within the trained length.
 *   r >= high: f_i stays
 *   r <= low:  f_i / factor
 *   between:   f_i * (w + (1 - w) / factor), with w = (r - low) / (high - low) */
typedef struct tdm_rope_scaling {
  double factor;    /* > 0; default 1: not scaled */
  int64_t trained;  /* the trained length in positions, >= 0; default 0 */
  double low, high; /* 0 <= low < high; defaults 1 and 4; not used when trained is 0 */
} tdm_rope_scaling;

typedef struct tdm_rope_desc {
  int64_t batch, seq, heads, head_dim; /* head_dim is even and >= 2; the others >= 0 */
  tdm_type type;                       /* of x and y */
  tdm_rope_strides x, y;               /* default packed */
  tdm_rope_style style;                /* default interleaved */
  int64_t offset;                      /* the position of s = 0, >= 0; default 0 */
  /* How many positions, from offset on, the plan computes angles for: at least seq; 0 (default): seq. offset + positions is at
   * most 2^53, so that f64 represents each of them. The device keeps positions * head_dim f32 values; HIP
   * keeps at most 14 more for each position, where heads or their halves are not whole 16-byte chunks. */
  int64_t positions;
  double theta;             /* > 0; default 1e4 */
  tdm_rope_scaling scaling; /* default not scaled */
} tdm_rope_desc;

/* A description with every default: x and y packed, interleaved, offset 0, theta 1e4, not scaled. */
TDM_API tdm_rope_desc tdm_rope_default(int64_t batch, int64_t seq, int64_t heads, int64_t head_dim, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_rope_plan(tdm_context *context, const tdm_rope_desc *desc, tdm_plan **plan);

/* y may be x, with the same pointer and strides (in place). Otherwise y must not overlap x. */
TDM_API tdm_status tdm_rope_run(const tdm_plan *plan, const void *x, void *y, tdm_stream *stream);

/* Runs with s = 0 at another position: desc.offset <= offset <= desc.offset + desc.positions - desc.seq.
 * UNSUPPORTED: the plan's kernel is not rebindable. */
TDM_API tdm_status tdm_rope_run_at(const tdm_plan *plan, const void *x, void *y, int64_t offset, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
