/* The model, step by step. */
#include "forward.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Activations. Each version uses a part of them. */
enum { X, Y, Q, K, V, QKV, HEADS, SCORES, OUT, MLP, BUFFERS };
_Static_assert((int)BUFFERS == FORWARD_BUFFERS, "a forward has room for them");

/* Where the queries, keys and values of the heads lie; those of a token one after another, or group by group: a key head with
 * its query heads. Key head i of sequence b is group b * kv_heads + i. */
typedef struct heads {
  char *q, *k, *v;
  int64_t q_row, kv_row;     /* elements from token to token */
  int64_t q_group, kv_group; /* from group to group */
} heads;

static int64_t tokens(const forward *f) { return f->batch * f->seq; }
static int64_t keys(const forward *f) { return f->past + f->seq; }
static int64_t q_width(const llama_config *c) { return c->heads * c->head_dim; }
static int64_t kv_width(const llama_config *c) { return c->kv_heads * c->head_dim; }
static int64_t per_group(const llama_config *c) { return c->heads / c->kv_heads; }
static bool materialised(const forward *f) { return f->version <= 2; }
static int64_t longest(const forward *f) { return f->cache != NULL ? f->cache->capacity : f->seq; }
/* Versions 2 to 4 make q, k and v in one product. With a cache v and k go there, and q of one token lies after them, where the
 * next token's v and k will be; of more tokens q needs a product and rows of its own. */
static bool together(const forward *f) { return f->version >= 2 && (f->cache == NULL || f->seq == 1); }
static char *at(const forward *f, const void *base, int64_t elements) {
  return (char *)(uintptr_t)base + elements * (int64_t)tdm_type_size(f->w->type);
}

int forward_weight_forms(int version, bool cached) {
  int qkv = version == 1 ? WEIGHTS_APART : version == 2 && !cached ? WEIGHTS_GROUPS : WEIGHTS_QKV;
  return qkv | (version == 2 ? WEIGHTS_GATE_UP : 0);
}

/* The MLP's result takes the place of q, k and v. */
static bool shares(const forward *f) { return f->version == 4 && f->cache == NULL; }

/* ---- Memory ---- */

