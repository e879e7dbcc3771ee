/* c = a + b, element by element: the sum is f32 and is rounded once. */
#ifndef TANDEM_ADD_H
#define TANDEM_ADD_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_add_desc {
  int64_t rows, cols; /* each >= 0 */
  tdm_type type;
  int64_t lda, ldb, ldc; /* elements between rows; 0: packed */
} tdm_add_desc;

/* Packed. */
TDM_API tdm_add_desc tdm_add_default(int64_t rows, int64_t cols, tdm_type type);

TDM_API tdm_status tdm_add_plan(tdm_context *context, const tdm_add_desc *desc, tdm_plan **plan);

/* In place: c may be a or b (same pointer and leading dimension); no other overlap. */
TDM_API tdm_status tdm_add_run(const tdm_plan *plan, const void *a, const void *b, void *c, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
