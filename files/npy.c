/* The parser of .npy. It trusts no byte: every length is compared with what is left. */
#include "npy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *code; /* code: the descr without its byte order */
  size_t size;
} types[] = {
    [NPY_F16] = {"f16", "f2", 2}, [NPY_F32] = {"f32", "f4", 4}, [NPY_F64] = {"f64", "f8", 8}, [NPY_I8] = {"i8", "i1", 1},
    [NPY_I16] = {"i16", "i2", 2}, [NPY_I32] = {"i32", "i4", 4}, [NPY_I64] = {"i64", "i8", 8}, [NPY_U8] = {"u8", "u1", 1},
    [NPY_U16] = {"u16", "u2", 2}, [NPY_U32] = {"u32", "u4", 4}, [NPY_U64] = {"u64", "u8", 8}, [NPY_BOOL] = {"bool", "b1", 1},
};

size_t npy_type_size(npy_type type) { return types[type].size; }
const char *npy_type_name(npy_type type) { return types[type].name; }
const char *npy_type_code(npy_type type) { return types[type].code; }

void npy_shape_text(int rank, const int64_t *dim, char text[NPY_SHAPE_TEXT]) {
  size_t used = (size_t)snprintf(text, NPY_SHAPE_TEXT, "(");
  for (int d = 0; d < rank; d++)
    used += (size_t)snprintf(text + used, NPY_SHAPE_TEXT - used, "%s%" PRId64, d > 0 ? ", " : "", dim[d]);
  snprintf(text + used, NPY_SHAPE_TEXT - used, rank == 1 ? ",)" : ")");
}

/* ---- The header's text ---- */

typedef struct header {
  const char *at, *end;
  bool fortran;
  bool has_descr, has_order, has_shape;
  npy_array *array;
  char *error;
  size_t error_size;
} header;

__attribute__((format(printf, 2, 3))) static bool fail(header *h, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(h->error, h->error_size, format, args);
  va_end(args);
  return false;
}

static void skip_spaces(header *h) {
  while (h->at < h->end && (*h->at == ' ' || *h->at == '\t' || *h->at == '\n')) h->at++;
}

/* Takes one character, after spaces. */
static bool take(header *h, char wanted) {
  skip_spaces(h);
  if (h->at == h->end || *h->at != wanted) return false;
  h->at++;
  return true;
}

static bool take_word(header *h, const char *word) {
  skip_spaces(h);
  size_t length = strlen(word);
  if ((size_t)(h->end - h->at) < length || memcmp(h->at, word, length) != 0) return false;
  h->at += length;
  return true;
}

/* 'text' or "text"; no escapes, since no valid header has one. */
static bool take_string(header *h, char *text, size_t size) {
  skip_spaces(h);
  char quote = h->at < h->end ? *h->at : '\0';
  if (quote != '\'' && quote != '"') return false;
  const char *start = h->at + 1, *close = memchr(start, quote, (size_t)(h->end - start));
  if (close == NULL || (size_t)(close - start) >= size) return false;
  memcpy(text, start, (size_t)(close - start));
  text[close - start] = '\0';
  h->at = close + 1;
  return true;
}

static bool parse_descr(header *h) {
  static const char allowed[] = "f2, f4, f8, or i or u with 1, 2, 4 or 8, after < or >; i1, u1, b1 after | too";
  char text[32];
  skip_spaces(h);
  if (h->at < h->end && *h->at == '[') return fail(h, "descr is a list of fields: must be one type: %s", allowed);
  if (!take_string(h, text, sizeof text)) return fail(h, "descr is not a short string: must be %s", allowed);
  /* ml_dtypes' bfloat16 is saved as two bytes without a meaning, its types of 8 bits and fewer as one. */
  const char *code = text;
  if (strcmp(text, "<V2") == 0 || strcmp(text, "|V2") == 0) code = "<u2";
  if (strcmp(text, "<V1") == 0 || strcmp(text, "|V1") == 0) code = "|u1";
  for (int t = 0; t < NPY_TYPES; t++) {
    bool ordered = code[0] == '<' || code[0] == '>' || (code[0] == '|' && types[t].size == 1);
    if (!ordered || strcmp(code + 1, types[t].code) != 0) continue;
    h->array->type = (npy_type)t;
    h->array->swapped = types[t].size > 1 && code[0] != NPY_NATIVE_ORDER;
    return true;
  }
  for (char *c = text; *c != '\0'; c++)
    if (*c < ' ' || *c > '~') *c = '?';
  return fail(h, "descr = '%s': must be %s", text, allowed);
}

