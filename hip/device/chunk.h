/* Chunks: the elements of one 16-byte access. Global memory allows such an access at any multiple of 4 bytes. So rows of 16-bit
 * elements that begin between two dwords are cut into chunks that begin one element before the row.
 *
 * Functions have a constant argument `any`. false: all rows begin at dwords and have whole chunks alone, so that a chunk is in
 * the row or is not. What other rows need takes masks that would be spilled if all kernels had them. */
#ifndef TANDEM_HIP_DEVICE_CHUNK_H
#define TANDEM_HIP_DEVICE_CHUNK_H

#include "types.h"

enum { CHUNK_MOST = 8 };
DEVICE constexpr int chunk_length(tdm_type type) { return 16 / tdm_bytes(type); }

typedef _Float16 f16x2 __attribute__((ext_vector_type(2)));
typedef __bf16 bf16x2 __attribute__((ext_vector_type(2)));

typedef union raw_chunk {
  u32x4_at_dword words;
  uint32_t of_4[4];
  uint16_t of_2[8];
} raw_chunk;

/* Of the elements of a chunk, those from `skipped` to below `left` are in the row. skipped: 1 where the chunk begins before the
 * row, else at most 0: the negative number of the row's elements before it. left: any number. */
typedef struct chunk_part {
  int skipped, left;
} chunk_part;

DEVICE bool is_whole(chunk_part of, tdm_type type) { return of.skipped <= 0 && of.left >= chunk_length(type); }

/* Of every lane that is here. */
DEVICE bool wave_all(bool x) { return __builtin_amdgcn_ballot_w64(!x) == 0; }
DEVICE bool wave_any(bool x) { return __builtin_amdgcn_ballot_w64(x) != 0; }

DEVICE bool is_between_dwords(const void *p) { return ((uintptr_t)p & 2) != 0; }

/* ---- Loads and stores ---- */

DEVICE raw_chunk raw_fill(uint32_t word) {
  raw_chunk c;
  c.words = (u32x4_at_dword)word;
  return c;
}

DEVICE raw_chunk load_words(const char *at) {
  raw_chunk c;
  c.words = *(const u32x4_at_dword *)at;
  return c;
}

/* What is in the row of a chunk that begins at a dword, into c; skipped may be 2 here. */
DEVICE void load_dwords(raw_chunk *c, const char *at, chunk_part of, uint32_t fill, tdm_type type) {
  const int each = 4 / tdm_bytes(type); /* elements of a dword */
#pragma unroll
  for (int i = 0; i < 4; i++)
    if (each * i >= of.skipped && each * i + each <= of.left) c->of_4[i] = ((const uint32_t *)at)[i];
  if (type == TDM_F32) return;
  if (of.skipped == 1 && of.left > 1) c->of_4[0] = (fill & 0xffff) | (uint32_t)((const uint16_t *)at)[1] << 16;
  if ((of.left & 1) != 0 && of.left < chunk_length(type) && of.left > of.skipped) {
    uint32_t last = (fill & 0xffff0000u) | ((const uint16_t *)at)[of.left - 1];
#pragma unroll
    for (int i = 0; i < 4; i++) c->of_4[i] = i == of.left >> 1 ? last : c->of_4[i];
  }
}

/* A chunk that begins between two dwords: of the five dwords that it touches. */
DEVICE raw_chunk load_between(const char *at, chunk_part of, uint32_t fill, tdm_type type) {
  raw_chunk low = raw_fill(fill), c;
  uint32_t last = fill;
  if (of.skipped < 0 && of.left >= chunk_length(type)) /* the element before it is in the row too */
    low = load_words(at - 2);
  else
    load_dwords(&low, at - 2, (chunk_part){of.skipped < 0 ? -1 : of.skipped + 1, of.left + 1}, fill, type);
  if (of.left > chunk_length(type))
    last = *(const uint32_t *)(at + 14);
  else if (of.left == chunk_length(type))
    last = *(const uint16_t *)(at + 14);
  c.words = shifted_dwords(low.words, last, 16);
  return c;
}

/* Elements that are not in the row become halves of `fill`, and are not read. */
DEVICE raw_chunk load_part(const char *at, chunk_part of, uint32_t fill, bool any, tdm_type type) {
  if (any && type != TDM_F32 && is_between_dwords(at)) return load_between(at, of, fill, type);
  raw_chunk c = raw_fill(fill);
  if (any ? is_whole(of, type) : of.left > 0)
    c = load_words(at);
  else if (any && of.left > 0)
    load_dwords(&c, at, of, fill, type);
  return c;
}

