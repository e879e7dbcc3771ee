/* A pass over the session's ids, timed; what all commands do with --logits. */
#ifndef LLAMA_ONCE_H
#define LLAMA_ONCE_H

#include "session.h"

/* A pass, its time and what the ranks did; `logits`: writes them too. */
bool run_once(session *s, bool logits, llama_error *error);
/* Writes --logits. Of ranks the first writes. */
bool logits_write(const session *s, const float *logits, int64_t count, llama_error *error);

#endif
