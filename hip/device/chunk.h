/* Chunks: the elements of one 16-byte access, as f32. Global memory takes such an access at any multiple of 4 bytes. */
#ifndef TANDEM_HIP_CHUNK_H
#define TANDEM_HIP_CHUNK_H

#include "types.h"

typedef uint32_t chunk_words __attribute__((ext_vector_type(4), aligned(4)));

enum { CHUNK_MOST = 8 };
DEVICE constexpr int chunk_length(tdm_type type) { return type == TDM_F32 ? 4 : 8; }

/* Is the address of every row, `leading` elements behind the one before, a multiple of 4 bytes? */
DEVICE bool wide_rows(const void *p, int64_t leading, tdm_type type) {
  return type == TDM_F32 || (((uintptr_t)p | (uintptr_t)(leading * 2)) & 3) == 0;
}

/* The first `count` elements of a chunk that begins at element `at`; the others become 0 and are not read. */
DEVICE void load_chunk(float *x, const void *base, int64_t at, int64_t count, bool wide, tdm_type type) {
  if (wide && count >= chunk_length(type)) {
    chunk_words words = *(const chunk_words *)((const char *)base + at * type_bytes(type));
#pragma unroll
    for (int i = 0; i < chunk_length(type); i++) x[i] = load_element(&words, i, type);
  } else {
#pragma unroll
    for (int i = 0; i < chunk_length(type); i++) x[i] = i < count ? load_element(base, at + i, type) : 0;
  }
}

DEVICE void store_chunk(void *base, int64_t at, int64_t count, bool wide, const float *x, tdm_type type) {
  if (wide && count >= chunk_length(type)) {
    chunk_words words;
#pragma unroll
    for (int i = 0; i < chunk_length(type); i++) store_element(&words, i, x[i], type);
    *(chunk_words *)((char *)base + at * type_bytes(type)) = words;
  } else {
#pragma unroll
    for (int i = 0; i < chunk_length(type); i++)
      if (i < count) store_element(base, at + i, x[i], type);
  }
}

#endif
