/* OpenMP exercises: the user's function, called in a process of its own between pages that nobody may touch. */
#ifndef TANDEM_LEARN_HOST_H
#define TANDEM_LEARN_HOST_H

#include "learn.h"

void learn_try_host(const learn_request *r, learn_outcome *o);

#endif
