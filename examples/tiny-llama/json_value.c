/* Values of JSON files. */
#include "json_value.h"

#include <stdlib.h>
#include <string.h>

bool llama_refuse(const char *path, const char *key, const json_t *value, const char *what, llama_error *error) {
  char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
  llama_fail(error, "%s: %s = %.200s: %s", path, key, text == NULL ? "?" : text, what);
  free(text);
  return false;
}

bool json_one_of(const json_t *value, const char *allowed) {
  char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
  bool found = false;
  for (const char *word = allowed; text != NULL && !found; word++) {
    size_t length = strcspn(word, "|");
    found = strlen(text) == length && memcmp(word, text, length) == 0;
    word += length;
    if (*word == '\0') break;
  }
  free(text);
  return found;
}
