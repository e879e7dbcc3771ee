/* Poisoned device memory with canaries. */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

enum { CANARY = 256 }; /* bytes in front and behind; tdm_alloc aligns to 256, so element 0 stays aligned too */

static bool open_buffer(check_buffer *b, tdm_context *context, const tdm_case *c, int index) {
  size_t size = case_element_size(b->array.element);
  b->begin = CANARY + (size_t)c->shift * size;
  b->bytes = (b->begin + case_array_bytes(&b->array) + CANARY + 3) / 4 * 4;
  b->before = malloc(b->bytes);
  b->after = malloc(b->bytes);
  void *device = NULL;
  if (b->before == NULL || b->after == NULL || tdm_alloc(context, b->bytes, &device) != TDM_OK) return false;
  b->device = device;
  case_poison(b->before, b->bytes, b->array.element);
  if (b->array.input) case_fill_array(c, index, &b->array, b->before + b->begin);
  return true;
}

bool check_buffers_open(check_buffers *b, tdm_context *context, const tdm_case *c) {
  case_array arrays[CASE_MAX_ARRAYS];
  *b = (check_buffers){.context = context, .count = c->op->arrays(c, arrays)};
  for (int i = 0; i < b->count; i++) b->buffer[i].array = arrays[i];
  for (int i = 0; i < b->count; i++) {
    check_buffer *buffer = &b->buffer[i];
    buffer->shared = buffer->array.used && buffer->array.same_as >= 0;
    if (buffer->array.used && !buffer->shared && !open_buffer(buffer, context, c, i)) return false;
  }
  for (int i = 0; i < b->count; i++) {
    check_buffer *buffer = &b->buffer[i];
    if (!buffer->shared) continue;
    case_array array = buffer->array;
    *buffer = b->buffer[array.same_as];
    buffer->array = array;
    buffer->shared = true;
  }
  return true;
}

void check_buffers_close(check_buffers *b) {
  for (int i = 0; i < b->count; i++) {
    check_buffer *buffer = &b->buffer[i];
    if (buffer->shared) continue;
    free(buffer->before);
    free(buffer->after);
    tdm_free(b->context, buffer->device);
  }
}

bool check_buffers_upload(const check_buffers *b) {
  for (int i = 0; i < b->count; i++) {
    const check_buffer *buffer = &b->buffer[i];
    if (!buffer->array.used || buffer->shared) continue;
    if (tdm_copy(b->context, buffer->device, buffer->before, buffer->bytes, TDM_TO_DEVICE, NULL) != TDM_OK) return false;
  }
  return true;
}

bool check_buffer_download(const check_buffers *b, const check_buffer *buffer, unsigned char *image) {
  return tdm_copy(b->context, image, buffer->device, buffer->bytes, TDM_TO_HOST, NULL) == TDM_OK;
}

void check_device_pointers(const check_buffers *b, void *pointers[CASE_MAX_ARRAYS]) {
  for (int i = 0; i < b->count; i++) {
    const check_buffer *buffer = &b->buffer[i];
    pointers[i] = buffer->array.used ? buffer->device + buffer->begin : NULL;
  }
}

void check_host_inputs(const check_buffers *b, const void *inputs[CASE_MAX_ARRAYS]) {
  for (int i = 0; i < b->count; i++) {
    const check_buffer *buffer = &b->buffer[i];
    inputs[i] = buffer->array.used ? buffer->before + buffer->begin : NULL;
  }
}

bool check_is_poison(const check_buffer *buffer, const unsigned char *image, int64_t offset) {
  unsigned char pattern[8];
  size_t size = case_element_size(buffer->array.element);
  case_poison(pattern, sizeof pattern, buffer->array.element);
  return memcmp(image + buffer->begin + (size_t)offset * size, pattern, size) == 0;
}

bool check_find_difference(const check_buffer *buffer, const unsigned char *a, const unsigned char *b, int64_t *offset) {
  int64_t size = (int64_t)case_element_size(buffer->array.element);
  size_t at = 0;
  if (memcmp(a, b, buffer->bytes) == 0) return false;
  while (a[at] == b[at]) at++;
  int64_t distance = (int64_t)at - (int64_t)buffer->begin;
  *offset = distance >= 0 ? distance / size : -((size - 1 - distance) / size);
  return true;
}

bool check_find_outside(const check_buffer *buffer, int64_t *offset) {
  const case_array *a = &buffer->array;
  size_t size = case_element_size(a->element), length = (size_t)a->dim[a->rank - 1] * size;
  int64_t rows = case_array_bytes(a) > 0 ? case_rows(a) : 0;
  for (int64_t row = 0; row < rows; row++) {
    size_t start = buffer->begin + (size_t)case_row_offset(a, row) * size;
    memcpy(buffer->before + start, buffer->after + start, length);
  }
  return check_find_difference(buffer, buffer->before, buffer->after, offset);
}
