/* --arg: a number, or a buffer from and to .npy files; for the arguments in order, or with NAME= or OFFSET= before it.
 *
 *   5, -3, 0x10              an integer of the size that the metadata says
 *   1.5, 1e-5, 0x1p-3, inf   a float of that size
 *   in:A.npy                 a buffer with the file's elements
 *   out:C.npy:f32:64x32      a new buffer, saved after the run
 *   inout:A.npy:C.npy        both
 *   zeros:4096               a buffer of so many zero bytes, not saved
 *   random:bf16:64x32        a buffer of random elements, not saved
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

/* Types that NumPy has no name for are saved as their bits; of fp4 two elements make a byte. */
static const struct {
  const char *name;
  npy_type type;
  int64_t packed;
} other_types[] = {{"bf16", NPY_U16, 1}, {"fp8", NPY_U8, 1}, {"bf8", NPY_U8, 1}, {"fp4", NPY_U8, 2}};
enum { OTHER_TYPES = sizeof other_types / sizeof other_types[0] };

static bool is_name(const char *name, const char *text, size_t length) {
  return strlen(name) == length && strncmp(text, name, length) == 0;
}

static bool find_type(const char *text, size_t length, npy_type *type, int64_t *packed) {
  *packed = 1;
  for (npy_type t = NPY_F16; t < NPY_TYPES; t++)
    if (is_name(npy_type_name(t), text, length)) return *type = t, true;
  for (int t = 0; t < OTHER_TYPES; t++)
    if (is_name(other_types[t].name, text, length)) return *type = other_types[t].type, *packed = other_types[t].packed, true;
  return false;
}

static bool refuse_type(const char *text) {
  char names[128] = "";
  for (npy_type t = NPY_F16; t < NPY_TYPES; t++) strcat(strcat(names, " "), npy_type_name(t));
  for (int t = 0; t < OTHER_TYPES; t++) strcat(strcat(names, " "), other_types[t].name);
  return complain("--arg %s: must end with a type and a shape, as in f32:64x32; types%s", text, names);
}

/* f32:64x32 */
static bool parse_shape(const char *text, const char *shape, buffer *b) {
  const char *colon = strchr(shape, ':');
  int64_t packed;
  if (colon == NULL || !find_type(shape, (size_t)(colon - shape), &b->type, &packed)) return refuse_type(text);
  b->bytes = npy_type_size(b->type);
  do {
    char *end;
    long long dim = strtoll(++colon, &end, 10);
    if (end == colon || dim < 1 || b->rank == NPY_MAX_RANK || __builtin_mul_overflow(b->bytes, (size_t)dim, &b->bytes))
      return complain("--arg %s: the shape must be up to %d positive numbers with x between", text, NPY_MAX_RANK);
    b->dim[b->rank++] = dim;
    colon = end;
  } while (*colon == 'x');
  if (b->dim[b->rank - 1] % packed != 0)
    return complain("--arg %s: the last dimension must be even: fp4 has two in a byte", text);
  b->dim[b->rank - 1] /= packed;
  b->bytes /= (size_t)packed;
  return *colon == '\0' || complain("--arg %s: the shape must be numbers with x between", text);
}

/* random:bf16:64x32. Buffers of one launch differ. */
static bool make_random(gfxsim_device *device, const char *text, uint64_t seed, buffer *b) {
  const char *type = strchr(text, ':') + 1;
  if (!parse_shape(text, type, b)) return false;
  uint8_t *data = malloc(b->bytes);
  if (data == NULL) return complain("--arg %s: no memory", text);
  random_fill(type, strcspn(type, ":"), seed, b->bytes, data);
  bool good = make_buffer(device, text, data, b);
  free(data);
  return good;
}

/* The text between the n-th and the next colon; the caller's to free. */
static char *part(const char *text, int n) {
  while (n-- > 0 && text != NULL) text = strchr(text, ':') != NULL ? strchr(text, ':') + 1 : NULL;
  return text == NULL ? NULL : strndup(text, strcspn(text, ":"));
}

static const char buffer_forms[] =
    "must be a number, in:FILE, out:FILE:TYPE:SHAPE, inout:FILE:FILE, zeros:BYTES or random:TYPE:SHAPE";