static bool parse_order(header *h) {
  h->fortran = take_word(h, "True");
  if (h->fortran || take_word(h, "False")) return true;
  return fail(h, "fortran_order: must be True or False");
}

static bool parse_dim(header *h, int64_t *dim) {
  skip_spaces(h);
  if (h->at < h->end && *h->at == '-') return fail(h, "shape has a negative dimension: must be 0 or more");
  if (h->at == h->end || *h->at < '0' || *h->at > '9') return fail(h, "shape: must be whole numbers in round brackets");
  *dim = 0;
  for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
    if (__builtin_mul_overflow(*dim, 10, dim) || __builtin_add_overflow(*dim, *h->at - '0', dim))
      return fail(h, "shape has a dimension above 2^63 - 1");
  if (h->at < h->end && *h->at == 'L') h->at++; /* Python 2 wrote 3L */
  return true;
}

static bool parse_shape(header *h) {
  npy_array *array = h->array;
  if (!take(h, '(')) return fail(h, "shape: must be whole numbers in round brackets");
  array->rank = 0;
  bool comma = true;
  while (!take(h, ')')) {
    if (!comma) return fail(h, "shape: must be whole numbers in round brackets with commas between");
    if (array->rank == NPY_MAX_RANK) return fail(h, "shape has more than %d dimensions", NPY_MAX_RANK);
    if (!parse_dim(h, &array->dim[array->rank++])) return false;
    comma = take(h, ',');
  }
  return array->rank != 1 || comma || fail(h, "shape: a single dimension must be followed by a comma, as in (3,)");
}

static bool once(header *h, bool *seen, const char *key) {
  if (*seen) return fail(h, "header has the key '%s' twice", key);
  return *seen = true;
}

static bool parse_entry(header *h) {
  char key[32];
  if (!take_string(h, key, sizeof key)) return fail(h, "header: must be a dict with descr, fortran_order and shape");
  if (!take(h, ':')) return fail(h, "header: no ':' after a key");
  if (strcmp(key, "descr") == 0) return once(h, &h->has_descr, key) && parse_descr(h);
  if (strcmp(key, "fortran_order") == 0) return once(h, &h->has_order, key) && parse_order(h);
  if (strcmp(key, "shape") == 0) return once(h, &h->has_shape, key) && parse_shape(h);
  return fail(h, "header has a key that is none of descr, fortran_order and shape");
}

static bool parse_header(header *h) {
  if (!take(h, '{')) return fail(h, "header: must be a dict that starts with '{'");
  bool comma = true;
  while (!take(h, '}')) {
    if (!comma) return fail(h, "header: no ',' or '}' after a value");
    if (!parse_entry(h)) return false;
    comma = take(h, ',');
  }
  skip_spaces(h);
  if (h->at != h->end) return fail(h, "header goes on after its '}': must be spaces and a newline");
  if (h->has_descr && h->has_order && h->has_shape) return true;
  return fail(h, "header has no %s", !h->has_descr ? "descr" : !h->has_order ? "fortran_order" : "shape");
}

/* ---- Size and strides ---- */

