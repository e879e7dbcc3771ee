/* A model's weights on a device: random ones from a seed, or those of a checkpoint. */
#ifndef LLAMA_WEIGHTS_H
#define LLAMA_WEIGHTS_H

#include "config.h"
#include "memory.h"
#include "ranks.h"
#include "safetensors.h"
#include "share.h"

/* Projections are [outputs, inputs], as Linear layers store them. A part that was not asked for is NULL. */
typedef struct layer_weights {
  const void *q, *k, *v;  /* apart; with WEIGHTS_QKV these are parts of one block [v; k; q] */
  const void *qkv_groups; /* one block, head group by head group: its query heads, its key head, its value head */
  const void *o, *gate, *up, *down;
  const void *gate_up; /* one block [gate; up] */
  const void *norm1, *norm2;
} layer_weights;

/* Which forms of the fused projections a run needs. */
enum {
  WEIGHTS_APART = 1,   /* q, k, v */
  WEIGHTS_QKV = 2,     /* v, k, q one after another: one rope rotates k and q, and a cache takes v and k */
  WEIGHTS_GROUPS = 4,  /* qkv_groups */
  WEIGHTS_GATE_UP = 8, /* gate and up one after another */
};

typedef struct weights {
  const llama_config *config;
  tdm_type type;
  const void *embedding, *head, *norm;
  layer_weights *layer;
  checkpoint files;
  bool from_files;
  double read; /* bytes that Linux has counted as read while the weights were loaded; mapped ones do not count */
} weights;

/* folder NULL: N(0, 0.02) from the seed, norms 1. A process that has the whole model uses a tensor of the wanted type, on the
 * host, where its file is mapped. One of several ranks reads its slices, and nothing else of the files. */
bool weights_open(const llama_share *share, const ranks *r, const char *folder, uint64_t seed, tdm_type type, int forms,
                  memory *m, weights *w, llama_error *error);
/* The device memory belongs to memory_end. */
void weights_close(weights *w);
/* Bytes of weights that a run with these forms needs, at most: none of them used where it is mapped. */
size_t weights_bytes(const llama_config *config, tdm_type type, int forms);

#endif
