/* --generate: a prompt, and the tokens that follow it. */
#ifndef LLAMA_GENERATE_H
#define LLAMA_GENERATE_H

#include "session.h"

/* Appends up to `--generate` tokens to the session's ids, printed as they come; ends at an end-of-text token of config.json.
 * Then the tokens a second of prefill and of decoding. */
bool run_generate(session *s, llama_error *error);

#endif
