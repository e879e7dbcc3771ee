/* A folder of Hugging Face: one safetensors file, or shards with an index. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"
#include "read.h"
#include "safetensors.h"

static const char INDEX[] = "model.safetensors.index.json", SINGLE[] = "model.safetensors";

static bool join(char path[4096], const checkpoint *c, const char *name, llama_error *error) {
  int length = snprintf(path, 4096, "%s/%s", c->folder, name);
  return length < 4096 || llama_fail(error, "%.60s...: the path is too long", c->folder);
}

static int find_file(const checkpoint *c, const char *path) {
  for (int i = 0; i < c->count; i++)
    if (strcmp(c->file[i].path, path) == 0) return i;
  return -1;
}

static bool open_file(checkpoint *c, const char *name, llama_error *error) {
  char path[4096];
  if (!join(path, c, name, error)) return false;
  if (find_file(c, path) >= 0) return true;
  st_file *more = realloc(c->file, (size_t)(c->count + 1) * sizeof *more);
  if (more == NULL) return llama_fail(error, "%s: no memory for the list of files", path);
  c->file = more;
  if (!st_open(path, &c->file[c->count], error)) return false;
  c->count++;
  return true;
}

static const json_t *weight_map(const checkpoint *c) { return json_object_get(c->index, "weight_map"); }

static bool open_shards(checkpoint *c, const char *path, llama_error *error) {
  json_error_t fault;
  const char *tensor;
  json_t *name;
  char reason[256];
  FILE *file = read_open_stream(path, reason, sizeof reason);
  if (file == NULL) return llama_fail(error, "%s: %s", path, reason);
  c->index = json_loadf(file, JSON_REJECT_DUPLICATES, &fault);
  fclose(file);
  if (c->index == NULL) return llama_fail(error, "%s: line %d: %s", path, fault.line, fault.text);
  if (!json_is_object(weight_map(c))) return llama_fail(error, "%s: weight_map must be an object", path);
  json_object_foreach((json_t *)(uintptr_t)weight_map(c), tensor, name) {
    const char *text = json_string_value(name);
    if (text == NULL || text[0] == '\0' || strchr(text, '/') != NULL)
      return llama_fail(error, "%s: tensor %.200s: must be in a file of this folder", path, tensor);
    if (!open_file(c, text, error)) return false;
  }
  return true;
}

bool checkpoint_open(const char *folder, checkpoint *c, llama_error *error) {
  char path[4096];
  *c = (checkpoint){0};
  if (snprintf(c->folder, sizeof c->folder, "%s", folder) >= (int)sizeof c->folder)
    return llama_fail(error, "%.60s...: the path is too long", folder);
  if (!join(path, c, INDEX, error)) return false;
  bool ok = access(path, F_OK) == 0 ? open_shards(c, path, error) : open_file(c, SINGLE, error);
  if (!ok) checkpoint_close(c);
  return ok;
}

void checkpoint_close(checkpoint *c) {
  for (int i = 0; i < c->count; i++) st_close(&c->file[i]);
  free(c->file);
  json_decref(c->index);
  *c = (checkpoint){0};
}

/* The file that should hold a tensor, -1: none. */
static int file_of(const checkpoint *c, const char *name) {
  char path[4096];
  llama_error ignored;
  if (c->index == NULL) return 0;
  const char *shard = json_string_value(json_object_get(weight_map(c), name));
  return shard != NULL && join(path, c, shard, &ignored) ? find_file(c, path) : -1;
}

bool checkpoint_has(const checkpoint *c, const char *name) {
  int file = file_of(c, name);
  return file >= 0 && st_find(&c->file[file], name) != NULL;
}

static void shape_text(int rank, const int64_t *dim, char text[128]) {
  size_t used = (size_t)snprintf(text, 128, "[");
  for (int i = 0; i < rank && used < 100; i++)
    used += (size_t)snprintf(text + used, 128 - used, "%s%" PRId64, i > 0 ? ", " : "", dim[i]);
  snprintf(text + used, 128 - used, "]");
}

bool checkpoint_find(const checkpoint *c, const char *name, int rank, const int64_t *dim, const st_tensor **tensor,
                     llama_error *error) {
  int file = file_of(c, name);
  if (file < 0) return llama_fail(error, "%s/%s: tensor %s is missing", c->folder, INDEX, name);
  const char *path = c->file[file].path;
  const st_tensor *t = st_find(&c->file[file], name);
  if (t == NULL) return llama_fail(error, "%s: tensor %s is missing", path, name);
  if (!t->readable) return llama_fail(error, "%s: tensor %s: dtype %s: must be F32, F16 or BF16", path, name, t->dtype);
  bool same = t->rank == rank;
  for (int i = 0; same && i < rank; i++) same = t->dim[i] == dim[i];
  if (!same) {
    char has[128], wants[128];
    shape_text(t->rank, t->dim, has);
    shape_text(rank, dim, wants);
    return llama_fail(error, "%s: tensor %s: shape %s: config.json asks for %s", path, name, has, wants);
  }
  *tensor = t;
  return true;
}

uint64_t checkpoint_hash(const checkpoint *c) {
  enum { END = 64 };
  uint64_t hash = (uint64_t)c->count;
  for (int i = 0; i < c->count; i++) {
    const st_file *f = &c->file[i];
    hash = random_hash(hash, &f->size, sizeof f->size);
    for (int j = 0; j < f->count; j++) {
      const st_tensor *t = &f->tensor[j];
      size_t end = t->bytes < END ? t->bytes : END;
      hash = random_hash(hash, t->name, strlen(t->name));
      hash = random_hash(hash, t->dtype, strlen(t->dtype));
      hash = random_hash(hash, t->dim, (size_t)t->rank * sizeof t->dim[0]);
      hash = random_hash(hash, t->data, end);
      hash = random_hash(hash, t->data + t->bytes - end, end);
    }
  }
  return hash;
}
