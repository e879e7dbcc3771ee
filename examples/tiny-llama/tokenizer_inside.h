/* What the reader of tokenizer.json (tokenizer_read.c) hands to the tokenizer (tokenizer.c). */
#ifndef LLAMA_TOKENIZER_INSIDE_H
#define LLAMA_TOKENIZER_INSIDE_H

#include "bpe.h"
#include "split.h"
#include "tokenizer.h"

enum {
  TOKENIZER_REWRITES = 2,   /* steps of a normalizer */
  TOKENIZER_SPLITS = 8,     /* steps of a pre-tokenizer */
  TOKENIZER_REWRITE = 16,   /* bytes of a rewrite's text, so that no file makes texts grow without end */
  TOKENIZER_LONGEST = 320,  /* bytes of a token: (320 + 3 waiting) U+FFFD fit TOKENIZER_TEXT */
  TOKENIZER_KEY = 640,      /* bytes of its name in the file */
  TOKENIZER_MOST = 1 << 20, /* ids */
};

/* Each `from` becomes `to`; from.size 0: `to` is put in front of a text that is not empty. */
typedef struct rewrite {
  span from, to;
} rewrite;

/* Tokens that are found in the text before it is merged. */
typedef struct added_token {
  span text;
  int32_t id;
} added_token;

typedef struct added_set {
  added_token *token; /* in the order of their bytes, so that a prefix comes before what begins with it */
  int count, first[257];
} added_set;

typedef enum metaspace { METASPACE_NONE, METASPACE_NEVER, METASPACE_FIRST, METASPACE_ALWAYS } metaspace;

struct tokenizer {
  struct texts *texts; /* what the spans below point into */
  bpe model;
  span *shown; /* [ids]: the bytes that a token stands for; text NULL: there is no token; special ones have no bytes */
  bool byte_level, ignore_merges;
  int32_t byte[256]; /* the token of each byte */

  rewrite normalizer[TOKENIZER_REWRITES];
  int rewrites;
  added_set raw, normalized; /* found before and after the normalizer */
  metaspace metaspace;
  rewrite space; /* of metaspace: ' ' to its replacement */
  split *split[TOKENIZER_SPLITS];
  int splits;
  bpe_list prefix, suffix; /* what the post-processor puts around a text */
  rewrite shows;           /* the decoder's replacement; from.size 0: none */
  bool strip;              /* the decoder drops one leading space */
};

/* Copies a text of at most 64 KiB, which lives as long as the tokenizer. NULL: no memory. */
char *tokenizer_keep(tokenizer *t, span text);
/* The text rewritten, in memory of the caller's. NULL: no memory, or it would be longer than PTRDIFF_MAX. */
char *rewrite_text(const rewrite *r, span text, size_t *size);
/* The same by all steps of the normalizer. */
char *normalize_text(const tokenizer *t, span text, size_t *size);

#endif
