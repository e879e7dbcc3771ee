/* tandem-learn try --trace FILE.svg: what `gfxsim time` predicts of the user's kernel. */
#ifndef TANDEM_LEARN_TRACE_H
#define TANDEM_LEARN_TRACE_H

#include "learn.h"

/* Runs the first shape in the order of the model's clocks, prints where they go, and draws the waves of a workgroup. gfxsim:
 * the program.
 * false: stderr says why. */
bool learn_trace(const learn_request *r, const char *gfxsim, const char *to);

#endif
