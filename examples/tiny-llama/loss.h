/* Cross-entropy of a file of tokens. */
#ifndef LLAMA_LOSS_H
#define LLAMA_LOSS_H

#include "session.h"

/* Prints the mean loss and the perplexity of a text file of ids, in windows of the session's input shape; without --input, of
 * one sequence no longer than the context. */
bool run_loss(session *s, const char *path, llama_error *error);

#endif
