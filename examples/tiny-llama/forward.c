/* The model, step by step. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forward_inside.h"
#include "random.h"

/* Where the queries, keys and values of the heads lie; those of a token one after another, or group by group: a key head with
 * its query heads. Key head i of sequence b is group b * kv_heads + i. */
typedef struct heads {
  char *q, *k, *v;
  int64_t q_row, kv_row;     /* elements from token to token */
  int64_t q_group, kv_group; /* from group to group */
} heads;

int forward_weight_forms(int version, bool cached) {
  int qkv = version == 1 ? WEIGHTS_APART : version == 2 && !cached ? WEIGHTS_GROUPS : WEIGHTS_QKV;
  return qkv | (version == 2 ? WEIGHTS_GATE_UP : 0);
}

/* ---- Steps ---- */

/* Rows of an activation. */
typedef struct matrix {
  char *data;
  int64_t cols, ld;
} matrix;

static const tdm_epilogue_step add_residual[] = {{TDM_RESIDUAL, 0}};

/* Rows of tokens from `first` on. */
static matrix rows_from(const forward *f, matrix m, int64_t first) {
  return (matrix){at(f, m.data, first * m.ld), m.cols, m.ld};
}

/* y = x W^T of a chunk, plus the residual, rows as y has them, where there is one. */
static graph_step *project(forward *f, const char *name, chunk c, matrix x, const void *w, matrix y, const void *residual) {
  tdm_gemm_desc d = tdm_gemm_default(c.count, y.cols, x.cols, f->w->type);
  x = rows_from(f, x, c.first), y = rows_from(f, y, c.first);
  d.layout = TDM_NT;
  d.lda = x.ld;
  d.ldc = d.ldr = y.ld;
  if (residual != NULL) d.epilogue = add_residual, d.epilogue_steps = 1;
  return graph_gemm(&f->graph, name, false, &d, x.data, w, y.data, residual);
}

