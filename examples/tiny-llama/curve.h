/* --curve: how long exchanges between the ranks take. */
#ifndef LLAMA_CURVE_H
#define LLAMA_CURVE_H

#include "session.h"

/* Prints a table of sizes. Refuses a session without ranks. */
bool run_curve(session *s, llama_error *error);

#endif
