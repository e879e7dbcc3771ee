/* --cases: several shapes in one process. */
#ifndef LLAMA_CASES_H
#define LLAMA_CASES_H

#include "session.h"

/* Reads --cases to s->cases, and refuses options that say the same in another way. */
bool cases_read(session *s, const char *text, llama_error *error);
/* Each case as run_once or run_generate, after a line with its text. --logits: of the last case, a pass. */
bool run_cases(session *s, llama_error *error);

#endif
