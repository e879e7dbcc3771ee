/* Weights from a seed or from files, in the forms that the versions need. */
#include "weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "src/base/elem.h"

static const float DEVIATION = 0.02f;
enum { STAGE_BYTES = 1 << 25 }; /* weights go to a device in parts of 32 MiB */

/* One tensor of the model, wherever it comes from. */
typedef struct source {
  char name[80];
  int64_t rows, cols; /* a vector has one row */
  bool vector;
  uint64_t key; /* of its random numbers; vectors are 1 */
  const st_tensor *tensor;
} source;

typedef struct loader {
  weights *w;
  memory *m;
  uint64_t seed;
  uint64_t next; /* number of the next tensor */
  void *stage;
  llama_error *error;
} loader;

/* ---- Sources ---- */

static bool name_source(loader *l, source *s, int64_t layer, const char *name, int64_t rows, int64_t cols) {
  *s = (source){.rows = rows, .cols = cols, .vector = rows == 1, .key = random_bits(random_bits(l->seed) + l->next++)};
  if (layer < 0)
    snprintf(s->name, sizeof s->name, "%s.weight", name);
  else
    snprintf(s->name, sizeof s->name, "model.layers.%" PRId64 ".%s.weight", layer, name);
  if (!l->w->from_files) return true;
  int64_t dim[] = {rows, cols};
  return checkpoint_find(&l->w->files, s->name, s->vector ? 1 : 2, s->vector ? dim + 1 : dim, &s->tensor, l->error);
}

/* Elements [first, first + count) in the wanted type, to host memory. first is even, for the pairs of random numbers. */
static void read_elements(const source *s, int64_t first, int64_t count, tdm_type type, void *to) {
  size_t size = tdm_type_size(type);
  if (s->tensor != NULL && s->tensor->type == type) {
    memcpy(to, s->tensor->data + (size_t)first * size, (size_t)count * size);
    return;
  }
  /* Files may hold elements at odd addresses. */
  const unsigned char *data = s->tensor == NULL ? NULL : s->tensor->data;
  tdm_type from = s->tensor == NULL ? TDM_F32 : s->tensor->type;
  size_t width = tdm_type_size(from);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; i += 2) {
    float pair[2] = {1, 1};
    if (data == NULL && !s->vector) {
      random_normals(random_bits(s->key + (uint64_t)(first + i)), pair);
      pair[0] *= DEVIATION, pair[1] *= DEVIATION;
    }
    for (int64_t j = i; j < i + 2 && j < count; j++) {
      uint32_t word = 0;
      if (data != NULL) memcpy(&word, data + (size_t)(first + j) * width, width);
      float x = data == NULL ? pair[j - i] : tdm_load(&word, 0, from);
      tdm_store(to, j, type, x);
    }
  }
}

/* Copies rows of a source to device memory. */
static bool load_rows(loader *l, const source *s, int64_t first_row, int64_t rows, void *to) {
  tdm_type type = l->w->type;
  int64_t first = first_row * s->cols, count = rows * s->cols, size = (int64_t)tdm_type_size(type);
  if (memory_on_host(l->m)) {
    read_elements(s, first, count, type, to);
    return true;
  }
  for (int64_t done = 0, part; done < count; done += part) {
    part = count - done < STAGE_BYTES / size ? count - done : STAGE_BYTES / size;
    read_elements(s, first + done, part, type, l->stage);
    if (tdm_copy(l->m->context, (char *)to + done * size, l->stage, (size_t)(part * size), TDM_TO_DEVICE, NULL) != TDM_OK)
      return llama_fail_tandem(l->error, s->name);
  }
  return true;
}

static size_t source_bytes(const loader *l, const source *s) { return (size_t)(s->rows * s->cols) * tdm_type_size(l->w->type); }

static bool take(loader *l, size_t bytes, void **to) { return memory_take(l->m, MEMORY_WEIGHTS, bytes, to, l->error); }

/* Where the tensor lies, or a copy of it. */
static bool place(loader *l, const source *s, const void **out) {
  const st_tensor *t = s->tensor;
  if (t != NULL && memory_on_host(l->m) && t->type == l->w->type && (uintptr_t)t->data % tdm_type_size(t->type) == 0) {
    l->m->mapped += t->bytes;
    *out = t->data;
    return true;
  }
  void *to;
  if (!take(l, source_bytes(l, s), &to) || !load_rows(l, s, 0, s->rows, to)) return false;
  *out = to;
  return true;
}

/* Tensors one after another in one block; out[i] is where each begins. */
static bool place_block(loader *l, const source *s, int count, const void **out) {
  size_t bytes = 0;
  void *block;
  for (int i = 0; i < count; i++) bytes += source_bytes(l, &s[i]);
  if (!take(l, bytes, &block)) return false;
  for (int i = 0; i < count; i++) {
    if (!load_rows(l, &s[i], 0, s[i].rows, block)) return false;
    out[i] = block;
    block = (char *)block + source_bytes(l, &s[i]);
  }
  return true;
}

