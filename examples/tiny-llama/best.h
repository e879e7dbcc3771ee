/* The likeliest token of each sequence, without bringing all logits to the host: 32 sequences of 128256 ids are 16 MB a token,
 * which took more time than the rest of an 8 B model's pass on an H200. cross_entropy writes the maximum of each block of ids.
 * The host reads these, then the one block that has the largest. */
#ifndef LLAMA_BEST_H
#define LLAMA_BEST_H

#include "memory.h"

typedef struct best_finder {
  memory *m;
  tdm_plan *plan;
  int64_t batch, vocab, block; /* ids of a block: a divisor of vocab */
  void *targets, *parts;       /* on the device */
  float *host;
} best_finder;

typedef struct candidate {
  float logit;
  int32_t id; /* -1: a logit is NaN or +infinity, or all are -infinity; logit is +infinity then */
} candidate;

/* Bytes on the device. */
size_t best_bytes(int64_t batch, int64_t vocab);
bool best_open(best_finder *b, memory *m, int64_t batch, int64_t vocab, llama_error *error);
/* A finder of zeros is allowed. */
void best_close(best_finder *b);
/* logits: [batch, vocab] on the device. first: the first column's id. Of equal logits the smallest id. */
bool best_find(const best_finder *b, const float *logits, int64_t first, candidate *best, llama_error *error);

#endif
