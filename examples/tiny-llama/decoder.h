/* A sequence that grows: its keys and values are kept, a prompt goes through the model at once, then token by token. */
#ifndef LLAMA_DECODER_H
#define LLAMA_DECODER_H

#include "session.h"

typedef struct decoder {
  session *s;
  kv_cache cache;
  forward one;    /* a pass of one token */
  int64_t length; /* tokens in the cache */
  double plans;   /* seconds that decoder_step has spent on steps and plans, before a pass began */
} decoder;

/* Loads the session's model for its version, with room for `capacity` tokens. Says before if memory is short, for prompts of up
 * to `prompt` tokens, with the logits of `all` of them or of the last. */
bool decoder_open(decoder *d, session *s, int64_t prompt, bool all, int64_t capacity, llama_error *error);
void decoder_close(decoder *d);
/* Appends tokens, in one pass; logits: [vocab], after the last of them, or [count, vocab] with `all`. */
bool decoder_prefill(decoder *d, const int32_t *ids, int64_t count, bool all, float *logits, llama_error *error);
/* Appends one token. */
bool decoder_step(decoder *d, int32_t id, float *logits, llama_error *error);

#endif
