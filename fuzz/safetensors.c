/* Fuzz target of the safetensors reader: a file is refused with one line that says why, or each of its tensors can be read. */
#include <stdlib.h>
#include <string.h>

#include "safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  st_file file;
  llama_error error = {""};
  if (!st_parse("file", data, size, &file, &error)) {
    if (error.text[0] == '\0' || strchr(error.text, '\n') != NULL) abort();
    return 0;
  }
  size_t total = 0;
  volatile unsigned char seen = 0;
  for (int i = 0; i < file.count; i++) {
    const st_tensor *t = &file.tensor[i];
    for (size_t b = 0; b < t->bytes; b++) seen ^= t->data[b];
    total += t->bytes;
    uint64_t elements = 1;
    for (int r = 0; r < t->rank; r++) elements *= (uint64_t)t->dim[r];
    if (t->readable && elements * tdm_type_size(t->type) != t->bytes) abort();
    if (st_find(&file, t->name) != t) abort();
  }
  if (total > size) abort();
  st_close(&file);
  return 0;
}
