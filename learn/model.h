/* The capstones: a kernel that is right by itself replaces the library's in tiny-llama (examples/tiny-llama/own.h). */
#ifndef TANDEM_LEARN_MODEL_H
#define TANDEM_LEARN_MODEL_H

#include "learn.h"

/* Continues two prompts with the library's kernels and with the user's, prints both predictions, and says whether the texts
 * are equal. llama: the program; words: the folder of the trained model. false: they are not, or stderr says why nothing was
 * compared. */
bool learn_model(const learn_request *r, const char *llama, const char *words);

#endif
