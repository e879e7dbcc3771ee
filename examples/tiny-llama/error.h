/* The one line that a failing function leaves. */
#ifndef LLAMA_ERROR_H
#define LLAMA_ERROR_H

#include <stdbool.h>

enum { LLAMA_ERROR_TEXT = 768 };

/* It names the file, the tensor or the option, and what is wrong. */
typedef struct llama_error {
  char text[LLAMA_ERROR_TEXT];
} llama_error;

/* Writes the line and returns false. */
bool llama_fail(llama_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* After a failing call of the library: the library's own line, with what was being done in front of it. */
bool llama_fail_tandem(llama_error *error, const char *doing);

#endif
