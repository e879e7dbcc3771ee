/* Weights from a seed or from files, in the forms that the versions need. */
#include "weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"
#include "src/base/elem.h"

static const float DEVIATION = 0.02f;
enum { STAGE_BYTES = 1 << 25 }; /* weights go to a device in parts of 32 MiB */

/* One tensor of the model, wherever it comes from. */
typedef struct source {
  char name[80];
  int64_t rows, cols; /* of this rank; a vector has one row */
  /* Where its part begins in the whole tensor, whose rows have all_cols elements. */
  int64_t row, col, all_cols;
  bool vector;
  uint64_t key; /* of its random numbers; vectors are 1 */
  const st_tensor *tensor;
} source;

typedef struct loader {
  weights *w;
  const llama_share *share;
  memory *m;
  uint64_t seed;
  uint64_t next; /* number of the next tensor */
  void *stage;
  llama_error *error;
} loader;

/* ---- Sources ---- */

static bool name_source(loader *l, source *s, int64_t layer, const char *name, int64_t rows, int64_t cols) {
  *s = (source){
      .rows = rows, .cols = cols, .all_cols = cols, .vector = rows == 1, .key = random_bits(random_bits(l->seed) + l->next++)};
  if (layer < 0)
    snprintf(s->name, sizeof s->name, "%s.weight", name);
  else
    snprintf(s->name, sizeof s->name, "model.layers.%" PRId64 ".%s.weight", layer, name);
  if (!l->w->from_files) return true;
  int64_t dim[] = {rows, cols};
  return checkpoint_find(&l->w->files, s->name, s->vector ? 1 : 2, s->vector ? dim + 1 : dim, &s->tensor, l->error);
}

/* Leaves rows, or columns, from `first` on. */
static void cut_rows(source *s, int64_t first, int64_t rows) { s->row = first, s->rows = rows; }
static void cut_cols(source *s, int64_t first, int64_t cols) { s->col = first, s->cols = cols; }

/* ---- Elements ---- */

enum { BLOCK = 4096 };

/* Elements of a row of the whole tensor, from its element `at` on, as a file has them. */
static bool read_file(const loader *l, const st_tensor *t, int64_t at, int64_t count, unsigned char raw[BLOCK * 4]) {
  size_t width = tdm_type_size(t->type), bytes = (size_t)count * width;
  int64_t offset = at * (int64_t)width;
  if (l->share->ranks == 1 || t->descriptor < 0) return memcpy(raw, t->data + offset, bytes), true;
  for (size_t done = 0; done < bytes;) {
    ssize_t more = pread(t->descriptor, raw + done, bytes - done, t->offset + offset + (int64_t)done);
    if (more <= 0) return false;
    done += (size_t)more;
  }
  return true;
}

static bool convert_file(const loader *l, const source *s, int64_t at, int64_t count, void *to, int64_t to_at) {
  unsigned char raw[BLOCK * 4]; /* files may hold elements at odd addresses */
  tdm_type from = s->tensor->type, type = l->w->type;
  size_t width = tdm_type_size(type);
  if (!read_file(l, s->tensor, at, count, raw)) return false;
  if (from == type)
    memcpy((char *)to + (size_t)to_at * width, raw, (size_t)count * width);
  else
    for (int64_t i = 0; i < count; i++) tdm_store(to, to_at + i, type, tdm_load(raw, i, from));
  return true;
}

/* Element i of a tensor is one of pair i / 2, whatever part of it is made. */
static void make_random(const loader *l, const source *s, int64_t at, int64_t count, void *to, int64_t to_at) {
  for (int64_t i = at & ~INT64_C(1); i < at + count; i += 2) {
    float pair[2] = {1, 1};
    if (!s->vector) {
      random_normals(random_bits(s->key + (uint64_t)i), pair);
      pair[0] *= DEVIATION, pair[1] *= DEVIATION;
    }
    for (int64_t j = i < at ? at : i; j < i + 2 && j < at + count; j++) tdm_store(to, to_at + j - at, l->w->type, pair[j - i]);
  }
}

/* Elements [first, first + count) of this rank's part in the wanted type, to host memory. */
static bool read_elements(const loader *l, const source *s, int64_t first, int64_t count, void *to) {
  bool ok = true;
#pragma omp parallel for schedule(static) reduction(&& : ok)
  for (int64_t block = 0; block < count; block += BLOCK)
    for (int64_t i = first + block, end = first + (count - block < BLOCK ? count : block + BLOCK), some; i < end; i += some) {
      int64_t row = i / s->cols, col = i % s->cols, at = (s->row + row) * s->all_cols + s->col + col;
      some = s->cols == s->all_cols || end - i < s->cols - col ? end - i : s->cols - col;
      if (s->tensor == NULL)
        make_random(l, s, at, some, to, i - first);
      else
        ok = convert_file(l, s, at, some, to, i - first) && ok;
    }
  return ok || llama_fail(l->error, "%s/%s: can't be read", l->w->files.folder, s->name);
}

