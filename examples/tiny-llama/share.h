/* What one rank has of a model in tensor parallel: heads, columns of the feed-forward part, ids of the vocabulary. */
#ifndef LLAMA_SHARE_H
#define LLAMA_SHARE_H

#include "config.h"

typedef struct llama_share {
  int rank, ranks;
  const llama_config *whole;
  llama_config config; /* the whole model's, with this rank's numbers of heads, kv_heads, ffn and vocab */
  /* Where its part begins. Where there are more ranks than key heads, several ranks have the same key head. */
  int64_t head, kv_head, ffn, vocab;
} llama_share;

/* Refuses numbers of ranks that do not divide the heads. ffn and vocab may be any: ranks have as many of them as others, or one
 * more. */
bool llama_share_of(const llama_config *whole, int rank, int ranks, llama_share *share, llama_error *error);
/* Where part `part` of n begins, of `parts` parts that differ by at most one. */
static inline int64_t llama_part(int64_t n, int64_t part, int64_t parts) {
  return n / parts * part + (part < n % parts ? part : n % parts);
}

#endif
