/* add: c = a + b, element by element. Each sum is computed in f32 and rounded once to the type of c. */
#ifndef TANDEM_ADD_H
#define TANDEM_ADD_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_add_desc {
  int64_t rows, cols;    /* a, b and c are [rows, cols]; each >= 0 */
  tdm_type type;         /* of a and c */
  tdm_type type_b;       /* of b: default type, or TDM_F32, for partial sums (gemm's `out`) that are added to 16-bit values */
  int64_t lda, ldb, ldc; /* leading dimensions of a, b and c in elements, at least cols; 0 (default): packed */
} tdm_add_desc;

/* A description with every default: all arrays packed, b of the type of a and c. */
TDM_API tdm_add_desc tdm_add_default(int64_t rows, int64_t cols, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_add_plan(tdm_context *context, const tdm_add_desc *desc, tdm_plan **plan);

/* c may be a, or a b of its type, with the same pointer and leading dimension (in place). Otherwise c must not overlap a or
 * b. */
TDM_API tdm_status tdm_add_run(const tdm_plan *plan, const void *a, const void *b, void *c, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
