/* embedding: what a row is whose id the table does not have. */
#ifndef TANDEM_BASE_EMBEDDING_H
#define TANDEM_BASE_EMBEDDING_H

#include "inline.h"
#include "tandem/embedding.h"

/* The table's row of an id; -1: it has none. */
TDM_INLINE int64_t tdm_embedding_row(const tdm_embedding_desc *d, int64_t id) {
  return id >= d->first && id - d->first < d->vocab ? id - d->first : -1;
}

/* As a 16-bit word: 0 if another part of the vocabulary has the id. Otherwise the word of NaN in f16 and bf16; two of them
 * are a NaN in f32. */
TDM_INLINE uint16_t tdm_embedding_absent(const tdm_embedding_desc *d, int64_t id) {
  return id >= 0 && id < d->total ? 0 : 0x7fff;
}

#endif
