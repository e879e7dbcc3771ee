#include <popt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

bool complain_option(int argc, const char **argv, const char *bad, int error) {
  const char *option = "", *between = "";
  bool number = (error == POPT_ERROR_BADNUMBER || error == POPT_ERROR_OVERFLOW) && strncmp(bad, "--", 2) != 0;
  for (int n = 2; n < argc && number; n++)
    if (argv[n] == bad || (strcmp(argv[n], bad) == 0 && argv[n - 1][0] == '-')) option = argv[n - 1], between = " ";
  return complain("%s%s%s: %s", option, between, bad, poptStrerror(error));
}
