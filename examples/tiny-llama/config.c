/* A model's description: the presets, and config.json of Hugging Face. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json_value.h"
#include "read.h"

/* ---- Presets: sizes from TinyTransformer of amd/HPCTrainingExamples; tiny is small enough for a simulated chip. 8b has those
 * of config.json of meta-llama/Llama-3.1-8B ---- */

#define TINY_TRANSFORMER .theta = 1e4, .eps = 1e-5f, .tied = true, .rope = TDM_ROPE_INTERLEAVED, .scaling = {1, 0, 1, 4}
static const llama_config presets[] = {
    {.name = "benchmark",
     .vocab = 32000,
     .d = 2048,
     .layers = 16,
     .heads = 32,
     .kv_heads = 16,
     .head_dim = 64,
     .ffn = 8192,
     .context = 4096,
     TINY_TRANSFORMER,
     .batch = 4,
     .seq = 512},
    {.name = "train",
     .vocab = 1000,
     .d = 512,
     .layers = 8,
     .heads = 8,
     .kv_heads = 4,
     .head_dim = 64,
     .ffn = 2048,
     .context = 2048,
     TINY_TRANSFORMER,
     .batch = 8,
     .seq = 256},
    {.name = "tiny",
     .vocab = 256,
     .d = 64,
     .layers = 2,
     .heads = 4,
     .kv_heads = 2,
     .head_dim = 16,
     .ffn = 256,
     .context = 128,
     TINY_TRANSFORMER,
     .batch = 2,
     .seq = 16},
    {.name = "8b",
     .vocab = 128256,
     .d = 4096,
     .layers = 32,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128,
     .ffn = 14336,
     .context = 131072,
     .theta = 5e5,
     .eps = 1e-5f,
     .rope = TDM_ROPE_HALF,
     .scaling = {8, 8192, 1, 4},
     .batch = 1,
     .seq = 2048},
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

bool llama_preset(const char *name, llama_config *config) {
  for (int i = 0; i < PRESETS; i++)
    if (strcmp(presets[i].name, name) == 0) return *config = presets[i], true;
  return false;
}

const char *llama_preset_names(void) { return "benchmark|train|tiny|8b"; }

double llama_parameters(const llama_config *c) {
  double d = (double)c->d, q = (double)(c->heads * c->head_dim), kv = (double)(c->kv_heads * c->head_dim);
  double layer = 2 * d + d * (2 * q + 2 * kv) + 3 * d * (double)c->ffn;
  return (double)c->layers * layer + (c->tied ? 1 : 2) * (double)c->vocab * d + d;
}

/* ---- config.json ---- */

typedef struct reader {
  const char *path;
  const json_t *root;
  llama_error *error;
} reader;

/* The value of a key; NULL where it is absent or null. */
static const json_t *find(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_null(value) ? NULL : value;
}

static bool refuse(const reader *r, const char *key, const json_t *value, const char *what) {
  return llama_refuse(r->path, key, value, what, r->error);
}

/* A whole number from 1 to 2^31 - 1; an absent one becomes fallback, where that is not 0. */
static bool whole(const reader *r, const char *key, int64_t fallback, int64_t *out) {
  const json_t *value = find(r->root, key);
  *out = fallback;
  if (value == NULL) return fallback != 0 || llama_fail(r->error, "%s: %s is missing", r->path, key);
  *out = json_integer_value(value);
  if (json_is_integer(value) && *out >= 1 && *out <= INT32_MAX) return true;
  return refuse(r, key, value, "must be a whole number from 1 to 2147483647");
}

static bool positive(const reader *r, const json_t *object, const char *key, double fallback, double *out) {
  const json_t *value = find(object, key);
  *out = value == NULL ? fallback : json_number_value(value);
  return (*out > 0 && isfinite(*out)) || refuse(r, key, value, "must be a number above 0");
}

static bool flag(const reader *r, const char *key, bool *out) {
  const json_t *value = find(r->root, key);
  *out = json_is_true(value);
  return value == NULL || json_is_boolean(value) || refuse(r, key, value, "must be true or false");
}

/* Only this word will do; absent is right too. */
static bool word(const reader *r, const json_t *object, const char *key, const char *wanted) {
  const json_t *value = find(object, key);
  if (value == NULL || (json_is_string(value) && strcmp(json_string_value(value), wanted) == 0)) return true;
  char what[80];
  snprintf(what, sizeof what, "this program computes '%s' alone", wanted);
  return refuse(r, key, value, what);
}

static bool is_llama(const reader *r) {
  const json_t *list = find(r->root, "architectures");
  if (!word(r, r->root, "model_type", "llama")) return false;
  if (list == NULL && find(r->root, "model_type") != NULL) return true;
  if (list == NULL) return llama_fail(r->error, "%s: architectures and model_type are missing", r->path);
  const char *name = json_string_value(json_array_get(list, 0));
  if (json_array_size(list) == 1 && name != NULL && strcmp(name, "LlamaForCausalLM") == 0) return true;
  return refuse(r, "architectures", list, "must be [\"LlamaForCausalLM\"]");
}

/* The numbers of a scaled RoPE, in the words of Transformers. */
static bool read_scaling(const reader *r, const char *key, const json_t *table, const char *type, tdm_rope_scaling *s) {
  static const char *const needed[] = {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"};
  double number[4] = {1, 1, 4, 0};
  int count = strcmp(type, "default") == 0 ? 0 : strcmp(type, "linear") == 0 ? 1 : strcmp(type, "llama3") == 0 ? 4 : -1;
  if (count < 0) return refuse(r, key, table, "this program computes rope_type 'default', 'linear' and 'llama3'");
  for (int i = 0; i < count; i++) {
    if (find(table, needed[i]) == NULL) return llama_fail(r->error, "%s: %s: %s is missing", r->path, key, needed[i]);
    if (!positive(r, table, needed[i], 0, &number[i])) return false;
  }
  *s = (tdm_rope_scaling){number[0], (int64_t)fmin(number[3], INT32_MAX), number[1], number[2]};
  if (number[1] >= number[2]) return refuse(r, key, table, "low_freq_factor must be below high_freq_factor");
  return s->trained == number[3] || refuse(r, needed[3], find(table, needed[3]), "must be a whole number from 1 to 2147483647");
}

/* rope_theta and rope_scaling of older files; rope_parameters holds both from Transformers 5 on. */
static bool read_rope(const reader *r, llama_config *c) {
  const json_t *scaling = find(r->root, "rope_scaling"), *parameters = find(r->root, "rope_parameters");
  const char *key = parameters != NULL ? "rope_parameters" : "rope_scaling";
  const json_t *table = parameters != NULL ? parameters : scaling;
  c->rope = TDM_ROPE_HALF;
  c->scaling = (tdm_rope_scaling){1, 0, 1, 4};
  if (scaling != NULL && parameters != NULL)
    return llama_fail(r->error, "%s: rope_scaling and rope_parameters: must be one of them", r->path);
  if (table != NULL) {
    const json_t *type = find(table, "rope_type") != NULL ? find(table, "rope_type") : find(table, "type");
    const json_t *partial = find(table, "partial_rotary_factor");
    if (!json_is_object(table)) return refuse(r, key, table, "must be an object");
    if (!json_is_string(type)) return refuse(r, key, table, "rope_type must be a word");
    if (!read_scaling(r, key, table, json_string_value(type), &c->scaling)) return false;
    if (partial != NULL && json_number_value(partial) != 1) return refuse(r, key, table, "partial_rotary_factor must be 1");
  }
  return positive(r, find(parameters, "rope_theta") != NULL ? parameters : r->root, "rope_theta", 1e4, &c->theta);
}

/* eos_token_id: a number or a list of them. */
static bool read_ends(const reader *r, llama_config *c) {
  const json_t *value = find(r->root, "eos_token_id");
  size_t count = value == NULL ? 0 : json_is_array(value) ? json_array_size(value) : 1;
  bool good = count <= sizeof c->end / sizeof c->end[0];
  for (size_t i = 0; good && i < count; i++) {
    const json_t *id = json_is_array(value) ? json_array_get(value, i) : value;
    good = json_is_integer(id) && json_integer_value(id) >= 0 && json_integer_value(id) < c->vocab;
    c->end[i] = (int32_t)json_integer_value(id);
  }
  c->ends = (int)count;
  return good || refuse(r, "eos_token_id", value, "must be up to 8 ids of the vocabulary");
}

static bool check_sizes(const reader *r, const llama_config *c) {
  if (c->heads % c->kv_heads != 0)
    return llama_fail(r->error, "%s: num_attention_heads = %" PRId64 ": must be a multiple of num_key_value_heads = %" PRId64,
                      r->path, c->heads, c->kv_heads);
  if (find(r->root, "head_dim") == NULL && c->d % c->heads != 0)
    return llama_fail(r->error, "%s: hidden_size = %" PRId64 ": must be a multiple of num_attention_heads = %" PRId64, r->path,
                      c->d, c->heads);
  if (c->head_dim < 16 || c->head_dim > 256 || c->head_dim % 2 != 0)
    return llama_fail(r->error, "%s: head_dim = %" PRId64 ": must be even and 16 to 256", r->path, c->head_dim);
  return true;
}

static bool read_root(const reader *r, llama_config *c) {
  bool bias;
  double eps;
  if (!is_llama(r) || !whole(r, "vocab_size", 0, &c->vocab) || !whole(r, "hidden_size", 0, &c->d) ||
      !whole(r, "num_hidden_layers", 0, &c->layers) || !whole(r, "num_attention_heads", 0, &c->heads) ||
      !whole(r, "num_key_value_heads", c->heads, &c->kv_heads) || !whole(r, "intermediate_size", 0, &c->ffn) ||
      !whole(r, "head_dim", c->d / c->heads > 0 ? c->d / c->heads : 1, &c->head_dim) ||
      !whole(r, "max_position_embeddings", 2048, &c->context) || !positive(r, r->root, "rms_norm_eps", 1e-6, &eps) ||
      !flag(r, "tie_word_embeddings", &c->tied) || !read_rope(r, c) || !read_ends(r, c) ||
      !word(r, r->root, "hidden_act", "silu") || !check_sizes(r, c))
    return false;
  c->eps = (float)eps;
  static const char *const biases[] = {"attention_bias", "mlp_bias"};
  for (int i = 0; i < 2; i++) {
    if (!flag(r, biases[i], &bias)) return false;
    if (bias) return llama_fail(r->error, "%s: %s = true: this program computes no biases", r->path, biases[i]);
  }
  const json_t *quantization = find(r->root, "quantization_config");
  return quantization == NULL || refuse(r, "quantization_config", quantization, "weights must be f32, f16 or bf16");
}

bool llama_config_read(const char *folder, llama_config *c, llama_error *error) {
  char path[4096];
  json_error_t fault;
  *c = (llama_config){.batch = 1, .seq = 128};
  snprintf(c->name, sizeof c->name, "%.63s", folder);
  if (snprintf(path, sizeof path, "%s/config.json", folder) >= (int)sizeof path)
    return llama_fail(error, "%.60s...: the path is too long", folder);
  char reason[256];
  FILE *file = read_open_stream(path, reason, sizeof reason);
  if (file == NULL) return llama_fail(error, "%s: %s", path, reason);
  json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &fault);
  fclose(file);
  if (root == NULL) return llama_fail(error, "%s: line %d: %s", path, fault.line, fault.text);
  reader r = {path, root, error};
  bool ok = (json_is_object(root) || llama_fail(error, "%s: must be an object", path)) && read_root(&r, c);
  json_decref(root);
  if (ok && c->seq > c->context) c->seq = c->context;
  return ok;
}
