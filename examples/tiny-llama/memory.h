/* Device memory by kind: what a run needs is known, and said, before it is allocated. */
#ifndef LLAMA_MEMORY_H
#define LLAMA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <tandem/tandem.h>

#include "error.h"

typedef enum memory_kind {
  MEMORY_WEIGHTS,
  MEMORY_ACTIVATIONS,
  MEMORY_SCORES,
  MEMORY_LOGITS,
  MEMORY_CACHE,
  MEMORY_KINDS
} memory_kind;
extern const char *const memory_kind_names[MEMORY_KINDS];

typedef struct memory_block {
  void *pointer;
  size_t bytes;
  memory_kind kind;
  struct memory_block *next;
} memory_block;

typedef struct memory {
  tdm_context *context;
  memory_block *blocks;
  size_t now[MEMORY_KINDS], peak[MEMORY_KINDS];
  int sharers;   /* processes of this machine that need as much as this one, 0: it is alone */
  size_t mapped; /* weights that are used where their file is mapped */
} memory;

/* As a size; more than 2^60 becomes 2^60, which no machine has, and sums of which stay below 2^64. */
size_t memory_bytes(double bytes);
/* Bytes wanted of each kind: refused here when they are more than the device has left. A GPU is asked by one allocation of them
 * all, which is given back at once. */
bool memory_check(const memory *m, const char *what, const size_t wanted[MEMORY_KINDS], llama_error *error);
bool memory_take(memory *m, memory_kind kind, size_t bytes, void **pointer, llama_error *error);
/* NULL is allowed. */
void memory_give(memory *m, void *pointer);
/* Frees everything. */
void memory_end(memory *m);
bool memory_on_host(const memory *m);

#endif
