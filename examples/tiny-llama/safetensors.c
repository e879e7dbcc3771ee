/* One safetensors file: mapping, header, checks. */
#include "safetensors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read.h"

/* The reference implementation's own limit. */
static const uint64_t LONGEST_HEADER = 100000000;

static const struct {
  const char *name;
  int bits;
  int type; /* tdm_type, -1: not one of the library's */
} dtypes[] = {{"F32", 32, TDM_F32}, {"F16", 16, TDM_F16}, {"BF16", 16, TDM_BF16}, {"F64", 64, -1},    {"I64", 64, -1},
              {"I32", 32, -1},      {"I16", 16, -1},      {"I8", 8, -1},          {"U64", 64, -1},    {"U32", 32, -1},
              {"U16", 16, -1},      {"U8", 8, -1},        {"BOOL", 8, -1},        {"F8_E4M3", 8, -1}, {"F8_E5M2", 8, -1}};

static bool read_dtype(const st_file *f, st_tensor *t, const json_t *value, int *bits, llama_error *error) {
  t->dtype = json_string_value(value);
  for (size_t i = 0; t->dtype != NULL && i < sizeof dtypes / sizeof dtypes[0]; i++) {
    if (strcmp(dtypes[i].name, t->dtype) != 0) continue;
    t->readable = dtypes[i].type >= 0;
    t->type = t->readable ? (tdm_type)dtypes[i].type : TDM_F32;
    *bits = dtypes[i].bits;
    return true;
  }
  return llama_fail(error, "%s: tensor %.200s: dtype '%.40s' is unknown", f->path, t->name, t->dtype == NULL ? "" : t->dtype);
}

/* Reads the shape; *bytes becomes the size that it and the type ask for. */
static bool read_shape(const st_file *f, st_tensor *t, const json_t *value, int bits, uint64_t *bytes, llama_error *error) {
  if (!json_is_array(value) || json_array_size(value) > ST_MAX_RANK)
    return llama_fail(error, "%s: tensor %.200s: shape must be a list of at most %d lengths", f->path, t->name, ST_MAX_RANK);
  t->rank = (int)json_array_size(value);
  uint64_t total = (uint64_t)bits / 8;
  for (int i = 0; i < t->rank; i++) {
    const json_t *dim = json_array_get(value, (size_t)i);
    t->dim[i] = json_integer_value(dim);
    if (!json_is_integer(dim) || t->dim[i] < 0 || __builtin_mul_overflow(total, (uint64_t)t->dim[i], &total))
      return llama_fail(error, "%s: tensor %.200s: shape[%d] must be a length that fits the file", f->path, t->name, i);
  }
  *bytes = total;
  return true;
}

static bool read_offsets(const st_file *f, st_tensor *t, const json_t *value, uint64_t bytes, size_t data_start,
                         llama_error *error) {
  const json_t *begin = json_array_get(value, 0), *end = json_array_get(value, 1);
  if (json_array_size(value) != 2 || !json_is_integer(begin) || !json_is_integer(end))
    return llama_fail(error, "%s: tensor %.200s: data_offsets must be two whole numbers", f->path, t->name);
  int64_t from = json_integer_value(begin), to = json_integer_value(end), data = (int64_t)(f->size - data_start);
  if (from < 0 || to < from || to > data)
    return llama_fail(error,
                      "%s: tensor %.200s: data_offsets [%" PRId64 ", %" PRId64 "] are outside the file, which holds %" PRId64
                      " bytes of data",
                      f->path, t->name, from, to, data);
  if ((uint64_t)(to - from) != bytes)
    return llama_fail(error,
                      "%s: tensor %.200s: data_offsets [%" PRId64 ", %" PRId64 "] are %" PRId64
                      " bytes, its shape and %s ask for %" PRIu64,
                      f->path, t->name, from, to, to - from, t->dtype, bytes);
  t->data = f->bytes + data_start + from;
  t->offset = (int64_t)data_start + from;
  t->bytes = (size_t)bytes;
  return true;
}

static bool read_tensor(st_file *f, const char *name, const json_t *value, size_t data_start, llama_error *error) {
  st_tensor *t = &f->tensor[f->count];
  uint64_t bytes = 0;
  int bits = 0;
  *t = (st_tensor){.name = name, .descriptor = -1};
  if (!json_is_object(value)) return llama_fail(error, "%s: tensor %.200s: must be an object", f->path, name);
  f->count++;
  return read_dtype(f, t, json_object_get(value, "dtype"), &bits, error) &&
         read_shape(f, t, json_object_get(value, "shape"), bits, &bytes, error) &&
         read_offsets(f, t, json_object_get(value, "data_offsets"), bytes, data_start, error);
}

