/* embedding: copies rows of a table, y[t, :] = table[ids[t], :]. The copies are exact. */
#ifndef TANDEM_EMBEDDING_H
#define TANDEM_EMBEDDING_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tdm_embedding_desc {
  /* table [vocab, d], y [tokens, d]; each >= 0; vocab at most 2^31 - 1. HIP: a row of d elements has less than 2 GiB. */
  int64_t tokens, vocab, d;
  tdm_type type;      /* of table and y */
  int64_t ldt, ldy;   /* leading dimensions of table and y in elements, at least d; 0 (default): packed */
  tdm_index_type ids; /* TDM_I32 (default) or TDM_I64 */
  /* A part of a larger vocabulary, as in tensor parallel: the table has the rows of the ids first .. first + vocab - 1 out of
   * 0 .. total - 1. Other parts' ids give rows of 0, so that the parts' y add up to the whole one. total 0 (default): the table
   * is whole, first must be 0. Otherwise first + vocab <= total <= 2^31 - 1. */
  int64_t first, total;
} tdm_embedding_desc;

/* A description with every default: table and y packed, ids int32. */
TDM_API tdm_embedding_desc tdm_embedding_default(int64_t tokens, int64_t vocab, int64_t d, tdm_type type);

/* tandem.h, "What all ops share", lists the errors of a plan and the rules for pointers. */
TDM_API tdm_status tdm_embedding_plan(tdm_context *context, const tdm_embedding_desc *desc, tdm_plan **plan);

/* ids is int32 or int64 [tokens], packed. An id outside of 0 .. vocab - 1 (0 .. total - 1 where total is set) reads nothing,
 * and its row of y is NaN, because a device can't return a status. y must not overlap table or ids. */
TDM_API tdm_status tdm_embedding_run(const tdm_plan *plan, const void *table, const void *ids, void *y, tdm_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