/* Elements and bytes of a shape. Where one dimension is 0 the product of the others may be anything. */
static bool count_elements(header *h, size_t *bytes) {
  npy_array *array = h->array;
  char shape[NPY_SHAPE_TEXT];
  npy_shape_text(array->rank, array->dim, shape);
  array->count = 1;
  for (int d = 0; d < array->rank; d++)
    if (array->dim[d] == 0) array->count = 0;
  for (int d = 0; d < array->rank && array->count > 0; d++)
    if (__builtin_mul_overflow(array->count, array->dim[d], &array->count))
      return fail(h, "shape = %s: has more than 2^63 - 1 elements", shape);
  int64_t total;
  if (__builtin_mul_overflow(array->count, (int64_t)npy_type_size(array->type), &total))
    return fail(h, "shape = %s: its bytes do not fit in 63 bits", shape);
  *bytes = (size_t)total;
  return true;
}

static void set_strides(npy_array *array, bool fortran) {
  int64_t stride = 1;
  for (int i = 0; i < array->rank; i++) {
    int d = fortran ? i : array->rank - 1 - i;
    array->stride[d] = stride;
    if (array->count > 0) stride *= array->dim[d];
  }
}

static uint64_t little_endian(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; i++) value |= (uint64_t)bytes[i] << 8 * i;
  return value;
}

bool npy_parse(const void *bytes, size_t size, npy_array *array, char *error, size_t error_size) {
  const unsigned char *file = bytes;
  header h = {.array = array, .error = error, .error_size = error_size};
  *array = (npy_array){0};
  if (size < 6 || memcmp(file, "\x93NUMPY", 6) != 0) return fail(&h, "is not a .npy file: must start with \\x93NUMPY");
  if (size < 10) return fail(&h, "is truncated: %zu bytes, the start of a .npy file needs 10", size);
  int major = file[6], minor = file[7];
  if (major < 1 || major > 3 || minor != 0) return fail(&h, "has format version %d.%d: must be 1.0, 2.0 or 3.0", major, minor);
  int length_bytes = major == 1 ? 2 : 4;
  size_t start = 8 + (size_t)length_bytes;
  if (size < start) return fail(&h, "is truncated: %zu bytes, the start of this version needs %zu", size, start);
  uint64_t length = little_endian(file + 8, length_bytes);
  if (length > NPY_MAX_HEADER)
    return fail(&h, "has a header of %" PRIu64 " bytes: at most %d are allowed", length, NPY_MAX_HEADER);
  if (length > size - start)
    return fail(&h, "is truncated: a header of %" PRIu64 " bytes, of which %zu are there", length, size - start);
  h.at = (const char *)file + start;
  h.end = h.at + length;
  if (!parse_header(&h)) return false;
  size_t needed = 0, there = size - start - (size_t)length;
  if (!count_elements(&h, &needed)) return false;
  char shape[NPY_SHAPE_TEXT];
  npy_shape_text(array->rank, array->dim, shape);
  if (there < needed)
    return fail(&h, "is truncated: %s %s needs %zu bytes of elements, %zu are there", npy_type_name(array->type), shape, needed,
                there);
  if (there > needed) return fail(&h, "has %zu bytes after its %s elements: must end with them", there - needed, shape);
  set_strides(array, h.fortran);
  array->data = file + start + length;
  return true;
}

/* ---- Elements ---- */

static void copy_swapped(unsigned char *to, const unsigned char *from, size_t element) {
  for (size_t i = 0; i < element; i++) to[i] = from[element - 1 - i];
}

void npy_read_row(const npy_array *array, int64_t row, void *out) {
  size_t element = npy_type_size(array->type);
  int last = array->rank - 1;
  int64_t at = 0, length = array->rank == 0 ? 1 : array->dim[last], stride = array->rank == 0 ? 1 : array->stride[last];
  for (int d = last - 1; d >= 0; d--) {
    at += row % array->dim[d] * array->stride[d];
    row /= array->dim[d];
  }
  const unsigned char *from = array->data + at * (int64_t)element;
  unsigned char *to = out;
  if (stride == 1 && !array->swapped) {
    memcpy(to, from, (size_t)length * element);
    return;
  }
  for (int64_t i = 0; i < length; i++, to += element, from += stride * (int64_t)element) {
    if (array->swapped)
      copy_swapped(to, from, element);
    else
      memcpy(to, from, element);
  }
}
