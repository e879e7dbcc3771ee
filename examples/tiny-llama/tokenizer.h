/* The BPE tokenizer of a Hugging Face folder (tokenizer.json), as Llama models have it: characters with bytes to fall back on
 * (Llama 2), or bytes after a regular expression (Llama 3). Ids are those of the `tokenizers` library. */
#ifndef LLAMA_TOKENIZER_H
#define LLAMA_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

typedef struct tokenizer tokenizer;

/* Parses the text of a tokenizer.json; path is for messages. Refuses, with one line that names it, whatever it does not do:
 * models other than BPE, other normalizers, pre-tokenizers, post-processors and decoders, unknown keys. Keeps nothing of
 * `json`. */
bool tokenizer_parse(const char *path, const char *json, size_t size, tokenizer **t, llama_error *error);
/* The same for FOLDER/tokenizer.json. */
bool tokenizer_open(const char *folder, tokenizer **t, llama_error *error);
/* NULL is allowed. */
void tokenizer_close(tokenizer *t);
/* One more than the largest id. */
int32_t tokenizer_ids(const tokenizer *t);

/* The ids of a text of `size` bytes, which may hold special tokens and NULs; with the post-processor's tokens (bos) around it
 * if `special`. Text that is not UTF-8 is refused, with the byte's position. The caller frees *ids, which is never NULL. One
 * thread at a time may use a tokenizer. */
bool tokenizer_encode(tokenizer *t, const char *text, size_t size, bool special, int32_t **ids, int64_t *count,
                      llama_error *error);

/* Text as its tokens come: bytes of a character that is not whole yet wait for the next token. All zero at the beginning. */
typedef struct tokenizer_stream {
  unsigned char waiting[4];
  int count;
  bool begun; /* text was given out: a leading space is dropped before that, where the decoder says so */
} tokenizer_stream;

/* The most bytes that one token adds, with the NUL. */
enum { TOKENIZER_TEXT = 1024 };
/* Writes the text that a token adds, as UTF-8 with a NUL after it, and returns its length; -1: no token has this id. Special
 * tokens add none. Bytes that are not UTF-8 become U+FFFD, one for the longest beginning of a character. */
int tokenizer_next(const tokenizer *t, tokenizer_stream *stream, int32_t id, char text[TOKENIZER_TEXT]);
/* The end: a character that never became whole is one U+FFFD. */
int tokenizer_end(tokenizer_stream *stream, char text[TOKENIZER_TEXT]);

#endif
