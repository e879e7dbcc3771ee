/* Values of JSON files, and the messages about those that are refused. */
#ifndef LLAMA_JSON_VALUE_H
#define LLAMA_JSON_VALUE_H

#include <jansson.h>

#include "error.h"

/* "PATH: KEY = VALUE: WHAT"; returns false. */
bool llama_refuse(const char *path, const char *key, const json_t *value, const char *what, llama_error *error);
/* Is it one of these, which stand as JSON with '|' between them? */
bool json_one_of(const json_t *value, const char *allowed);

#endif