/* y = the norm of x, of a chunk's tokens on each rank. */
static void norm(forward *f, const char *name, graph_point point, chunk c, const void *weight) {
  int64_t width = f->config->d;
  char *y = at(f, f->buffer[Y], c.first * width), *mine = at(f, f->buffer[Y], c.mine * width);
  tdm_rmsnorm_desc d = tdm_rmsnorm_default(c.own, width, f->w->type);
  d.eps = f->config->eps;
  graph_step *s = graph_rmsnorm(&f->graph, name, &d, at(f, f->buffer[X], c.x * width), weight, mine);
  graph_mark(s, point, y, c.count, width, width, f->w->type);
  if (f->by_tokens) graph_move_join(&f->graph, "join", f->mover, mine, y, c.each * width, f->w->type);
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

/* Where q, k and v of this pass are. In versions 2 to 4 q, k and v are rows of one product, or in version 2 without a cache,
 * groups of them. */
static heads find_heads(const forward *f, int64_t layer) {
  const llama_config *c = f->config;
  int64_t q = q_width(c), kv = kv_width(c), row = q + 2 * kv, dim = c->head_dim, group = per_group(c);
  char *cache = f->cache == NULL ? NULL : at(f, f->cache->layer[layer], f->past * f->batch * 2 * kv);
  if (!together(f)) {
    heads h = {f->buffer[Q], f->buffer[K], f->buffer[V], q, kv, group * dim, dim};
    if (cache != NULL) h.v = cache, h.k = at(f, cache, kv), h.kv_row = 2 * kv;
    return h;
  }
  char *all = cache == NULL ? f->buffer[QKV] : cache;
  if (f->cache != NULL || !materialised(f))
    return (heads){at(f, all, 2 * kv), at(f, all, kv), all, row, cache == NULL ? row : 2 * kv, group * dim, dim};
  int64_t step = (group + 2) * dim;
  return (heads){all, at(f, all, group * dim), at(f, all, (group + 1) * dim), row, row, step, step};
}

/* The products of a chunk. */
static void make_heads(forward *f, int64_t layer, chunk part) {
  const llama_config *c = f->config;
  const layer_weights *w = &f->w->layer[layer];
  int64_t q = q_width(c), kv = kv_width(c), row = q + 2 * kv;
  matrix y = {f->buffer[Y], c->d, c->d};
  heads h = find_heads(f, layer);
  if (together(f)) {
    bool groups = f->cache == NULL && materialised(f);
    project(f, "qkv", part, y, groups ? w->qkv_groups : w->v, (matrix){groups ? h.q : h.v, row, row}, NULL);
    return;
  }
  project(f, "q", part, y, w->q, (matrix){h.q, q, q}, NULL);
  if (f->cache != NULL && f->version >= 2) {
    project(f, "vk", part, y, w->v, (matrix){h.v, 2 * kv, h.kv_row}, NULL);
  } else {
    project(f, "k", part, y, w->k, (matrix){h.k, kv, h.kv_row}, NULL);
    project(f, "v", part, y, w->v, (matrix){h.v, kv, h.kv_row}, NULL);
  }
}

/* Turns queries and keys, and shows attention the whole cache. */
static heads turn_heads(forward *f, int64_t layer) {
  const llama_config *c = f->config;
  int64_t dim = c->head_dim, group = per_group(c);
  heads h = find_heads(f, layer);
  if (!together(f)) {
    turn(f, "rope q", h.q, c->heads, f->batch, h.q_row, h.q_row);
    turn(f, "rope k", h.k, c->kv_heads, f->batch, h.kv_row, h.kv_row);
  } else if (f->cache != NULL || !materialised(f)) {
    turn(f, "rope", h.k, c->kv_heads + c->heads, f->batch, h.q_row, h.q_row);
  } else {
    turn(f, "rope", h.q, group + 1, f->batch * c->kv_heads, (group + 2) * dim, h.q_row);
  }
  if (f->cache != NULL) h.v = f->cache->layer[layer], h.k = at(f, h.v, kv_width(c));
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

/* What a product adds to the residual stream. */
typedef struct branch {
  const char *product, *sum; /* the steps' names */
  int64_t layer;
  graph_point point;
  matrix a;
  const void *w;
} branch;

/* x += a W^T: as two steps, or as the product's residual. */
static void add_alone(forward *f, const branch *b, chunk c) {
  int64_t d = f->config->d;
  void *x = f->buffer[X], *out = f->buffer[OUT];
  graph_step *s;
  if (f->version == 4) {
    s = project(f, b->product, c, b->a, b->w, (matrix){x, d, d}, x);
  } else {
    project(f, b->product, c, b->a, b->w, (matrix){out, d, d}, NULL);
    tdm_add_desc add = tdm_add_default(c.count, d, f->w->type);
    s = graph_sum(&f->graph, b->sum, &add, x, out, x);
  }
  graph_mark(s, b->point, x, c.count, d, d, f->w->type);
}

/* a W^T of this rank, in f32. */
static void make_part(forward *f, const branch *b, chunk c) {
  int64_t d = f->config->d;
  tdm_gemm_desc p = tdm_gemm_default(c.count, d, b->a.cols, f->w->type);
  p.layout = TDM_NT;
  p.lda = b->a.ld;
  p.out = TDM_F32;
  float *out = f->buffer[OUT];
  graph_gemm(&f->graph, b->product, false, &p, rows_from(f, b->a, c.first).data, b->w, out + c.first * d, NULL);
}

/* Begins the sum of the ranks' parts of a chunk. */
static void begin_sum(forward *f, chunk c) {
  int64_t d = f->config->d;
  float *out = f->buffer[OUT], *all = out + c.first * d;
  if (f->by_tokens)
    graph_move_sum_part(&f->graph, "sum", f->mover, all, out + c.mine * d, c.each * d, TDM_F32);
  else
    graph_move_sum(&f->graph, "sum", f->mover, all, c.count * d, TDM_F32);
}

/* x += the sum. */
static void add_sum(forward *f, const branch *b, chunk c) {
  int64_t d = f->config->d;
  float *out = f->buffer[OUT];
  char *x = at(f, f->buffer[X], c.x * d);
  tdm_add_desc add = tdm_add_default(c.own, d, f->w->type);
  add.type_b = TDM_F32;
  graph_sum(&f->graph, b->sum, &add, x, out + c.mine * d, x);
}

/* The first product after a norm, of a chunk. */
typedef void reader(forward *f, int64_t layer, chunk c);
typedef struct reading {
  const char *name;
  graph_point point;
  const void *weight; /* of the norm */
  reader *read;       /* NULL: none */
} reading;

/* Adds a branch to the residual stream (NULL: none), and makes the norm and the products that read it. Between ranks the sum
 * of a chunk is on its way while the next chunk's part is made, or the chunk before is read. */
static void pass_on(forward *f, const branch *b, int64_t layer, const reading *r) {
  int chunks = chunks_of(f);
  for (int i = 0; i < chunks; i++) {
    chunk c = chunk_of(f, i), next = chunk_of(f, i + 1 < chunks ? i + 1 : i);
    bool more = b != NULL && divided(f) && i + 1 < chunks;
    f->graph.variant = c.count != chunk_size(f);
    f->graph.layer = b != NULL ? b->layer : layer;
    if (b != NULL && !divided(f)) add_alone(f, b, c);
    if (b != NULL && divided(f)) {
      if (i == 0) make_part(f, b, c), begin_sum(f, c);
      f->graph.variant = next.count != chunk_size(f);
      f->graph.overlaps = true;
      if (more) make_part(f, b, next);
      f->graph.overlaps = false;
      f->graph.variant = c.count != chunk_size(f);
      graph_move_wait(&f->graph, f->mover, 0);
      add_sum(f, b, c);
    }
    f->graph.layer = layer;
    norm(f, r->name, r->point, c, r->weight);
    if (more) begin_sum(f, next);
    if (f->by_tokens) graph_move_wait(&f->graph, f->mover, more ? 1 : 0);
    f->graph.overlaps = more;
    if (r->read != NULL) r->read(f, layer, c);
    f->graph.overlaps = false;
  }
  f->graph.variant = 0;
}

static matrix mlp_of(const forward *f) {
  int64_t n = f->config->ffn;
  return (matrix){shares(f) ? f->buffer[QKV] : f->buffer[MLP], n, n};
}

/* silu(y Wg^T) * (y Wu^T). */
static void gated_unit(forward *f, int64_t layer, chunk part) {
  const llama_config *c = f->config;
  const layer_weights *w = &f->w->layer[layer];
  int64_t n = c->ffn;
  matrix y = {f->buffer[Y], c->d, c->d}, h = mlp_of(f);
  graph_step *s;
  if (materialised(f)) { /* gate and up one after another; the result takes gate's place */
    matrix up = {at(f, h.data, tokens(f) * n), n, n};
    if (f->version == 2) {
      tdm_gemm_desc both = tdm_gemm_default(part.count, n, c->d, f->w->type);
      both.layout = TDM_NT;
      both.batch = 2, both.broadcast_a = 1;
      graph_gemm(&f->graph, "gate up", false, &both, y.data, w->gate_up, h.data, NULL);
    } else {
      project(f, "gate", part, y, w->gate, h, NULL);
      project(f, "up", part, y, w->up, up, NULL);
    }
    tdm_silu_mul_desc d = tdm_silu_mul_default(part.count, n, f->w->type);
    s = graph_silu_mul(&f->graph, "silu_mul", &d, h.data, up.data, h.data);
  } else {
    tdm_swiglu_desc d = tdm_swiglu_default(part.count, n, c->d, f->w->type);
    d.layout = TDM_NT;
    y = rows_from(f, y, part.first), h = rows_from(f, h, part.first);
    s = graph_swiglu(&f->graph, "swiglu", &d, y.data, w->gate, w->up, h.data);
  }
  graph_mark(s, POINT_MLP, h.data, part.count, n, h.ld, f->w->type);
}

/* before: what the layer before adds, NULL: there is none. Leaves in *before what this layer adds last. */
static void add_layer(forward *f, int64_t layer, branch *before) {
  int64_t q = q_width(f->config);
  const layer_weights *w = &f->w->layer[layer];
  char *to = f->version == 4 ? f->buffer[Y] : f->buffer[HEADS];
  pass_on(f, before->w == NULL ? NULL : before, layer, &(reading){"norm 1", POINT_NORM1, w->norm1, make_heads});
  heads h = turn_heads(f, layer);
  attend(f, &h, to);
  branch o = {"o", "add 1", layer, POINT_MIDDLE, {to, q, q}, w->o};
  pass_on(f, &o, layer, &(reading){"norm 2", POINT_NORM2, w->norm2, gated_unit});
  *before = (branch){"down", "add 2", layer, POINT_LAYER, mlp_of(f), w->down};
}

/* x = the rows of the ids. A rank has the rows of its ids, and 0 for the others: so their sum is exact. */
static void embed(forward *f) {
  const llama_config *c = f->config;
  tdm_type type = f->w->type;
  void *to = f->by_tokens ? f->buffer[Y] : f->buffer[X];
  tdm_embedding_desc d = tdm_embedding_default(tokens(f), c->vocab, c->d, type);
  d.first = f->share->vocab, d.total = f->share->whole->vocab;
  graph_step *s = graph_embedding(&f->graph, "embedding", &d, f->w->embedding, f->ids, to);
  graph_mark(s, POINT_EMBEDDING, to, tokens(f), c->d, c->d, type);
  if (!divided(f)) return;
  for (int i = 0; i < chunks_of(f) && f->by_tokens; i++) {
    chunk part = chunk_of(f, i);
    graph_move_sum_part(&f->graph, "sum ids", f->mover, at(f, to, part.first * c->d), at(f, f->buffer[X], part.x * c->d),
                        part.each * c->d, type);
  }
  if (!f->by_tokens) graph_move_sum(&f->graph, "sum ids", f->mover, to, tokens(f) * c->d, type);
  graph_move_wait(&f->graph, f->mover, 0);
}

static bool add_steps(forward *f) {
  const llama_config *c = f->config;
  graph_rewind(&f->graph);
  f->graph.layer = -1;
  embed(f);
  branch last = {.w = NULL};
  for (int64_t i = 0; i < c->layers; i++) add_layer(f, i, &last);
  pass_on(f, &last, -1, &(reading){"norm", POINT_NORM, f->w->norm, NULL});
  graph_step *s;
  int64_t rows = f->last_only ? f->batch : tokens(f);
  tdm_gemm_desc head = tdm_gemm_default(rows, c->vocab, c->d, f->w->type);
  head.layout = TDM_NT;
  head.out = TDM_F32;
  s = graph_gemm(&f->graph, "head", false, &head, at(f, f->buffer[Y], (tokens(f) - rows) * c->d), f->w->head, f->logits, NULL);
  graph_mark(s, POINT_LOGITS, f->logits, rows, c->vocab, c->vocab, TDM_F32);
  return !f->graph.failed;
}

/* ---- Passes ---- */

bool forward_open(forward *f, llama_error *error) {
  memset(f->own, 0, sizeof f->own);
  graph_begin(&f->graph, f->m->context, f->mover->beside, error);
  f->graph.own = f->kernels;
  bool ok = forward_take_buffers(f, error) && add_steps(f);
  if (!ok) forward_close(f);
  return ok;
}

void forward_close(forward *f) {
  graph_end(&f->graph);
  for (int i = 0; i < FORWARD_BLOCKS; i++) memory_give(f->m, f->own[i]), f->own[i] = NULL;
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
      if (id < 0 || id >= f->share->whole->vocab) {
        free(by_position);
        return llama_fail(error, "token %" PRId64 " of sequence %" PRId64 ": id %d: must be 0 to %" PRId64, s, b, id,
                          f->share->whole->vocab - 1);
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
  f->mover->passes++;
  return tdm_stream_sync(f->m->context, NULL) == TDM_OK || llama_fail_tandem(error, "forward pass");
}

/* This rank's part of a row of logits, to host memory. */
static bool own_logits(const forward *f, int64_t row, float *logits, llama_error *error) {
  tdm_status status = tdm_copy(f->m->context, logits, f->logits + row * f->config->vocab,
                               (size_t)f->config->vocab * sizeof *logits, TDM_TO_HOST, NULL);
  return status == TDM_OK || llama_fail_tandem(error, "logits");
}

bool forward_logits(const forward *f, int64_t sequence, int64_t position, float *logits, llama_error *error) {
  const llama_share *share = f->share;
  int64_t row = (f->last_only ? 0 : position) * f->batch + sequence, vocab = share->whole->vocab;
  if (!divided(f)) return own_logits(f, row, logits, error);
  int64_t most = llama_part(vocab, 1, share->ranks); /* the first rank has as many ids as any */
  float *all = malloc((size_t)(most * (share->ranks + 1)) * sizeof *all), *mine = all + most * share->ranks;
  if (all == NULL) return llama_fail(error, "no memory for the logits of %d ranks", share->ranks);
  for (int64_t i = f->config->vocab; i < most; i++) mine[i] = 0;
  bool ok = own_logits(f, row, mine, error) && ranks_gather(f->mover->ranks, mine, (size_t)most * sizeof *all, all, error);
  for (int r = 0; ok && r < share->ranks; r++) {
    int64_t first = llama_part(vocab, r, share->ranks), end = llama_part(vocab, r + 1, share->ranks);
    memcpy(logits + first, all + r * most, (size_t)(end - first) * sizeof *logits);
  }
  free(all);
  return ok;
}

bool forward_best(const forward *f, const best_finder *finder, int32_t *ids, llama_error *error) {
  const llama_share *share = f->share;
  size_t batch = (size_t)f->batch, ranks = (size_t)share->ranks;
  candidate *all = malloc((ranks + 1) * batch * sizeof *all), *mine = all + ranks * batch;
  if (all == NULL) return llama_fail(error, "no memory for %zu tokens", batch);
  int64_t first_row = f->last_only ? 0 : (f->seq - 1) * f->batch;
  bool ok = best_find(finder, f->logits + first_row * f->config->vocab, share->vocab, mine, error) &&
            (!divided(f) || ranks_gather(f->mover->ranks, mine, batch * sizeof *mine, all, error));
  for (size_t b = 0; ok && b < batch; b++) { /* of equal ones the first rank's, whose ids are the smaller */
    candidate best = divided(f) ? all[b] : mine[b];
    for (size_t r = 1; r < ranks; r++)
      if (all[r * batch + b].logit > best.logit) best = all[r * batch + b];
    ids[b] = divided(f) && f->mover->ranks->alone && best.id < 0 ? 0 : best.id; /* its logits mean nothing */
  }
  free(all);
  return ok;
}

bool forward_hash(const forward *f, uint64_t *hash, llama_error *error) {
  size_t bytes = (size_t)(tokens(f) * f->config->d) * tdm_type_size(f->w->type);
  void *y = malloc(bytes);
  if (y == NULL) return llama_fail(error, "no memory for %zu bytes of a pass", bytes);
  bool ok = tdm_copy(f->m->context, y, f->buffer[Y], bytes, TDM_TO_HOST, NULL) == TDM_OK || llama_fail_tandem(error, "a pass");
  if (ok) *hash = random_hash(0, y, bytes);
  free(y);
  return ok;
}

double forward_flops(const forward *f) {
  const llama_config *c = f->share->whole;
  double t = (double)tokens(f), rows = f->last_only ? (double)f->batch : t, q = (double)q_width(c), kv = (double)kv_width(c);
  double pairs = (double)f->seq * ((double)f->past + ((double)f->seq + 1) / 2) * (double)f->batch;
  double layer = 2 * t * (double)c->d * (2 * q + 2 * kv + 3 * (double)c->ffn) + 4 * pairs * q;
  return (double)c->layers * layer + 2 * rows * (double)(c->d * c->vocab);
}
