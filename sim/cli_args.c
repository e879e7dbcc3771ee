/* --arg: a number, or a buffer from and to .npy files.
 *
 *   5, -3, 0x10, 1.5         a number, of the size that the metadata says; with a point it is a float
 *   in:A.npy                 a buffer with the file's elements
 *   out:C.npy:f32:64x32      a new buffer, saved after the run
 *   inout:A.npy:C.npy        both
 *   zeros:4096               a buffer of so many zero bytes, not saved
 *   {0=in:A.npy;8=5;12/2=7}  a structure by value: OFFSET=VALUE or OFFSET/BYTES=VALUE, 4 bytes where none are named and 8 for
 * an address; what is not named is 0 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- Buffers ---- */

static bool make_buffer(gfxsim_device *device, const char *text, const void *data, buffer *b) {
  gfxsim_status status = gfxsim_alloc(device, b->bytes, &b->address);
  if (status == GFXSIM_OK && data != NULL) status = gfxsim_write(device, b->address, data, b->bytes);
  if (status == GFXSIM_OK && data == NULL) status = gfxsim_fill(device, b->address, 0, b->bytes);
  return status == GFXSIM_OK || complain("--arg %s: %s", text, gfxsim_last_error());
}

static bool read_rows(const char *text, const npy_array *array, uint8_t **data, size_t *bytes) {
  int64_t width = array->rank > 0 ? array->dim[array->rank - 1] : 1, rows = width > 0 ? array->count / width : 0;
  size_t row = (size_t)width * npy_type_size(array->type);
  *bytes = (size_t)rows * row;
  if (*bytes == 0) return complain("--arg %s: the file has no elements", text);
  *data = malloc(*bytes);
  if (*data == NULL) return complain("--arg %s: no memory", text);
  for (int64_t r = 0; r < rows; r++) npy_read_row(array, r, *data + (size_t)r * row);
  return true;
}

static bool from_file(gfxsim_device *device, const char *text, const char *file, buffer *b) {
  void *bytes = NULL;
  uint8_t *data = NULL;
  size_t size;
  char error[256];
  npy_array array;
  bool good =
      (npy_read_file(file, &bytes, &size, error, sizeof error) && npy_parse(bytes, size, &array, error, sizeof error)) ||
      complain("--arg %s: %s: %s", text, file, error);
  if (good) good = read_rows(text, &array, &data, &b->bytes);
  if (good) {
    b->type = array.type;
    b->rank = array.rank;
    memcpy(b->dim, array.dim, sizeof b->dim);
    good = make_buffer(device, text, data, b);
  }
  free(data);
  free(bytes);
  return good;
}

/* f32:64x32 */
static bool parse_shape(const char *text, const char *shape, buffer *b) {
  const char *colon = strchr(shape, ':');
  bool known = false;
  for (npy_type t = NPY_F16; t <= NPY_U16 && colon != NULL && !known; t++) {
    const char *name = npy_type_name(t);
    known = strlen(name) == (size_t)(colon - shape) && strncmp(shape, name, strlen(name)) == 0;
    b->type = t;
  }
  if (!known)
    return complain("--arg %s: must end with a type and a shape, as in f32:64x32; types f16 f32 f64 i32 i64 u16", text);
  b->bytes = npy_type_size(b->type);
  do {
    char *end;
    long long dim = strtoll(++colon, &end, 10);
    if (end == colon || dim < 1 || b->rank == NPY_MAX_RANK || __builtin_mul_overflow(b->bytes, (size_t)dim, &b->bytes))
      return complain("--arg %s: the shape must be up to %d positive numbers with x between", text, NPY_MAX_RANK);
    b->dim[b->rank++] = dim;
    colon = end;
  } while (*colon == 'x');
  return *colon == '\0' || complain("--arg %s: the shape must be numbers with x between", text);
}

/* The text between the n-th and the next colon; the caller's to free. */
static char *part(const char *text, int n) {
  while (n-- > 0 && text != NULL) text = strchr(text, ':') != NULL ? strchr(text, ':') + 1 : NULL;
  return text == NULL ? NULL : strndup(text, strcspn(text, ":"));
}

static bool parse_buffer(gfxsim_device *device, const char *text, buffer *b) {
  char *kind = part(text, 0), *first = part(text, 1), *second = part(text, 2);
  bool good = false;
  if (kind == NULL || first == NULL || *first == '\0') {
    complain("--arg %s: must be a number, in:FILE, out:FILE:TYPE:SHAPE, inout:FILE:FILE or zeros:BYTES", text);
  } else if (strcmp(kind, "in") == 0 && second == NULL) {
    good = from_file(device, text, first, b);
  } else if (strcmp(kind, "inout") == 0 && second != NULL) {
    good = from_file(device, text, first, b);
    b->out = second;
    second = NULL;
  } else if (strcmp(kind, "out") == 0 && second != NULL) {
    good = parse_shape(text, text + strlen("out:") + strlen(first) + 1, b);
    if (good) good = make_buffer(device, text, NULL, b);
    b->out = first;
    first = NULL;
  } else if (strcmp(kind, "zeros") == 0 && second == NULL) {
    char *end;
    b->bytes = strtoull(first, &end, 0);
    good = *end == '\0' && *first != '-' ? make_buffer(device, text, NULL, b)
                                         : complain("--arg %s: must be a number of bytes", text);
  } else {
    complain("--arg %s: must be a number, in:FILE, out:FILE:TYPE:SHAPE, inout:FILE:FILE or zeros:BYTES", text);
  }
  free(kind);
  free(first);
  free(second);
  return good;
}

