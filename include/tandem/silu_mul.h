/* y = silu(gate) * up, silu(v) = v sigmoid(v), element by element in f32. */
#ifndef TANDEM_SILU_MUL_H
#define TANDEM_SILU_MUL_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_silu_mul_desc {
  int64_t rows, cols; /* each >= 0 */
  tdm_type type;
  int64_t ldg, ldu, ldy; /* elements between rows of gate, up, y; 0: packed */
} tdm_silu_mul_desc;

/* Packed. */
TDM_API tdm_silu_mul_desc tdm_silu_mul_default(int64_t rows, int64_t cols, tdm_type type);

TDM_API tdm_status tdm_silu_mul_plan(tdm_context *context, const tdm_silu_mul_desc *desc, tdm_plan **plan);

/* In place: y may be gate or up (same pointer and leading dimension); no other overlap. */
TDM_API tdm_status tdm_silu_mul_run(const tdm_plan *plan, const void *gate, const void *up, void *y, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
