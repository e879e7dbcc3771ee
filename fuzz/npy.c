/* Fuzz target of the .npy parser: a file is refused with one line that says why, or all of its rows can be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  npy_array array;
  char error[256] = "";
  if (!npy_parse(data, size, &array, error, sizeof error)) {
    if (error[0] == '\0' || strchr(error, '\n') != NULL) abort();
    return 0;
  }
  /* An accepted file holds its elements, so that its size bounds the work here. */
  int64_t length = array.rank == 0 ? 1 : array.dim[array.rank - 1];
  if (array.count < 0 || (uint64_t)array.count * npy_type_size(array.type) > size) abort();
  if (array.count == 0) return 0;
  unsigned char *row = malloc((size_t)length * npy_type_size(array.type));
  if (row == NULL) return 0;
  for (int64_t r = 0; r < array.count / length; r++) npy_read_row(&array, r, row);
  free(row);
  char shape[NPY_SHAPE_TEXT];
  npy_shape_text(array.rank, array.dim, shape);
  return 0;
}
