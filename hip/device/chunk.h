/* Chunks: the elements of one 16-byte access. Global memory allows such an access at any multiple of 4 bytes. */
#ifndef TANDEM_HIP_DEVICE_CHUNK_H
#define TANDEM_HIP_DEVICE_CHUNK_H

#include "types.h"

enum { CHUNK_MOST = 8 };
DEVICE constexpr int chunk_length(tdm_type type) { return 16 / tdm_bytes(type); }

/* Is the address of every row a multiple of 4 bytes? The next row is `leading` elements later. */
DEVICE bool wide_rows(const void *p, int64_t leading, tdm_type type) {
  return type == TDM_F32 || (((uintptr_t)p | (uintptr_t)(leading * 2)) & 3) == 0;
}

/* ---- The words of a chunk that begins at element `at`; only its first `count` elements exist (count may be any number)
 * ---- */

typedef uint32_t raw_words __attribute__((ext_vector_type(4), aligned(4)));

typedef union raw_chunk {
  raw_words words;
  uint32_t of_4[4];
  uint16_t of_2[8];
} raw_chunk;

/* Elements that do not exist become 0, and are not read. */
DEVICE raw_chunk load_raw(const void *base, int64_t at, int64_t count, bool wide, tdm_type type) {
  raw_chunk c;
  if (wide && count >= chunk_length(type)) {
    c.words = *(const raw_words *)((const char *)base + at * tdm_bytes(type));
  } else {
#pragma unroll
    for (int i = 0; i < chunk_length(type); i++) {
      if (type == TDM_F32)
        c.of_4[i] = i < count ? ((const uint32_t *)base)[at + i] : 0;
      else
        c.of_2[i] = i < count ? ((const uint16_t *)base)[at + i] : 0;
    }
  }
  return c;
}

DEVICE void store_raw(void *base, int64_t at, int64_t count, bool wide, raw_chunk c, tdm_type type) {
  if (wide && count >= chunk_length(type)) {
    *(raw_words *)((char *)base + at * tdm_bytes(type)) = c.words;
  } else {
#pragma unroll
    for (int i = 0; i < chunk_length(type); i++) {
      if (i >= count) continue;
      if (type == TDM_F32)
        ((uint32_t *)base)[at + i] = c.of_4[i];
      else
        ((uint16_t *)base)[at + i] = c.of_2[i];
    }
  }
}

/* A NaN in every type. */
DEVICE raw_chunk raw_nan(void) {
  raw_chunk c;
  c.words = (raw_words)0x7fff7fffu;
  return c;
}

DEVICE raw_chunk raw_zero(void) {
  raw_chunk c;
  c.words = (raw_words)0u;
  return c;
}

/* ---- As f32 ---- */

DEVICE void load_chunk(float *x, const void *base, int64_t at, int64_t count, bool wide, tdm_type type) {
  raw_chunk c = load_raw(base, at, count, wide, type);
#pragma unroll
  for (int i = 0; i < chunk_length(type); i++) x[i] = load_element(&c, i, type);
}

DEVICE void store_chunk(void *base, int64_t at, int64_t count, bool wide, const float *x, tdm_type type) {
  raw_chunk c;
#pragma unroll
  for (int i = 0; i < chunk_length(type); i++) store_element(&c, i, x[i], type);
  store_raw(base, at, count, wide, c, type);
}

#endif
