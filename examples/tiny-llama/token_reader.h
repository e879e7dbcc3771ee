/* Objects of tokenizer.json and their keys, for the two parts of its reader: tokenizer_read.c and vocabulary.c. */
#ifndef LLAMA_TOKEN_READER_H
#define LLAMA_TOKEN_READER_H

#include <jansson.h>

#include "tokenizer_inside.h"

typedef struct token_reader {
  const char *path;
  tokenizer *t;
  llama_error *error;
  bool decodes_bytes;    /* the decoder is ByteLevel */
  bool decodes_fallback; /* the decoder knows <0x00> to <0xFF> */
  int decoder_steps;     /* of its list, those that were read */
  bool has_template;     /* of the post-processor */
} token_reader;

/* A key that an object may have; its values as JSON with '|' between them, NULL: any. The list ends with a key NULL. */
typedef struct key_rule {
  const char *key, *allowed;
} key_rule;

/* A path of keys, for messages. */
typedef struct json_place {
  char text[128];
} json_place;

json_place place_of(const char *where, const char *key);
json_place place_at(const char *where, size_t index);

/* Is it an object that has no other keys and no other values? */
bool read_keys(const token_reader *r, const char *where, const json_t *object, const key_rule *rules);
/* A string. */
bool read_text(const token_reader *r, const char *where, const json_t *object, const char *key, span *text);
bool refuse_value(const token_reader *r, const char *where, const json_t *value, const char *what);

#endif