/* Rows of q, k and v by head groups. */
static bool place_groups(loader *l, const source qkv[3], const void **out) {
  const llama_config *c = l->w->config;
  size_t row = (size_t)c->d * tdm_type_size(l->w->type);
  void *block;
  if (!take(l, source_bytes(l, &qkv[0]) + 2 * source_bytes(l, &qkv[1]), &block)) return false;
  *out = block;
  for (int64_t group = 0; group < c->kv_heads; group++)
    for (int i = 0; i < 3; i++) {
      int64_t rows = i == 0 ? c->heads / c->kv_heads * c->head_dim : c->head_dim;
      if (!load_rows(l, &qkv[i], group * rows, rows, block)) return false;
      block = (char *)block + (size_t)rows * row;
    }
  return true;
}

/* ---- The model ---- */

static bool load_layer(loader *l, int64_t i, int forms) {
  const llama_config *c = l->w->config;
  layer_weights *to = &l->w->layer[i];
  int64_t q = c->heads * c->head_dim, kv = c->kv_heads * c->head_dim;
  source qkv[3], o, mlp[2], down, norm[2];
  const void *parts[3] = {0};
  if (!name_source(l, &norm[0], i, "input_layernorm", 1, c->d) || !name_source(l, &qkv[0], i, "self_attn.q_proj", q, c->d) ||
      !name_source(l, &qkv[1], i, "self_attn.k_proj", kv, c->d) || !name_source(l, &qkv[2], i, "self_attn.v_proj", kv, c->d) ||
      !name_source(l, &o, i, "self_attn.o_proj", c->d, q) ||
      !name_source(l, &norm[1], i, "post_attention_layernorm", 1, c->d) ||
      !name_source(l, &mlp[0], i, "mlp.gate_proj", c->ffn, c->d) || !name_source(l, &mlp[1], i, "mlp.up_proj", c->ffn, c->d) ||
      !name_source(l, &down, i, "mlp.down_proj", c->d, c->ffn))
    return false;
  if ((forms & WEIGHTS_QKV) && !place_block(l, (source[]){qkv[2], qkv[1], qkv[0]}, 3, parts)) return false;
  for (int p = 0; p < 3 && (forms & WEIGHTS_APART) && !(forms & WEIGHTS_QKV); p++)
    if (!place(l, &qkv[2 - p], &parts[p])) return false;
  to->v = parts[0], to->k = parts[1], to->q = parts[2];
  if ((forms & WEIGHTS_GROUPS) && !place_groups(l, qkv, &to->qkv_groups)) return false;
  if (forms & WEIGHTS_GATE_UP) {
    if (!place_block(l, mlp, 2, parts)) return false;
    to->gate_up = to->gate = parts[0], to->up = parts[1];
  } else if (!place(l, &mlp[0], &to->gate) || !place(l, &mlp[1], &to->up)) {
    return false;
  }
  return place(l, &o, &to->o) && place(l, &down, &to->down) && place(l, &norm[0], &to->norm1) && place(l, &norm[1], &to->norm2);
}

static bool load(loader *l, int forms) {
  weights *w = l->w;
  const llama_config *c = w->config;
  source embedding, norm, head;
  if (!name_source(l, &embedding, -1, "model.embed_tokens", c->vocab, c->d) || !place(l, &embedding, &w->embedding))
    return false;
  for (int64_t i = 0; i < c->layers; i++)
    if (!load_layer(l, i, forms)) return false;
  if (!name_source(l, &norm, -1, "model.norm", 1, c->d) || !place(l, &norm, &w->norm)) return false;
  w->head = w->embedding;
  return c->tied || (name_source(l, &head, -1, "lm_head", c->vocab, c->d) && place(l, &head, &w->head));
}

size_t weights_bytes(const llama_config *c, tdm_type type, int forms) {
  double q = (double)(c->heads * c->head_dim), kv = (double)(c->kv_heads * c->head_dim), layers = (double)c->layers;
  double qkv = layers * (double)c->d * (q + 2 * kv);
  int copies = !!(forms & (WEIGHTS_QKV | WEIGHTS_APART)) + !!(forms & WEIGHTS_GROUPS);
  return memory_bytes((llama_parameters(c) + (copies - 1) * qkv) * (double)tdm_type_size(type));
}

bool weights_open(const llama_config *config, const char *folder, uint64_t seed, tdm_type type, int forms, memory *m,
                  weights *w, llama_error *error) {
  loader l = {.w = w, .m = m, .seed = seed, .error = error};
  *w = (weights){.config = config, .type = type, .from_files = folder != NULL};
  w->layer = calloc((size_t)config->layers, sizeof *w->layer);
  if (w->layer == NULL) return llama_fail(error, "no memory for the list of %" PRId64 " layers", config->layers);
  if (!memory_on_host(m) && (l.stage = malloc(STAGE_BYTES)) == NULL) llama_fail(error, "no memory for staging weights");
  bool ok = (memory_on_host(m) || l.stage != NULL) && (folder == NULL || checkpoint_open(folder, &w->files, error)) &&
            load(&l, forms);
  free(l.stage);
  if (!ok) weights_close(w);
  return ok;
}

void weights_close(weights *w) {
  free(w->layer);
  checkpoint_close(&w->files);
  *w = (weights){0};
}