/* ---- Numbers ---- */

static bool parse_number(const char *text, uint32_t size, uint8_t *to) {
  char *end;
  errno = 0;
  if (strchr(text, '.') != NULL || strcasecmp(text, "nan") == 0 || strcasecmp(text, "inf") == 0) {
    double value = strtod(text, &end);
    float narrow = (float)value;
    if (*end != '\0' || (size != 4 && size != 8)) return complain("--arg %s: no number for %u bytes", text, size);
    memcpy(to, size == 4 ? (void *)&narrow : (void *)&value, size);
    return true;
  }
  uint64_t value = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
  uint64_t above = size < 8 ? value >> (8 * size) : 0;
  bool fits = above == 0 || (*text == '-' && size < 8 && (int64_t)value >> (8 * size - 1) == -1);
  if (end == text || *end != '\0' || errno != 0 || size > 8 || !fits)
    return complain("--arg %s: must be a number of %u bytes", text, size);
  memcpy(to, &value, size);
  return true;
}

/* ---- Arguments ---- */

static bool is_number(const char *text) {
  return isdigit((unsigned char)*text) || *text == '-' || *text == '.' || strchr(text, ':') == NULL;
}

static bool make_one(gfxsim_device *device, const gfxsim_arg *arg, const char *text, arguments *made) {
  uint8_t *to = made->bytes + arg->offset;
  if (is_number(text)) return parse_number(text, arg->size, to);
  if (arg->size != 8) return complain("--arg %s: the kernel's argument has %u bytes and is no address", text, arg->size);
  if (made->buffers == ARGS_MOST) return complain("--arg %s: more than %d buffers", text, ARGS_MOST);
  buffer *b = &made->buffer[made->buffers++];
  if (!parse_buffer(device, text, b)) return false;
  memcpy(to, &b->address, sizeof b->address);
  return true;
}

/* OFFSET=VALUE or OFFSET/BYTES=VALUE */
static bool make_member(gfxsim_device *device, const gfxsim_arg *whole, const char *text, arguments *made) {
  char *end;
  unsigned long offset = strtoul(text, &end, 0), size = 4;
  bool good = isdigit((unsigned char)*text);
  if (good && *end == '/') good = isdigit((unsigned char)end[1]), size = strtoul(end + 1, &end, 0);
  if (!good || *end != '=') return complain("--arg {%s}: must be OFFSET=VALUE or OFFSET/BYTES=VALUE", text);
  if (!is_number(end + 1)) size = 8;
  if (size < 1 || size > 8 || offset > whole->size || size > whole->size - offset)
    return complain("--arg {%s}: must be 1 to 8 bytes inside of the structure's %u", text, whole->size);
  gfxsim_arg member = {.offset = whole->offset + (uint32_t)offset, .size = (uint32_t)size};
  return make_one(device, &member, end + 1, made);
}

static bool make_structure(gfxsim_device *device, const gfxsim_arg *arg, const char *text, arguments *made) {
  size_t length = strlen(text);
  if (text[length - 1] != '}') return complain("--arg %s: must end with }", text);
  char *copy = strndup(text + 1, length - 2), *rest = copy;
  if (copy == NULL) return complain("--arg %s: no memory", text);
  bool good = true;
  for (const char *member = strtok_r(copy, ";", &rest); member != NULL && good; member = strtok_r(NULL, ";", &rest))
    good = make_member(device, arg, member, made);
  free(copy);
  return good;
}

bool arguments_make(gfxsim_device *device, const gfxsim_kernel_info *kernel, const char *const *texts, int count,
                    arguments *made) {
  int wanted = 0;
  for (int a = 0; a < kernel->arg_count; a++) {
    const gfxsim_arg *arg = &kernel->args[a];
    if (arg->hidden) continue;
    wanted++;
    if (arg->offset + arg->size > made->size) made->size = arg->offset + arg->size;
  }
  if (wanted != count || count > ARGS_MOST) return complain("--arg: %d given: kernel %s takes %d", count, kernel->name, wanted);
  made->bytes = calloc(made->size + 8, 1);
  if (made->bytes == NULL) return complain("no memory for the arguments");
  for (int a = 0; a < kernel->arg_count; a++) {
    const gfxsim_arg *arg = &kernel->args[a];
    if (arg->hidden) continue;
    const char *text = *texts++;
    if (!(*text == '{' ? make_structure : make_one)(device, arg, text, made)) return false;
  }
  return true;
}

void arguments_free(arguments *made) {
  for (int n = 0; n < made->buffers; n++) free(made->buffer[n].out);
  free(made->bytes);
}

bool arguments_save(gfxsim_device *device, const arguments *made) {
  for (int n = 0; n < made->buffers; n++) {
    const buffer *b = &made->buffer[n];
    if (b->out == NULL) continue;
    char error[256];
    void *data = malloc(b->bytes);
    bool good = data != NULL && gfxsim_read(device, b->address, data, b->bytes) == GFXSIM_OK;
    if (!good)
      complain("%s: %s", b->out, data == NULL ? "no memory" : gfxsim_last_error());
    else if (!(good = npy_write_file(b->out, b->type, b->rank, b->dim, data, error, sizeof error)))
      complain("%s: %s", b->out, error);
    free(data);
    if (!good) return false;
  }
  return true;
}
