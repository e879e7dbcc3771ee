/* Findings in the device runtime that the compiler links into every program: known, harmless, and not the program's. */
#ifndef GFXSIM_DOOR_SUPPRESS_H
#define GFXSIM_DOOR_SUPPRESS_H
#include "sim/include/gfxsim.h"

/* The row that suppresses it, "function: what: why"; NULL: it counts. */
const char *suppress_reason(const gfxsim_report *report);

#endif
