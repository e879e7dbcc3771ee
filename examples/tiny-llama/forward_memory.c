/* The memory of a pass and of a cache. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forward_inside.h"

/* Elements of each buffer. In f64: a configuration may ask for more than fits 63 bits. */
static void buffer_sizes(const forward *f, double n[BUFFERS]) {
  const llama_config *c = f->config;
  double t = (double)tokens(f), all = (double)all_rows(f), d = (double)c->d, ffn = (double)c->ffn, q = (double)q_width(c),
         kv = (double)kv_width(c);
  double keys_most = (double)longest(f);
  for (int i = 0; i < BUFFERS; i++) n[i] = 0;
  n[X] = (double)stream_rows(f) * d;
  n[Y] = all * (f->version == 4 ? fmax(d, q) : d); /* 4: also the heads */
  if (!together(f)) n[Q] = t * q;
  if (!together(f) && f->cache == NULL) n[K] = n[V] = t * kv;
  if (shares(f))
    n[QKV] = t * fmax(q + 2 * kv, ffn);
  else if (together(f) && f->cache == NULL)
    n[QKV] = t * (q + 2 * kv);
  if (f->version < 4) n[HEADS] = t * q, n[OUT] = t * d;
  if (divided(f)) n[OUT] = all * d * (double)sizeof(float) / (double)tdm_type_size(f->w->type); /* partial sums */
  if (materialised(f)) n[SCORES] = t * (double)c->heads * keys_most;
  if (!shares(f)) n[MLP] = t * ffn * (materialised(f) ? 2 : 1);
}

/* All blocks of a pass: the ids, which lie first in a room that versions share, the logits, the activations. */
enum { IDS, LOGITS, ACTIVATIONS, BLOCKS = ACTIVATIONS + BUFFERS };
_Static_assert((int)BLOCKS == FORWARD_BLOCKS, "a forward has room for them");

static memory_kind block_kind(int i) {
  return i == LOGITS ? MEMORY_LOGITS : i == ACTIVATIONS + SCORES ? MEMORY_SCORES : MEMORY_ACTIVATIONS;
}

static void block_sizes(const forward *f, size_t bytes[BLOCKS]) {
  double n[BUFFERS], rows = (double)(f->last_only ? f->batch : tokens(f));
  buffer_sizes(f, n);
  bytes[IDS] = memory_bytes((double)tokens(f) * sizeof(int32_t));
  bytes[LOGITS] = memory_bytes(rows * (double)f->config->vocab * sizeof(float));
  for (int i = 0; i < BUFFERS; i++) bytes[ACTIVATIONS + i] = memory_bytes(n[i] * (double)tdm_type_size(f->w->type));
}

void forward_bytes(const forward *f, size_t bytes[MEMORY_KINDS]) {
  size_t block[BLOCKS];
  block_sizes(f, block);
  for (int i = 0; i < BLOCKS; i++) bytes[block_kind(i)] += block[i];
}

/* What a block takes of a room: every one begins at a multiple of 256 bytes, as memory of its own does. */
static size_t in_room(size_t bytes) { return (bytes + 255) / 256 * 256; }

size_t forward_room(const forward *f) {
  size_t block[BLOCKS], sum = 0;
  block_sizes(f, block);
  for (int i = 0; i < BLOCKS; i++) sum += in_room(block[i]);
  return sum;
}

bool forward_take_buffers(forward *f, llama_error *error) {
  size_t block[BLOCKS], used = 0;
  void *at[BLOCKS];
  block_sizes(f, block);
  for (int i = 0; i < BLOCKS; used += in_room(block[i++])) {
    if (f->room == NULL && !memory_take(f->m, block_kind(i), block[i], &f->own[i], error)) return false;
    at[i] = f->room == NULL ? f->own[i] : (char *)f->room + used;
  }
  f->ids = at[IDS], f->logits = at[LOGITS];
  memcpy(f->buffer, at + ACTIVATIONS, sizeof f->buffer);
  return true;
}

size_t kv_cache_bytes(const llama_config *c, tdm_type type, int64_t capacity, int64_t batch) {
  double elements =
      (double)capacity * (double)batch * 2 * (double)kv_width(c) + (double)q_width(c); /* q after the last token */
  return memory_bytes((double)c->layers * elements * (double)tdm_type_size(type));
}

bool kv_cache_open(kv_cache *cache, const llama_config *c, tdm_type type, int64_t capacity, int64_t batch, memory *m,
                   llama_error *error) {
  size_t bytes = kv_cache_bytes(c, type, capacity, batch) / (size_t)c->layers;
  *cache = (kv_cache){.capacity = capacity, .batch = batch, .layer = calloc((size_t)c->layers, sizeof(void *))};
  if (cache->layer == NULL) return llama_fail(error, "no memory for the list of layers");
  for (int64_t i = 0; i < c->layers; i++)
    if (!memory_take(m, MEMORY_CACHE, bytes, &cache->layer[i], error)) {
      kv_cache_close(cache, c, m);
      return false;
    }
  return true;
}

void kv_cache_close(kv_cache *cache, const llama_config *c, memory *m) {
  for (int64_t i = 0; i < c->layers && cache->layer != NULL; i++) memory_give(m, cache->layer[i]);
  free(cache->layer);
  *cache = (kv_cache){0};
}
