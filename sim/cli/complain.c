#include <stdarg.h>
#include <stdio.h>

#include "cli.h"

bool complain(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("gfxsim: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return false;
}
