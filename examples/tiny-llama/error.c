/* The one line that a failing function leaves. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <tandem/tandem.h>

bool llama_fail(llama_error *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error->text, sizeof error->text, format, args);
  va_end(args);
  for (char *at = error->text; *at != '\0'; at++) /* names come from files: the message stays one line */
    if ((unsigned char)*at < ' ' || *at == 0x7f) *at = '?';
  return false;
}

bool llama_fail_tandem(llama_error *error, const char *doing) { return llama_fail(error, "%s: %s", doing, tdm_last_error()); }
