/* The vocabulary of tokenizer.json: its model and the added tokens. */
#ifndef LLAMA_VOCABULARY_H
#define LLAMA_VOCABULARY_H

#include "token_reader.h"

/* Call it after the pre-tokenizer, the normalizer and the decoder were read. */
bool read_vocabulary(token_reader *r, const json_t *model, const json_t *added);

#endif
