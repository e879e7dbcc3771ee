/* What the files of the forward pass share. */
#ifndef LLAMA_FORWARD_INSIDE_H
#define LLAMA_FORWARD_INSIDE_H

#include "forward.h"

/* Activations. Each version uses a part of them. */
enum { X, Y, Q, K, V, QKV, HEADS, SCORES, OUT, MLP, BUFFERS };
_Static_assert((int)BUFFERS == FORWARD_BUFFERS, "a forward has room for them");

static inline int64_t tokens(const forward *f) { return f->batch * f->seq; }
static inline int64_t keys(const forward *f) { return f->past + f->seq; }
static inline int64_t q_width(const llama_config *c) { return c->heads * c->head_dim; }
static inline int64_t kv_width(const llama_config *c) { return c->kv_heads * c->head_dim; }
static inline int64_t per_group(const llama_config *c) { return c->heads / c->kv_heads; }
static inline bool materialised(const forward *f) { return f->version <= 2; }
static inline int64_t longest(const forward *f) { return f->cache != NULL ? f->cache->capacity : f->seq; }
/* Versions 2 to 4 make q, k and v in one product. With a cache v and k go there, and q of one token lies after them, where the
 * next token's v and k will be; of more tokens, or sequences, q needs a product and rows of its own. */
static inline bool together(const forward *f) { return f->version >= 2 && (f->cache == NULL || tokens(f) == 1); }
/* Several ranks have the model. */
static inline bool divided(const forward *f) { return f->share->ranks > 1; }
/* Tokens that go from one product to the next together, while the sums of others are on their way between ranks. A process
 * alone has one chunk. */
typedef struct chunk {
  int number;
  int64_t first, count;
  /* The tokens whose residual stream this rank has: with by_tokens `each` of a chunk, the last ranks maybe fewer. In the
   * stream's buffer they begin at row x. */
  int64_t each, mine, own, x;
} chunk;

static inline int64_t chunk_size(const forward *f) {
  int64_t unit = f->by_tokens ? f->share->ranks : 1, chunks = f->chunks < 1 ? 1 : f->chunks;
  int64_t size = (tokens(f) + chunks - 1) / chunks;
  return (size + unit - 1) / unit * unit;
}
static inline int chunks_of(const forward *f) { return (int)((tokens(f) + chunk_size(f) - 1) / chunk_size(f)); }
static inline chunk chunk_of(const forward *f, int number) {
  int64_t size = chunk_size(f), first = number * size, left = tokens(f) - first, count = left < size ? left : size;
  if (!f->by_tokens) return (chunk){number, first, count, count, first, count, first};
  int64_t ranks = f->share->ranks, each = (count + ranks - 1) / ranks, before = each * f->share->rank;
  int64_t own = count < before ? 0 : count - before < each ? count - before : each;
  return (chunk){number, first, count, each, first + before, own, first / ranks};
}
/* Rows of a buffer with all tokens: the last chunk's parts may go beyond them. */
static inline int64_t all_rows(const forward *f) { return tokens(f) + (f->by_tokens ? f->share->ranks - 1 : 0); }
/* Rows of the residual stream on this rank. */
static inline int64_t stream_rows(const forward *f) {
  chunk last = chunk_of(f, chunks_of(f) - 1);
  return last.x + last.each;
}
static inline char *at(const forward *f, const void *base, int64_t elements) {
  return (char *)(uintptr_t)base + elements * (int64_t)tdm_type_size(f->w->type);
}

/* The MLP's result takes the place of q, k and v. */
static inline bool shares(const forward *f) { return f->version == 4 && f->cache == NULL; }

/* Takes the memory of a pass, or its places in a room. */
bool forward_take_buffers(forward *f, llama_error *error);

#endif
