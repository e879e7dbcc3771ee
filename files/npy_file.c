/* .npy files on disk. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "npy.h"
#include "read.h"

static bool fail_system(const char *what, char *error, size_t error_size) {
  snprintf(error, error_size, "%s: %s", what, strerror(errno));
  return false;
}

static bool read_open_file(FILE *file, void **bytes, size_t *size, char *error, size_t error_size) {
  struct stat status;
  if (fstat(fileno(file), &status) != 0) return fail_system("can't be examined", error, error_size);
  *size = (size_t)status.st_size;
  *bytes = malloc(*size > 0 ? *size : 1);
  if (*bytes == NULL) {
    snprintf(error, error_size, "no memory for its %zu bytes", *size);
    return false;
  }
  if (fread(*bytes, 1, *size, file) == *size) return true;
  if (ferror(file))
    fail_system("can't be read", error, error_size);
  else
    snprintf(error, error_size, "became shorter while it was read");
  free(*bytes);
  *bytes = NULL;
  return false;
}

bool npy_read_file(const char *path, void **bytes, size_t *size, char *error, size_t error_size) {
  *bytes = NULL;
  FILE *file = read_open_stream(path, error, error_size);
  if (file == NULL) return false;
  bool ok = read_open_file(file, bytes, size, error, error_size);
  fclose(file);
  return ok;
}

/* The start of a version 1.0 file; its length is a multiple of 64, so that the elements can be mapped. */
static size_t make_header(npy_type type, int rank, const int64_t *dim, char text[512]) {
  char shape[NPY_SHAPE_TEXT];
  npy_shape_text(rank, dim, shape);
  memcpy(text, "\x93NUMPY\x01\x00", 8);
  size_t used = 10 + (size_t)snprintf(text + 10, 500, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                                      npy_type_size(type) == 1 ? '|' : NPY_NATIVE_ORDER, npy_type_code(type), shape);
  size_t total = (used + 1 + 63) / 64 * 64;
  memset(text + used, ' ', total - used);
  text[total - 1] = '\n';
  text[8] = (char)((total - 10) & 0xff);
  text[9] = (char)((total - 10) >> 8);
  return total;
}

bool npy_begin_file(result_file *file, const char *path, npy_type type, int rank, const int64_t *dim, const void *data,
                    char *error, size_t error_size) {
  char header[512];
  size_t length = make_header(type, rank, dim, header), bytes = npy_type_size(type);
  for (int d = 0; d < rank; d++) bytes *= (size_t)dim[d];
  if (!result_open(file, path, error, error_size)) return false;
  fwrite(header, 1, length, file->to);
  fwrite(data, 1, bytes, file->to);
  return result_sync(file, error, error_size);
}

bool npy_write_file(const char *path, npy_type type, int rank, const int64_t *dim, const void *data, char *error,
                    size_t error_size) {
  result_file file;
  return npy_begin_file(&file, path, type, rank, dim, data, error, error_size) && result_place(&file, error, error_size);
}