static bool parse_buffer(gfxsim_device *device, const char *text, uint64_t number, buffer *b) {
  char *kind = part(text, 0), *first = part(text, 1), *second = part(text, 2);
  bool good = false;
  if (kind == NULL || first == NULL || *first == '\0') {
    complain("--arg %s: %s", text, buffer_forms);
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
  } else if (strcmp(kind, "random") == 0 && second != NULL) {
    good = make_random(device, text, number, b);
  } else {
    complain("--arg %s: %s", text, buffer_forms);
  }
  free(kind);
  free(first);
  free(second);
  return good;
}

/* ---- Numbers ---- */

/* 1.5, 1e-5, 0x1p-3, -inf, nan: what no integer looks like. In 0x1e5 the e is a digit. */
static bool is_float(const char *text) {
  const char *digits = text + (*text == '-' || *text == '+');
  bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  return strpbrk(digits, hex ? ".pP" : ".eE") != NULL || strcasecmp(digits, "nan") == 0 || strcasecmp(digits, "inf") == 0;
}

static bool parse_float(const char *text, uint32_t size, uint8_t *to) {
  char *end;
  double value = strtod(text, &end);
  float narrow = strtof(text, NULL);
  if (end == text || *end != '\0') return complain("--arg %s: must be a number", text);
  if (size != 4 && size != 8) return complain("--arg %s: a float has 4 or 8 bytes, and this argument %u", text, size);
  memcpy(to, size == 4 ? (void *)&narrow : (void *)&value, size);
  return true;
}