static int by_data(const void *a, const void *b) {
  const st_tensor *x = a, *y = b;
  if (x->data != y->data) return x->data < y->data ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* an empty one before the one that begins where it stands */
}

/* Neither gap nor overlap. */
static bool check_cover(const st_file *f, size_t data_start, llama_error *error) {
  const unsigned char *at = f->bytes + data_start;
  for (int i = 0; i < f->count; at = f->tensor[i].data + f->tensor[i].bytes, i++)
    if (f->tensor[i].data != at)
      return llama_fail(error, "%s: tensor %.200s: begins at byte %td of the data, the tensors before it end at %td", f->path,
                        f->tensor[i].name, f->tensor[i].data - (f->bytes + data_start), at - (f->bytes + data_start));
  if (at != f->bytes + f->size)
    return llama_fail(error, "%s: %td bytes after the last tensor belong to none", f->path, f->bytes + f->size - at);
  return true;
}

static bool read_header(st_file *f, llama_error *error) {
  uint64_t length = 0;
  json_error_t fault;
  if (f->size < 8) return llama_fail(error, "%s: is not a safetensors file: it has %zu bytes, not even 8", f->path, f->size);
  for (int i = 0; i < 8; i++) length |= (uint64_t)f->bytes[i] << 8 * i;
  if (length > LONGEST_HEADER || length > f->size - 8)
    return llama_fail(error,
                      "%s: is truncated or no safetensors file: its header should have %" PRIu64 " bytes, the file has %zu",
                      f->path, length, f->size);
  size_t data_start = 8 + (size_t)length;
  f->header = json_loadb((const char *)f->bytes + 8, (size_t)length, JSON_REJECT_DUPLICATES, &fault);
  if (f->header == NULL) return llama_fail(error, "%s: header, byte %d: %s", f->path, fault.position, fault.text);
  if (!json_is_object(f->header)) return llama_fail(error, "%s: header: must be an object", f->path);
  f->tensor = calloc(json_object_size(f->header) + 1, sizeof *f->tensor);
  if (f->tensor == NULL) return llama_fail(error, "%s: no memory for its list of tensors", f->path);
  const char *name;
  json_t *value;
  json_object_foreach(f->header, name, value) {
    if (strcmp(name, "__metadata__") != 0 && !read_tensor(f, name, value, data_start, error)) return false;
  }
  qsort(f->tensor, (size_t)f->count, sizeof *f->tensor, by_data);
  return check_cover(f, data_start, error);
}

bool st_parse(const char *path, const void *bytes, size_t size, st_file *file, llama_error *error) {
  *file = (st_file){.path = strdup(path), .bytes = bytes, .size = size, .descriptor = -1};
  if (file->path == NULL) return llama_fail(error, "%s: no memory for its name", path);
  if (read_header(file, error)) return true;
  st_close(file);
  return false;
}

bool st_open(const char *path, st_file *file, llama_error *error) {
  struct stat status;
  *file = (st_file){0};
  char reason[256];
  int descriptor = read_open(path, reason, sizeof reason);
  if (descriptor < 0) return llama_fail(error, "%s: %s", path, reason);
  bool ok = fstat(descriptor, &status) == 0 || llama_fail(error, "%s: can't be examined: %s", path, strerror(errno));
  if (ok && status.st_size == 0) ok = llama_fail(error, "%s: is empty", path);
  void *bytes = ok ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  if (ok && bytes == MAP_FAILED) ok = llama_fail(error, "%s: can't be mapped: %s", path, strerror(errno));
  if (ok && !st_parse(path, bytes, (size_t)status.st_size, file, error)) {
    munmap(bytes, (size_t)status.st_size);
    ok = false;
  }
  if (!ok) return close(descriptor), false;
  file->mapped = true;
  file->descriptor = descriptor;
  for (int i = 0; i < file->count; i++) file->tensor[i].descriptor = descriptor;
  return true;
}

void st_close(st_file *file) {
  if (file->mapped) {
    munmap((void *)(uintptr_t)file->bytes, file->size);
    close(file->descriptor);
  }
  json_decref(file->header);
  free(file->tensor);
  free(file->path);
  *file = (st_file){0};
}

const st_tensor *st_find(const st_file *file, const char *name) {
  for (int i = 0; i < file->count; i++)
    if (strcmp(file->tensor[i].name, name) == 0) return &file->tensor[i];
  return NULL;
}
