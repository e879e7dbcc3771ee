/* The user's file, compiled. */
#ifndef TANDEM_LEARN_BUILD_H
#define TANDEM_LEARN_BUILD_H

#include "learn.h"

typedef struct learn_code {
  void *data; /* a code object of AMD's, or a shared object */
  size_t bytes;
  char compiler[512];
} learn_code;

/* Compiles r->file, for a chip (HIP) or the host (chip NULL). What went wrong is in the outcome: LEARN_COMPILE with the
 * compiler's first errors, or LEARN_FAILED. */
bool learn_build(const learn_request *r, const char *chip, learn_code *code, learn_outcome *o);
void learn_code_free(learn_code *code);

#endif
