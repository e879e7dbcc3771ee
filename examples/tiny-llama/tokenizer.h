/* The BPE tokenizer of a Hugging Face folder (tokenizer.json), as Llama models have it. */
#ifndef LLAMA_TOKENIZER_H
#define LLAMA_TOKENIZER_H

#include "llama.h"

typedef struct tokenizer tokenizer;

/* Parses the text of a tokenizer.json; path is for messages. Refuses what this program does not do: other models than BPE,
 * other normalizers, pre-tokenizers and decoders. Keeps nothing of `json`. */
bool tokenizer_parse(const char *path, const char *json, size_t size, tokenizer **t, llama_error *error);
/* The same for FOLDER/tokenizer.json. */
bool tokenizer_open(const char *folder, tokenizer **t, llama_error *error);
/* NULL is allowed. */
void tokenizer_close(tokenizer *t);

/* The ids of a text, which is UTF-8 of `size` bytes and may hold special tokens; with the post-processor's tokens (bos) around
 * it if `special`. The caller frees *ids. */
bool tokenizer_encode(const tokenizer *t, const char *text, size_t size, bool special, int32_t **ids, int64_t *count,
                      llama_error *error);

/* Text as its tokens come: bytes of a character that is not whole yet wait for the next token. All zero at the beginning. */
typedef struct tokenizer_stream {
  unsigned char waiting[8];
  int count;
  bool begun; /* a token was decoded: the first one's leading space is dropped where the decoder says so */
} tokenizer_stream;

/* Longest text that one token can add: tokens of real vocabularies are far shorter. */
enum { TOKENIZER_TEXT = 1024 };
/* The text that a token adds, as UTF-8 with a NUL behind it; special tokens add none. false: the id is none of the
 * vocabulary's. */
bool tokenizer_next(const tokenizer *t, tokenizer_stream *stream, int32_t id, char text[TOKENIZER_TEXT]);

#endif
