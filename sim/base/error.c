#include "error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char message[2048];

const char *gfxsim_last_error(void) { return message; }

gfxsim_status fail(gfxsim_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return status;
}

gfxsim_status gfxsim_fail(gfxsim_status status, const char *text) { return fail(status, "%s", text); }
