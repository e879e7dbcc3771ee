/* y[t, :] = table[ids[t], :]. */
#ifndef TANDEM_EMBEDDING_H
#define TANDEM_EMBEDDING_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_embedding_desc {
  int64_t tokens, vocab, d; /* each >= 0; vocab at most 2^31 - 1, the largest id */
  tdm_type type;            /* of table and y */
  int64_t ldt, ldy;         /* elements between rows of table and y; 0: packed */
} tdm_embedding_desc;

/* Packed. */
TDM_API tdm_embedding_desc tdm_embedding_default(int64_t tokens, int64_t vocab, int64_t d, tdm_type type);

TDM_API tdm_status tdm_embedding_plan(tdm_context *context, const tdm_embedding_desc *desc, tdm_plan **plan);

/* ids: [tokens]. An id outside 0 .. vocab - 1 reads nothing and gives a row of NaN: a device can't return a status.
 * y must not overlap any input. */
TDM_API tdm_status tdm_embedding_run(const tdm_plan *plan, const void *table, const int32_t *ids, void *y, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
