/* The message that gfxsim_last_error() returns. */
#ifndef GFXSIM_ERROR_H
#define GFXSIM_ERROR_H
#include "sim/include/gfxsim.h"

/* Stores the message and returns the status, so that a check is one line. */
__attribute__((format(printf, 2, 3))) gfxsim_status fail(gfxsim_status status, const char *format, ...);

#endif