DEVICE void store_dwords(char *at, chunk_part of, raw_chunk c, tdm_type type) {
  const int each = 4 / tdm_bytes(type);
#pragma unroll
  for (int i = 0; i < 4; i++)
    if (each * i >= of.skipped && each * i + each <= of.left) ((uint32_t *)at)[i] = c.of_4[i];
  if (type == TDM_F32) return;
  if (of.skipped == 1 && of.left > 1) ((uint16_t *)at)[1] = c.of_2[1];
  if ((of.left & 1) != 0 && of.left < chunk_length(type) && of.left > of.skipped) {
    uint32_t last = c.of_4[0];
#pragma unroll
    for (int i = 1; i < 4; i++) last = i == of.left >> 1 ? c.of_4[i] : last;
    ((uint16_t *)at)[of.left - 1] = (uint16_t)last;
  }
}

/* at: at a dword, or the chunk is stored element by element. */
DEVICE void store_part(char *at, chunk_part of, raw_chunk c, bool any, tdm_type type) {
  if (any && type != TDM_F32 && is_between_dwords(at)) {
#pragma unroll
    for (int i = 0; i < chunk_length(type); i++)
      if (i >= of.skipped && i < of.left) ((uint16_t *)at)[i] = c.of_2[i];
    return;
  }
  if (any ? is_whole(of, type) : of.left > 0)
    *(u32x4_at_dword *)at = c.words;
  else if (any && of.left > 0)
    store_dwords(at, of, c, type);
}

/* ---- Loads without masks ---- */

/* Where clang does not see that a pointer is to global memory, it would take a flat load, which the LDS counts too. */
DEVICE raw_chunk load_global(const char *at) {
  raw_chunk c;
  c.words = *(const __attribute__((address_space(1))) u32x4_at_dword *)at;
  return c;
}

/* A single element stays as it is in memory: a conversion would wait for it. */
DEVICE uint32_t load_single(const char *at, tdm_type type) {
  return type == TDM_F32 ? *(const __attribute__((address_space(1))) uint32_t *)at
                         : *(const __attribute__((address_space(1))) uint16_t *)at;
}

/* ---- As f32, two by two: packed instructions take two at once ---- */

typedef struct chunk {
  f32x2 of[CHUNK_MOST / 2];
} chunk;

/* By value: clang 22 takes the first element for any element of a vector that is given to __builtin_bit_cast. */
DEVICE uint32_t word_of(float x) { return __builtin_bit_cast(uint32_t, x); }
DEVICE float float_of(uint32_t x) { return __builtin_bit_cast(float, x); }

DEVICE constexpr int chunk_pairs(tdm_type type) { return chunk_length(type) / 2; }

/* The two 16-bit elements of a dword. */
DEVICE f32x2 pair_of(uint32_t word, tdm_type type) {
  if (type == TDM_F16) return __builtin_convertvector(__builtin_bit_cast(f16x2, word), f32x2);
  return (f32x2){float_of(word << 16), float_of(word & 0xffff0000u)};
}

DEVICE chunk chunk_of(raw_chunk c, tdm_type type) {
  chunk x;
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++)
    x.of[i] = type == TDM_F32 ? (f32x2){float_of(c.of_4[2 * i]), float_of(c.of_4[2 * i + 1])} : pair_of(c.of_4[i], type);
  return x;
}

/* Both rounded to bf16. Of NaN only those whose low 16 bits are 0 stay NaN: those that come from bf16 elements, and those that
 * instructions make. Clang's conversion takes any NaN, in 13 instructions of gfx942 instead of 5. */
DEVICE uint32_t bf16_pair(f32x2 x) {
  if (CHIP_PACKED_CONVERSIONS) return __builtin_bit_cast(uint32_t, __builtin_convertvector(x, bf16x2));
  uint32_t a = word_of(x.x), b = word_of(x.y);
  a += 0x7fff + (a >> 16 & 1);
  b += 0x7fff + (b >> 16 & 1);
  return __builtin_amdgcn_perm(b, a, 0x07060302);
}

/* any_nan: x may have NaN of f32 arrays. */
DEVICE raw_chunk raw_of(chunk x, bool any_nan, tdm_type type) {
  raw_chunk c;
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) {
    if (type == TDM_F32) {
      c.of_4[2 * i] = word_of(x.of[i].x);
      c.of_4[2 * i + 1] = word_of(x.of[i].y);
    } else if (type == TDM_F16) {
      c.of_4[i] = __builtin_bit_cast(uint32_t, __builtin_convertvector(x.of[i], f16x2));
    } else {
      c.of_4[i] = any_nan ? __builtin_bit_cast(uint32_t, __builtin_convertvector(x.of[i], bf16x2)) : bf16_pair(x.of[i]);
    }
  }
  return c;
}

/* A dword has two 16-bit elements, or one of f32. */
DEVICE f32x2 pair_in(uint32_t word, tdm_type type) {
  return type == TDM_F32 ? (f32x2){float_of(word), 0} : pair_of(word, type);
}
DEVICE uint32_t word_of_pair(f32x2 x, tdm_type type) {
  if (type == TDM_F32) return word_of(x.x);
  if (type == TDM_F16) return __builtin_bit_cast(uint32_t, __builtin_convertvector(x, f16x2));
  return bf16_pair(x);
}

#endif