/* Copies rows of a source to device memory. */
static bool load_rows(loader *l, const source *s, int64_t first_row, int64_t rows, void *to) {
  int64_t first = first_row * s->cols, count = rows * s->cols, size = (int64_t)tdm_type_size(l->w->type);
  if (memory_on_host(l->m)) return read_elements(l, s, first, count, to);
  for (int64_t done = 0, part; done < count; done += part) {
    part = count - done < STAGE_BYTES / size ? count - done : STAGE_BYTES / size;
    if (!read_elements(l, s, first + done, part, l->stage)) return false;
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
  if (t != NULL && l->share->ranks == 1 && memory_on_host(l->m) && t->type == l->w->type &&
      (uintptr_t)t->data % tdm_type_size(t->type) == 0) {
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
  const llama_config *c = l->share->whole, *mine = l->w->config;
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
  cut_rows(&qkv[0], l->share->head * c->head_dim, mine->heads * c->head_dim);
  for (int p = 1; p < 3; p++) cut_rows(&qkv[p], l->share->kv_head * c->head_dim, mine->kv_heads * c->head_dim);
  cut_cols(&o, l->share->head * c->head_dim, mine->heads * c->head_dim);
  for (int p = 0; p < 2; p++) cut_rows(&mlp[p], l->share->ffn, mine->ffn);
  cut_cols(&down, l->share->ffn, mine->ffn);
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

/* A table of ids. */
static bool load_table(loader *l, const char *name, const void **out) {
  source table;
  if (!name_source(l, &table, -1, name, l->share->whole->vocab, l->share->whole->d)) return false;
  cut_rows(&table, l->share->vocab, l->w->config->vocab);
  return place(l, &table, out);
}

static bool load(loader *l, int forms) {
  weights *w = l->w;
  const llama_config *c = w->config;
  source norm;
  if (!load_table(l, "model.embed_tokens", &w->embedding)) return false;
  for (int64_t i = 0; i < c->layers; i++)
    if (!load_layer(l, i, forms)) return false;
  if (!name_source(l, &norm, -1, "model.norm", 1, c->d) || !place(l, &norm, &w->norm)) return false;
  w->head = w->embedding;
  return c->tied || load_table(l, "lm_head", &w->head);
}

/* All ranks read the same files. */
static bool same_files(const weights *w, const ranks *r, llama_error *error) {
  uint64_t hash = checkpoint_hash(&w->files);
  return ranks_same(r, &hash, sizeof hash, "other *.safetensors files", error);
}

size_t weights_bytes(const llama_config *c, tdm_type type, int forms) {
  double q = (double)(c->heads * c->head_dim), kv = (double)(c->kv_heads * c->head_dim), layers = (double)c->layers;
  double qkv = layers * (double)c->d * (q + 2 * kv);
  int copies = !!(forms & (WEIGHTS_QKV | WEIGHTS_APART)) + !!(forms & WEIGHTS_GROUPS);
  return memory_bytes((llama_parameters(c) + (copies - 1) * qkv) * (double)tdm_type_size(type));
}

/* Bytes that this process has read so far; 0: not known. */
static double bytes_read(void) {
  unsigned long long bytes = 0;
  FILE *file = fopen("/proc/self/io", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "rchar: %llu", &bytes) != 1) bytes = 0;
  fclose(file);
  return (double)bytes;
}

bool weights_open(const llama_share *share, const ranks *r, const char *folder, uint64_t seed, tdm_type type, int forms,
                  memory *m, weights *w, llama_error *error) {
  const llama_config *config = &share->config;
  loader l = {.w = w, .share = share, .m = m, .seed = seed, .error = error};
  *w = (weights){.config = config, .type = type, .from_files = folder != NULL};
  w->layer = calloc((size_t)config->layers, sizeof *w->layer);
  if (w->layer == NULL) return llama_fail(error, "no memory for the list of %" PRId64 " layers", config->layers);
  double before = bytes_read();
  if (!memory_on_host(m) && (l.stage = malloc(STAGE_BYTES)) == NULL) llama_fail(error, "no memory for staging weights");
  bool ok = (memory_on_host(m) || l.stage != NULL) &&
            (folder == NULL || (checkpoint_open(folder, &w->files, error) && same_files(w, r, error))) && load(&l, forms);
  free(l.stage);
  w->read = bytes_read() - before;
  if (!ok) weights_close(w);
  return ok;
}

void weights_close(weights *w) {
  free(w->layer);
  checkpoint_close(&w->files);
  *w = (weights){0};
}
