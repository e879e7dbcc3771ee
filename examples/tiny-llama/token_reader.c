/* Objects of tokenizer.json and their keys. */
#include "token_reader.h"

#include <stdio.h>
#include <string.h>

#include "json_value.h"

json_place place_of(const char *where, const char *key) {
  json_place place;
  snprintf(place.text, sizeof place.text, "%.70s%s%.50s", where, where[0] == '\0' ? "" : ".", key);
  return place;
}

json_place place_at(const char *where, size_t index) {
  json_place place;
  snprintf(place.text, sizeof place.text, "%.90s[%zu]", where, index);
  return place;
}

bool refuse_value(const token_reader *r, const char *where, const json_t *value, const char *what) {
  return llama_refuse(r->path, where, value, what, r->error);
}

bool read_keys(const token_reader *r, const char *where, const json_t *object, const key_rule *rules) {
  const char *key;
  json_t *value;
  if (!json_is_object(object)) return refuse_value(r, where, object, "must be an object");
  json_object_foreach((json_t *)(uintptr_t)object, key, value) {
    const key_rule *rule = rules;
    json_place place = place_of(where, key);
    while (rule->key != NULL && strcmp(rule->key, key) != 0) rule++;
    if (rule->key == NULL) return llama_fail(r->error, "%s: %s: this key is not known", r->path, place.text);
    if (rule->allowed == NULL || json_one_of(value, rule->allowed)) continue;
    char what[80];
    snprintf(what, sizeof what, "must be %s", rule->allowed);
    return refuse_value(r, place.text, value, what);
  }
  return true;
}

bool read_text(const token_reader *r, const char *where, const json_t *object, const char *key, span *text) {
  const json_t *value = json_object_get(object, key);
  json_place place = place_of(where, key);
  if (value == NULL) return llama_fail(r->error, "%s: %s is missing", r->path, place.text);
  if (!json_is_string(value)) return refuse_value(r, place.text, value, "must be a string");
  *text = (span){json_string_value(value), json_string_length(value)};
  return true;
}