/* Elements of each buffer. In f64: a configuration may ask for more than fits 63 bits. */
static void buffer_sizes(const forward *f, double n[BUFFERS]) {
  const llama_config *c = f->config;
  double t = (double)tokens(f), d = (double)c->d, ffn = (double)c->ffn, q = (double)q_width(c), kv = (double)kv_width(c);
  double keys_most = (double)longest(f);
  for (int i = 0; i < BUFFERS; i++) n[i] = 0;
  n[X] = t * d;
  n[Y] = t * (f->version == 4 ? fmax(d, q) : d); /* 4: also the heads */
  if (!together(f)) n[Q] = t * q;
  if (!together(f) && f->cache == NULL) n[K] = n[V] = t * kv;
  if (shares(f))
    n[QKV] = t * fmax(q + 2 * kv, ffn);
  else if (together(f) && f->cache == NULL)
    n[QKV] = t * (q + 2 * kv);
  if (f->version < 4) n[HEADS] = t * q, n[OUT] = t * d;
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

static bool take_buffers(forward *f, llama_error *error) {
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

size_t kv_cache_bytes(const llama_config *c, tdm_type type, int64_t capacity) {
  double elements = (double)capacity * 2 * (double)kv_width(c) + (double)q_width(c); /* q after the last token */
  return memory_bytes((double)c->layers * elements * (double)tdm_type_size(type));
}

bool kv_cache_open(kv_cache *cache, const llama_config *c, tdm_type type, int64_t capacity, memory *m, llama_error *error) {
  *cache = (kv_cache){.capacity = capacity, .layer = calloc((size_t)c->layers, sizeof(void *))};
  if (cache->layer == NULL) return llama_fail(error, "no memory for the list of layers");
  for (int64_t i = 0; i < c->layers; i++)
    if (!memory_take(m, MEMORY_CACHE, kv_cache_bytes(c, type, capacity) / (size_t)c->layers, &cache->layer[i], error)) {
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

/* ---- Steps ---- */

/* Rows of an activation. */
typedef struct matrix {
  char *data;
  int64_t cols, ld;
} matrix;

static const tdm_epilogue_step add_residual[] = {{TDM_RESIDUAL, 0}};

/* y = x W^T, plus the residual, rows as y has them, where there is one. */
static graph_step *project(forward *f, const char *name, matrix x, const void *w, matrix y, const void *residual) {
  tdm_gemm_desc d = tdm_gemm_default(tokens(f), y.cols, x.cols, f->w->type);
  d.layout = TDM_NT;
  d.lda = x.ld;
  d.ldc = d.ldr = y.ld;
  if (residual != NULL) d.epilogue = add_residual, d.epilogue_steps = 1;
  return graph_gemm(&f->graph, name, false, &d, x.data, w, y.data, residual);
}

static void norm(forward *f, const char *name, graph_point point, const void *weight) {
  tdm_rmsnorm_desc d = tdm_rmsnorm_default(tokens(f), f->config->d, f->w->type);
  d.eps = f->config->eps;
  graph_step *s = graph_rmsnorm(&f->graph, name, &d, f->buffer[X], weight, f->buffer[Y]);
  graph_mark(s, point, f->buffer[Y], tokens(f), f->config->d, f->config->d, f->w->type);
}

/* Rotates `count` heads, which lie one after another from x on, of each of `batch` parts of a position. */
static void turn(forward *f, const char *name, void *x, int64_t count, int64_t batch, int64_t part, int64_t row) {
  const llama_config *c = f->config;
  tdm_rope_desc d = tdm_rope_default(batch, f->seq, count, c->head_dim, f->w->type);
  d.x = d.y = (tdm_rope_strides){.batch = part, .seq = f->batch * row, .head = c->head_dim};
  d.style = c->rope;
  d.theta = c->theta;
  d.scaling = c->scaling;
  d.positions = longest(f);
  graph_rope(&f->graph, name, &d, f->past, x);
}

/* One product, then one rope over keys and queries. */
static heads make_heads_together(forward *f, int64_t layer, matrix y) {
  const llama_config *c = f->config;
  const layer_weights *w = &f->w->layer[layer];
  int64_t q = q_width(c), kv = kv_width(c), row = q + 2 * kv, dim = c->head_dim, group = per_group(c);
  char *all = f->buffer[QKV];
  if (f->cache != NULL || !materialised(f)) {
    char *cache = f->cache == NULL ? NULL : f->cache->layer[layer];
    int64_t kv_row = cache == NULL ? row : 2 * kv;
    if (cache != NULL) all = at(f, cache, f->past * kv_row);
    heads h = {at(f, all, 2 * kv), at(f, all, kv), all, row, kv_row, group * dim, dim};
    project(f, "qkv", y, w->v, (matrix){all, row, row}, NULL);
    turn(f, "rope", h.k, c->kv_heads + c->heads, f->batch, row, row);
    if (cache != NULL) h.k = at(f, cache, kv), h.v = cache; /* attention sees all of it */
    return h;
  }
  int64_t step = (group + 2) * dim;
  project(f, "qkv", y, w->qkv_groups, (matrix){all, row, row}, NULL);
  turn(f, "rope", all, group + 1, f->batch * c->kv_heads, step, row);
  return (heads){all, at(f, all, group * dim), at(f, all, (group + 1) * dim), row, row, step, step};
}

/* Projects and turns queries and keys. */
static heads make_heads(forward *f, int64_t layer) {
  const llama_config *c = f->config;
  const layer_weights *w = &f->w->layer[layer];
  int64_t q = q_width(c), kv = kv_width(c), dim = c->head_dim;
  matrix y = {f->buffer[Y], c->d, c->d};
  if (together(f)) return make_heads_together(f, layer, y);
  heads h = {f->buffer[Q], f->buffer[K], f->buffer[V], q, kv, per_group(c) * dim, dim};
  project(f, "q", y, w->q, (matrix){h.q, q, q}, NULL);
  if (f->cache != NULL) {
    h.kv_row = 2 * kv;
    h.v = at(f, f->cache->layer[layer], f->past * h.kv_row);
    h.k = at(f, h.v, kv);
  }
  if (f->cache != NULL && f->version >= 2) {
    project(f, "vk", y, w->v, (matrix){h.v, 2 * kv, h.kv_row}, NULL);
  } else {
    project(f, "k", y, w->k, (matrix){h.k, kv, h.kv_row}, NULL);
    project(f, "v", y, w->v, (matrix){h.v, kv, h.kv_row}, NULL);
  }
  turn(f, "rope q", h.q, c->heads, f->batch, h.q_row, h.q_row);
  turn(f, "rope k", h.k, c->kv_heads, f->batch, h.kv_row, h.kv_row);
  if (f->cache != NULL) h.v = f->cache->layer[layer], h.k = at(f, h.v, kv); /* attention sees all of it */
  return h;
}

/* softmax(Q K^T / sqrt(head_dim)) V through a matrix of scores. Query head j of every group in one product. */
static void attend_by_scores(forward *f, const heads *h, char *to) {
  static const char *const score_names[] = {"scores", "values"};
  const llama_config *c = f->config;
  int64_t dim = c->head_dim, groups = f->batch * c->kv_heads, matrix = groups * f->seq * keys(f), q = q_width(c);
  char *scores = f->buffer[SCORES];
  tdm_gemm_desc d = tdm_gemm_default(f->seq, keys(f), dim, f->w->type), e;
  d.layout = TDM_NT;
  d.batch = groups;
  d.lda = f->batch * h->q_row, d.stride_a = h->q_group;
  d.ldb = f->batch * h->kv_row, d.stride_b = h->kv_group;
  d.alpha = (float)(1 / sqrt((double)dim));
  for (int64_t j = 0; j < per_group(c); j++)
    graph_gemm(&f->graph, score_names[0], true, &d, at(f, h->q, j * dim), h->k, at(f, scores, j * matrix), NULL);
  tdm_softmax_desc rows = tdm_softmax_default(f->batch * c->heads * f->seq, keys(f), f->w->type);
  rows.causal_rows = f->seq;
  graph_softmax(&f->graph, "softmax", true, &rows, scores);
  e = tdm_gemm_default(f->seq, dim, keys(f), f->w->type);
  e.batch = groups;
  e.ldb = d.ldb, e.stride_b = d.stride_b;
  e.ldc = f->batch * q, e.stride_c = per_group(c) * dim;
  graph_step *s = NULL;
  for (int64_t j = 0; j < per_group(c); j++)
    s = graph_gemm(&f->graph, score_names[1], true, &e, at(f, scores, j * matrix), h->v, at(f, to, j * dim), NULL);
  graph_mark(s, POINT_ATTENTION, to, tokens(f), q, q, f->w->type);
}

static void attend(forward *f, const heads *h, char *to) {
  const llama_config *c = f->config;
  int64_t dim = c->head_dim, q = q_width(c);
  if (materialised(f)) {
    attend_by_scores(f, h, to);
    return;
  }
  int64_t most = f->seq == 1 ? longest(f) : keys(f); /* the pass of one token runs after more and more of them */
  tdm_attention_desc d = tdm_attention_default(f->batch, c->heads, c->kv_heads, f->seq, most, dim, f->w->type);
  d.causal = 1;
  d.q = (tdm_attention_strides){h->q_row, dim, f->batch * h->q_row};
  d.k = d.v = (tdm_attention_strides){h->kv_row, dim, f->batch * h->kv_row};
  d.o = (tdm_attention_strides){q, dim, f->batch * q};
  graph_step *s = graph_attention(&f->graph, "attention", &d, keys(f), h->q, h->k, h->v, to);
  graph_mark(s, POINT_ATTENTION, to, tokens(f), q, q, f->w->type);
}

/* x += a W^T: as two steps, or as the product's residual. */
static void add_product(forward *f, const char *product, const char *sum, graph_point point, matrix a, const void *w) {
  int64_t d = f->config->d;
  void *x = f->buffer[X], *out = f->buffer[OUT];
  graph_step *s;
  if (f->version == 4) {
    s = project(f, product, a, w, (matrix){x, d, d}, x);
  } else {
    project(f, product, a, w, (matrix){out, d, d}, NULL);
    tdm_add_desc add = tdm_add_default(tokens(f), d, f->w->type);
    s = graph_sum(&f->graph, sum, &add, x, out, x);
  }
  graph_mark(s, point, x, tokens(f), d, d, f->w->type);
}

/* silu(y Wg^T) * (y Wu^T). */
static matrix gated_unit(forward *f, const layer_weights *w) {
  const llama_config *c = f->config;
  int64_t n = c->ffn;
  matrix y = {f->buffer[Y], c->d, c->d}, h = {shares(f) ? f->buffer[QKV] : f->buffer[MLP], n, n};
  graph_step *s;
  if (materialised(f)) { /* gate and up one after another; the result takes gate's place */
    matrix up = {at(f, h.data, tokens(f) * n), n, n};
    if (f->version == 2) {
      tdm_gemm_desc both = tdm_gemm_default(tokens(f), n, c->d, f->w->type);
      both.layout = TDM_NT;
      both.batch = 2, both.broadcast_a = 1;
      graph_gemm(&f->graph, "gate up", false, &both, y.data, w->gate_up, h.data, NULL);
    } else {
      project(f, "gate", y, w->gate, h, NULL);
      project(f, "up", y, w->up, up, NULL);
    }
    tdm_silu_mul_desc d = tdm_silu_mul_default(tokens(f), n, f->w->type);
    s = graph_silu_mul(&f->graph, "silu_mul", &d, h.data, up.data, h.data);
  } else {
    tdm_swiglu_desc d = tdm_swiglu_default(tokens(f), n, c->d, f->w->type);
    d.layout = TDM_NT;
    s = graph_swiglu(&f->graph, "swiglu", &d, y.data, w->gate, w->up, h.data);
  }
  graph_mark(s, POINT_MLP, h.data, tokens(f), n, h.ld, f->w->type);
  return h;
}

static void add_layer(forward *f, int64_t layer) {
  const llama_config *c = f->config;
  const layer_weights *w = &f->w->layer[layer];
  char *to = f->version == 4 ? f->buffer[Y] : f->buffer[HEADS];
  int first = f->graph.steps;
  norm(f, "norm 1", POINT_NORM1, w->norm1);
  heads h = make_heads(f, layer);
  attend(f, &h, to);
  add_product(f, "o", "add 1", POINT_MIDDLE, (matrix){to, q_width(c), q_width(c)}, w->o);
  norm(f, "norm 2", POINT_NORM2, w->norm2);
  matrix mlp = gated_unit(f, w);
  add_product(f, "down", "add 2", POINT_LAYER, mlp, w->down);
  for (int i = first; i < f->graph.steps; i++) f->graph.step[i].layer = layer;
}

static bool add_steps(forward *f) {
  const llama_config *c = f->config;
  graph_rewind(&f->graph);
  tdm_embedding_desc embed = tdm_embedding_default(tokens(f), c->vocab, c->d, f->w->type);
  graph_step *s = graph_embedding(&f->graph, "embedding", &embed, f->w->embedding, f->ids, f->buffer[X]);
  graph_mark(s, POINT_EMBEDDING, f->buffer[X], tokens(f), c->d, c->d, f->w->type);
  s->layer = -1;
  for (int64_t i = 0; i < c->layers; i++) add_layer(f, i);
  int first = f->graph.steps;
  norm(f, "norm", POINT_NORM, f->w->norm);
  int64_t rows = f->last_only ? f->batch : tokens(f);
  tdm_gemm_desc head = tdm_gemm_default(rows, c->vocab, c->d, f->w->type);
  head.layout = TDM_NT;
  head.out = TDM_F32;
  s = graph_gemm(&f->graph, "head", false, &head, at(f, f->buffer[Y], (tokens(f) - rows) * c->d), f->w->head, f->logits, NULL);
  graph_mark(s, POINT_LOGITS, f->logits, rows, c->vocab, c->vocab, TDM_F32);
  for (int i = first; i < f->graph.steps; i++) f->graph.step[i].layer = -1;
  return !f->graph.failed;
}

/* ---- Passes ---- */

bool forward_open(forward *f, llama_error *error) {
  memset(f->own, 0, sizeof f->own);
  graph_begin(&f->graph, f->m->context, error);
  bool ok = take_buffers(f, error) && add_steps(f);
  if (!ok) forward_close(f);
  return ok;
}

void forward_close(forward *f) {
  graph_end(&f->graph);
  for (int i = 0; i < BLOCKS; i++) memory_give(f->m, f->own[i]), f->own[i] = NULL;
}

bool forward_move(forward *f, int64_t past, llama_error *error) {
  if (f->cache == NULL || past + f->seq > f->cache->capacity)
    return llama_fail(error, "%" PRId64 " tokens after %" PRId64 " do not fit a cache of %" PRId64, f->seq, past,
                      f->cache == NULL ? 0 : f->cache->capacity);
  f->past = past;
  f->graph.error = error;
  return add_steps(f);
}

bool forward_ids(forward *f, const int32_t *ids, llama_error *error) {
  int32_t *by_position = malloc((size_t)tokens(f) * sizeof *by_position);
  if (by_position == NULL) return llama_fail(error, "no memory for %" PRId64 " token ids", tokens(f));
  for (int64_t b = 0; b < f->batch; b++)
    for (int64_t s = 0; s < f->seq; s++) {
      int32_t id = ids[b * f->seq + s];
      if (id < 0 || id >= f->config->vocab) {
        free(by_position);
        return llama_fail(error, "token %" PRId64 " of sequence %" PRId64 ": id %d: must be 0 to %" PRId64, s, b, id,
                          f->config->vocab - 1);
      }
      by_position[s * f->batch + b] = id;
    }
  tdm_status status =
      tdm_copy(f->m->context, f->ids, by_position, (size_t)tokens(f) * sizeof *by_position, TDM_TO_DEVICE, NULL);
  free(by_position);
  return status == TDM_OK || llama_fail_tandem(error, "token ids");
}

bool forward_run(const forward *f, llama_error *error) {
  if (!graph_run(&f->graph, 0, f->graph.steps, error)) return false;
  return tdm_stream_sync(f->m->context, NULL) == TDM_OK || llama_fail_tandem(error, "forward pass");
}

bool forward_logits(const forward *f, int64_t sequence, int64_t position, float *logits, llama_error *error) {
  int64_t row = (f->last_only ? 0 : position) * f->batch + sequence;
  tdm_status status = tdm_copy(f->m->context, logits, f->logits + row * f->config->vocab,
                               (size_t)f->config->vocab * sizeof *logits, TDM_TO_HOST, NULL);
  return status == TDM_OK || llama_fail_tandem(error, "logits");
}

double forward_flops(const forward *f) {
  const llama_config *c = f->config;
  double t = (double)tokens(f), rows = f->last_only ? (double)f->batch : t, q = (double)q_width(c), kv = (double)kv_width(c);
  double pairs = (double)f->seq * ((double)f->past + ((double)f->seq + 1) / 2) * (double)f->batch;
  double layer = 2 * t * (double)c->d * (2 * q + 2 * kv + 3 * (double)c->ffn) + 4 * pairs * q;
  return (double)c->layers * layer + 2 * rows * (double)(c->d * c->vocab);
}
