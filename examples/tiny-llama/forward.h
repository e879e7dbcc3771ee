/* The forward pass of a Llama model, in four versions that give the same logits:
 *   1  an op for each operation: q, k, v, gate and up apart, scores materialised
 *   2  q, k and v in one product, gate and up in one; scores still materialised
 *   3  the library's own kernels: flash attention, swiglu
 *   4  residual adds in the products before them, buffers shared within a layer
 * Tokens lie position by position, [seq, batch]: so the heads of all sequences have one stride, and one launch serves them. */
#ifndef LLAMA_FORWARD_H
#define LLAMA_FORWARD_H

#include "best.h"
#include "graph.h"
#include "share.h"
#include "weights.h"

enum { VERSIONS = 4, FORWARD_BUFFERS = 10, FORWARD_BLOCKS = FORWARD_BUFFERS + 2 };

/* Values and keys of sequences: for each layer rows [capacity, batch, 2, kv_heads, head_dim], and room for a token's queries.
 * */
typedef struct kv_cache {
  int64_t capacity, batch;
  void **layer;
} kv_cache;

bool kv_cache_open(kv_cache *cache, const llama_config *config, tdm_type type, int64_t capacity, int64_t batch, memory *m,
                   llama_error *error);
size_t kv_cache_bytes(const llama_config *config, tdm_type type, int64_t capacity, int64_t batch);
void kv_cache_close(kv_cache *cache, const llama_config *config, memory *m);

typedef struct forward {
  const llama_config *config; /* this rank's part of share->whole */
  const llama_share *share;
  mover *mover; /* between ranks; of a process that has the whole model it is not used */
  const weights *w;
  memory *m;
  struct own_kernels *kernels; /* of the user, in place of the library's; NULL: none */
  int version;
  int64_t batch, seq;
  kv_cache *cache; /* NULL: none. Of as many sequences as this pass has */
  int64_t past;    /* tokens in the cache before this pass */
  bool last_only;  /* logits of the last position alone */
  int chunks;      /* ranks: 2, products of one half of the tokens run beside the sums of the other; else 1 */
  bool by_tokens;  /* ranks: between products each has the residual stream of a part of the tokens alone */
  void *room;      /* forward_room bytes for all that it keeps; NULL: it takes memory of its own. Passes of different versions
                    * over the same input may share it: the ids lie at one place, all else is made anew by each */
  graph graph;
  int32_t *ids;                  /* [seq, batch] */
  float *logits;                 /* [seq or 1, batch, vocab], the ids of this rank */
  void *buffer[FORWARD_BUFFERS]; /* activations, by forward.c's names */
  void *own[FORWARD_BLOCKS];     /* memory to give back */
} forward;

/* What weights a version needs. */
int forward_weight_forms(int version, bool cached);
/* Bytes of each kind but the weights, for memory_check. */
void forward_bytes(const forward *f, size_t bytes[MEMORY_KINDS]);
/* Bytes of a room for the pass. */
size_t forward_room(const forward *f);
/* config, w, m, version, batch, seq, cache, last_only, room are set. */
bool forward_open(forward *f, llama_error *error);
void forward_close(forward *f);
/* The next pass begins after `past` tokens of the cache. Versions 1 and 2, whose scores have a size of their own with each
 * token, make their plans again. */
bool forward_move(forward *f, int64_t past, llama_error *error);
/* The likeliest token of each sequence after the last position, -1 where a logit is NaN or +infinity. Ranks exchange their best
 * ones alone. */
bool forward_best(const forward *f, const best_finder *finder, int32_t *ids, llama_error *error);
/* 64 bits of the last norm of the last pass, which depends on all before it and must be the same on all ranks. */
bool forward_hash(const forward *f, uint64_t *hash, llama_error *error);
/* ids: [batch, seq]. Refuses ids outside the vocabulary. */
bool forward_ids(forward *f, const int32_t *ids, llama_error *error);
/* Launches all steps and waits for the end. */
bool forward_run(const forward *f, llama_error *error);
/* Logits of one sequence's position, those of all ranks, to host memory of vocab floats. */
bool forward_logits(const forward *f, int64_t sequence, int64_t position, float *logits, llama_error *error);
/* FLOP of the whole model for this shape, the same for all versions: products, and attention over the keys that are seen. */
double forward_flops(const forward *f);

#endif
