/* NumPy's .npy files: a parser over memory, and a reader and a writer of files.
 * Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1.0, 2.0 and 3.0:
 *
 *   6 bytes "\x93NUMPY" · major · minor · header length (2 bytes in version 1, 4 later, little-endian)
 *   header: a Python dict, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, filled up with spaces, then '\n'
 *   the elements
 *
 * Every function that can fail returns false and writes one line to error: what is wrong, and what is allowed. */
#ifndef TANDEM_FILES_NPY_H
#define TANDEM_FILES_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result.h"

enum { NPY_MAX_RANK = 8, NPY_MAX_HEADER = 65536, NPY_SHAPE_TEXT = 192 };

typedef enum npy_type {
  NPY_F16,
  NPY_F32,
  NPY_F64,
  NPY_I8,
  NPY_I16,
  NPY_I32,
  NPY_I64,
  NPY_U8,
  NPY_U16,
  NPY_U32,
  NPY_U64,
  NPY_BOOL,
  NPY_TYPES /* how many there are */
} npy_type;

/* How a file marks this machine's byte order. */
#define NPY_NATIVE_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>')

/* A shape, and where its elements are. */
typedef struct npy_array {
  npy_type type;
  int rank; /* 0: one element */
  int64_t dim[NPY_MAX_RANK];
  int64_t stride[NPY_MAX_RANK]; /* elements, as the file's order (C or Fortran) has them */
  int64_t count;                /* elements */
  bool swapped;                 /* the file's byte order is not this machine's */
  const unsigned char *data;    /* not aligned; inside the bytes that were parsed */
} npy_array;

/* Parses a whole file. The array points into bytes. Refuses bytes after the last element. */
bool npy_parse(const void *bytes, size_t size, npy_array *array, char *error, size_t error_size);

size_t npy_type_size(npy_type type);
/* "f16", "i8", "u64", "bool" ... */
const char *npy_type_name(npy_type type);
/* As a file names it, after the byte order: "f2", "i1", "u8", "b1" ... */
const char *npy_type_code(npy_type type);
/* The shape as Python writes it: "(3, 4)". */
void npy_shape_text(int rank, const int64_t *dim, char text[NPY_SHAPE_TEXT]);

/* Copies the `length` elements of the last dimension at the given indices of the other dimensions to out, in this machine's
 * byte order. Row r counts those indices in C order; an array of rank 0 is one row of one element. */
void npy_read_row(const npy_array *array, int64_t row, void *out);

/* ---- Files ---- */

/* Reads a whole file into memory, so that a file that changes meanwhile can't hurt. *bytes is the caller's to free. */
bool npy_read_file(const char *path, void **bytes, size_t *size, char *error, size_t error_size);
/* Writes an array in C order, version 1.0. The file that was there is replaced once all of it is on the disk (files/result.h).
 */
bool npy_write_file(const char *path, npy_type type, int rank, const int64_t *dim, const void *data, char *error,
                    size_t error_size);
/* The same up to result_place, so that several files change together. */
bool npy_begin_file(result_file *file, const char *path, npy_type type, int rank, const int64_t *dim, const void *data,
                    char *error, size_t error_size);

#endif
