/* Regular expressions of pre-tokenizers. */
#ifndef LLAMA_SPLIT_H
#define LLAMA_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

typedef struct split split;

/* Expressions of pre-tokenizers that do not write them out; Llama 3's is the third that is known. */
#define SPLIT_GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define SPLIT_DIGIT "\\p{N}"
#define SPLIT_DIGITS "\\p{N}+"

/* Refuses expressions that are not known: they are written for another engine, and may mean something else in this one. `where`
 * is for the message. */
bool split_open(const char *where, const char *regex, split **s, llama_error *error);
/* NULL is allowed. */
void split_close(split *s);
/* The first match at `from` or after it, *begin < *end; without one both are `size`. The text is valid UTF-8. */
bool split_next(split *s, const char *text, size_t size, size_t from, size_t *begin, size_t *end, llama_error *error);

#endif
