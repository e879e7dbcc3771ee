/* Sequences that grow: their keys and values are kept, prompts go through the model at once, then token by token. All of them
 * have the same length. */
#ifndef LLAMA_DECODER_H
#define LLAMA_DECODER_H

#include "session.h"

typedef struct decoder {
  session *s;
  kv_cache cache;
  forward one;    /* a pass of one token */
  int64_t length; /* tokens of a sequence in the cache */
  best_finder best;
  double plans; /* seconds that decoder_step has spent on steps and plans, before a pass began */
} decoder;

/* Loads the session's model for its version, with room for `capacity` tokens of each of its sequences. Says before if memory
 * is short, for prompts of up to `prompt` tokens, with the logits of `all` of them or of the last. */
bool decoder_open(decoder *d, session *s, int64_t prompt, bool all, int64_t capacity, llama_error *error);
void decoder_close(decoder *d);
/* Appends ids [batch, count], in one pass; logits: [batch, vocab], after the last of them, or [batch, count, vocab] with
 * `all`. best, in place of logits if it is not NULL: the likeliest token of each sequence. */
bool decoder_prefill(decoder *d, const int32_t *ids, int64_t count, bool all, float *logits, int32_t *best, llama_error *error);
/* Appends a token to each sequence, ids [batch]; logits: [batch, vocab]. */
bool decoder_step(decoder *d, const int32_t *ids, float *logits, int32_t *best, llama_error *error);

#endif