static bool parse_number(const char *text, uint32_t size, uint8_t *to) {
  char *end;
  if (is_float(text)) return parse_float(text, size, to);
  errno = 0;
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

/* Where a value goes; `text` is the whole of the --arg. */
typedef struct place {
  const gfxsim_kernel_info *kernel;
  const char *text, *value;
  gfxsim_arg arg;
} place;

static bool make_one(gfxsim_device *device, const gfxsim_arg *arg, const char *text, arguments *made) {
  uint8_t *to = made->bytes + arg->offset;
  if (is_number(text)) return parse_number(text, arg->size, to);
  if (arg->size != 8) return complain("--arg %s: the kernel's argument has %u bytes and is not an address", text, arg->size);
  if (made->buffers == ARGS_MOST) return complain("--arg %s: more than %d buffers", text, ARGS_MOST);
  buffer *b = &made->buffer[made->buffers++];
  if (!parse_buffer(device, text, (uint64_t)made->buffers, b)) return false;
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

/* ---- Which argument ---- */

static bool overlaps(const gfxsim_arg *a, const gfxsim_arg *b) {
  return a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

/* The value of NAME=VALUE or OFFSET=VALUE; NULL where the text is a value alone. A = after a colon belongs to a file's name.
 */
static const char *named_value(const char *text) {
  size_t length = strcspn(text, "={:");
  return text[length] == '=' ? text + length + 1 : NULL;
}

/* `number` counts the values without a name. */
static bool place_in_order(place *p, int number) {
  for (int a = 0; a < p->kernel->arg_count; a++)
    if (!p->kernel->args[a].hidden && number-- == 0) return p->arg = p->kernel->args[a], true;
  return false; /* arguments_make has counted them */
}

static bool place_by_offset(place *p) {
  char *end;
  unsigned long long offset = strtoull(p->text, &end, 0), size = 0;
  const char *slash = *end == '/' ? end : NULL;
  if (slash != NULL) size = isdigit((unsigned char)slash[1]) ? strtoull(slash + 1, &end, 0) : 0;
  if (*end != '=' || (slash != NULL && (size < 1 || size > 8)))
    return complain("--arg %s: must be OFFSET=VALUE, or OFFSET/BYTES=VALUE with 1 to 8 bytes", p->text);
  for (int a = 0; a < p->kernel->arg_count && slash == NULL; a++)
    if (p->kernel->args[a].offset == offset) size = p->kernel->args[a].size;
  if (size == 0) size = is_number(p->value) ? 4 : 8;
  if (offset > p->kernel->kernarg_bytes || size > p->kernel->kernarg_bytes - offset)
    return complain("--arg %s: kernel %s has %u bytes of arguments", p->text, p->kernel->name, p->kernel->kernarg_bytes);
  p->arg = (gfxsim_arg){.name = "", .kind = "", .offset = (uint32_t)offset, .size = (uint32_t)size};
  for (int a = 0; a < p->kernel->arg_count; a++)
    if (p->kernel->args[a].hidden && overlaps(&p->arg, &p->kernel->args[a]))
      return complain("--arg %s: gfxsim fills these bytes itself, with %s", p->text, p->kernel->args[a].kind);
  return true;
}

static bool place_by_name(place *p) {
  size_t length = (size_t)(p->value - 1 - p->text);
  int found = 0;
  for (int a = 0; a < p->kernel->arg_count; a++) {
    const gfxsim_arg *arg = &p->kernel->args[a];
    if (arg->hidden || !is_name(arg->name, p->text, length)) continue;
    p->arg = *arg;
    found++;
  }
  if (found == 1) return true;
  if (found > 1)
    return complain("--arg %s: kernel %s has %d arguments of this name: use OFFSET=VALUE (gfxsim info prints the offsets)",
                    p->text, p->kernel->name, found);
  return complain("--arg %s: kernel %s has no argument of this name (gfxsim info prints the names)", p->text, p->kernel->name);
}

static bool find_places(const gfxsim_kernel_info *kernel, const char *const *texts, int count, place *places) {
  int wanted = 0, ordered = 0;
  for (int a = 0; a < kernel->arg_count; a++) wanted += !kernel->args[a].hidden;
  for (int n = 0; n < count; n++) ordered += named_value(texts[n]) == NULL;
  if (ordered > wanted || (ordered == count && ordered < wanted))
    return complain("--arg: %d given: kernel %s takes %d; with NAME=VALUE or OFFSET=VALUE those not named are 0", ordered,
                    kernel->name, wanted);
  ordered = 0;
  for (int n = 0; n < count; n++) {
    const char *value = named_value(texts[n]);
    place *p = &places[n];
    *p = (place){.kernel = kernel, .text = texts[n], .value = value != NULL ? value : texts[n]};
    if (!(value == NULL                       ? place_in_order(p, ordered++)
          : isdigit((unsigned char)*texts[n]) ? place_by_offset(p)
                                              : place_by_name(p)))
      return false;
    for (int other = 0; other < n; other++)
      if (overlaps(&p->arg, &places[other].arg))
        return complain("--arg %s: its bytes were given by --arg %s already", p->text, places[other].text);
  }
  return true;
}

/* The explicit part of the segment ends where the last argument that was given or is not hidden does. */
static size_t explicit_bytes(const gfxsim_kernel_info *kernel, const place *places, int count) {
  size_t bytes = 0;
  for (int a = 0; a < kernel->arg_count; a++) {
    const gfxsim_arg *arg = &kernel->args[a];
    if (!arg->hidden && arg->offset + arg->size > bytes) bytes = arg->offset + arg->size;
  }
  for (int n = 0; n < count; n++)
    if (places[n].arg.offset + places[n].arg.size > bytes) bytes = places[n].arg.offset + places[n].arg.size;
  return bytes;
}

bool arguments_make(gfxsim_device *device, const gfxsim_kernel_info *kernel, const char *const *texts, int count,
                    arguments *made) {
  place *places = calloc((size_t)count + 1, sizeof *places);
  bool good = places != NULL || complain("no memory for the arguments");
  good = good && find_places(kernel, texts, count, places);
  if (good) made->size = explicit_bytes(kernel, places, count);
  if (good) made->bytes = calloc(made->size + 8, 1);
  if (good && made->bytes == NULL) good = complain("no memory for the arguments");
  for (int n = 0; n < count && good; n++)
    good = (*places[n].value == '{' ? make_structure : make_one)(device, &places[n].arg, places[n].value, made);
  free(places);
  return good;
}

void arguments_free(arguments *made) {
  for (int n = 0; n < made->buffers; n++) free(made->buffer[n].out);
  free(made->bytes);
}

int arguments_outputs(const arguments *made) {
  int outputs = 0;
  for (int n = 0; n < made->buffers; n++) outputs += made->buffer[n].out != NULL;
  return outputs;
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
