#ifndef GFXSIM_CLI_EXEC_SUMMARY_H
#define GFXSIM_CLI_EXEC_SUMMARY_H
#include <stdbool.h>

#include "sim/door/tally.h"

/* Prints the counts to stderr. status: waitpid's. Returns the exit status of `gfxsim exec`. */
int summary_print(tally *t, const char *chip, bool profile, int status);

#endif
