/* Byte-pair encoding: tokens found by their bytes, pairs of tokens that merge, and the merging. */
#ifndef LLAMA_BPE_H
#define LLAMA_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

typedef struct span {
  const char *text;
  size_t size;
} span;

typedef struct bpe_pair {
  int32_t left, right, rank, made; /* made: the token that they become, -1: an empty slot */
} bpe_pair;

typedef struct bpe {
  span *key; /* [ids]; text NULL: not found by its bytes */
  int32_t ids;
  int32_t *slot; /* hash table of ids, -1: empty */
  bpe_pair *pair;
  size_t slots, pairs; /* powers of two, at least twice what they hold */
} bpe;

/* Ids below `ids`, of which at most `keys` are added, and room for this many merges. */
bool bpe_open(bpe *b, int32_t ids, size_t keys, size_t merges, llama_error *error);
void bpe_close(bpe *b);
/* A key that no other token has; its text must outlive b. */
void bpe_add(bpe *b, int32_t id, span key);
/* -1: there is none. */
int32_t bpe_find(const bpe *b, span key);
/* The lower rank merges first; of two merges of one pair the later one counts. */
void bpe_add_merge(bpe *b, bpe_pair merge);

/* A list of ids that grows, and what merging needs. All zero at the beginning. */
typedef struct bpe_list {
  int32_t *id;
  size_t count, room;
  struct bpe_symbol *symbol;
  struct bpe_candidate *heap;
  size_t work; /* symbols that the two have room for */
} bpe_list;

bool bpe_append(bpe_list *list, int32_t id, llama_error *error);
/* Merges the ids from `first` to the end of the list: n log n for n ids. */
bool bpe_merge(const bpe *b, bpe_list *list, size_t first, llama_error *error);
/* All but the ids. */
void bpe_list_end(bpe_list *list);

#endif
