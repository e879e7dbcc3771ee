/* Short vectors of f32, as wide as the target's registers. They use the compilers' vector extension, no intrinsics. */
#ifndef TANDEM_OFFLOAD_DEVICE_VECTOR_H
#define TANDEM_OFFLOAD_DEVICE_VECTOR_H

#include <stdbool.h>

#include "src/base/elem.h"
#include "target.h"

#if defined(__F16C__) && !TDM_ON_GPU
#include <immintrin.h> /* only for the f16 conversions */
#endif

#if TDM_ON_GPU
#define TDM_LANES 4 /* one 16-byte access */
#elif defined(__AVX512F__)
#define TDM_LANES 16
#elif defined(__AVX__)
#define TDM_LANES 8
#else
#define TDM_LANES 4
#endif

typedef float tdm_vec __attribute__((vector_size(4 * TDM_LANES)));
typedef float tdm_vec_unaligned __attribute__((vector_size(4 * TDM_LANES), aligned(4), may_alias));

#define TDM_UNROLL TDM_PRAGMA(GCC unroll 16)
#define TDM_NO_UNROLL TDM_PRAGMA(GCC unroll 1)
/* For loops over values that a GPU holds in registers, which can only be indexed by constants. */
#if TDM_ON_GPU
#define TDM_UNROLL_ON_GPU TDM_UNROLL
#else
#define TDM_UNROLL_ON_GPU
#endif

TDM_INLINE tdm_vec tdm_vec_load(const float *p) { return *(const tdm_vec_unaligned *)p; }
TDM_INLINE tdm_vec tdm_vec_load_aligned(const float *p) { return *(const tdm_vec *)p; }
TDM_INLINE void tdm_vec_store(float *p, tdm_vec v) { *(tdm_vec_unaligned *)p = v; }

/* f16 words to f32 and back. gcc 12 makes 12 instructions per vector of the plain loops; x86 has one instruction for it. */
TDM_INLINE tdm_vec tdm_vec_from_f16(const uint16_t *p) {
#if defined(__F16C__) && TDM_LANES == 16
  return (tdm_vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i_u *)p));
#elif defined(__F16C__) && TDM_LANES == 8
  return (tdm_vec)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)p));
#else
  tdm_vec v = {0};
  for (int i = 0; i < TDM_LANES; i++) v[i] = tdm_f16_to_f32(p[i]);
  return v;
#endif
}

TDM_INLINE void tdm_vec_to_f16(uint16_t *p, tdm_vec v) {
#if defined(__F16C__) && TDM_LANES == 16
  _mm256_storeu_si256((__m256i_u *)p, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__) && TDM_LANES == 8
  _mm_storeu_si128((__m128i_u *)p, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
#else
  for (int i = 0; i < TDM_LANES; i++) p[i] = tdm_f32_to_f16(v[i]);
#endif
}

#if !TDM_ON_GPU
/* bf16 words to f32 and back, as in elem.h. gcc 12 stores and reloads the elements of the plain loops. */
typedef uint32_t tdm_vec_bits __attribute__((vector_size(4 * TDM_LANES)));
typedef int32_t tdm_vec_mask __attribute__((vector_size(4 * TDM_LANES)));
typedef uint16_t tdm_vec_words __attribute__((vector_size(2 * TDM_LANES)));
typedef uint16_t tdm_vec_words_unaligned __attribute__((vector_size(2 * TDM_LANES), aligned(2), may_alias));

TDM_INLINE tdm_vec tdm_vec_from_bf16(const uint16_t *p) {
  return (tdm_vec)(__builtin_convertvector((tdm_vec_words) * (const tdm_vec_words_unaligned *)p, tdm_vec_bits) << 16);
}

TDM_INLINE void tdm_vec_to_bf16(uint16_t *p, tdm_vec v) {
  tdm_vec_bits bits = (tdm_vec_bits)v, nan = (tdm_vec_bits)(tdm_vec_mask)(v != v);
  tdm_vec_bits rounded = bits + 0x7fff + (bits >> 16 & 1), word = ((nan & (bits | 0x400000)) | (~nan & rounded)) >> 16;
  *(tdm_vec_words_unaligned *)p = __builtin_convertvector(word, tdm_vec_words);
}
#endif

/* TDM_LANES elements from element `at` on, of a constant type. */
TDM_INLINE tdm_vec tdm_vec_load_as(const void *base, int64_t at, tdm_type type) {
  if (type == TDM_F32) return tdm_vec_load((const float *)base + at);
  if (type == TDM_F16) return tdm_vec_from_f16((const uint16_t *)base + at);
#if !TDM_ON_GPU
  if (type == TDM_BF16) return tdm_vec_from_bf16((const uint16_t *)base + at);
#endif
  float x[TDM_LANES];
  for (int i = 0; i < TDM_LANES; i++) x[i] = tdm_load(base, at + i, type);
  return tdm_vec_load(x);
}

TDM_INLINE void tdm_vec_store_as(void *base, int64_t at, tdm_type type, tdm_vec v) {
  if (type == TDM_F32) {
    tdm_vec_store((float *)base + at, v);
  } else if (type == TDM_F16) {
    tdm_vec_to_f16((uint16_t *)base + at, v);
#if !TDM_ON_GPU
  } else if (type == TDM_BF16) {
    tdm_vec_to_bf16((uint16_t *)base + at, v);
#endif
  } else {
    float x[TDM_LANES];
    tdm_vec_store(x, v);
    for (int i = 0; i < TDM_LANES; i++) tdm_store(base, at + i, type, x[i]);
  }
}

#if TDM_ON_GPU
/* 4 aligned elements in one access: 16 bytes, or 8 for the 16-bit types. */
typedef uint32_t tdm_words __attribute__((vector_size(8), may_alias));

TDM_INLINE tdm_vec tdm_vec_load_words(const void *base, int64_t at, tdm_type type) {
  if (type == TDM_F32) return *(const TDM_GLOBAL tdm_vec *)((const float *)base + at);
  tdm_words two = *(const TDM_GLOBAL tdm_words *)((const uint16_t *)base + at);
  tdm_vec v;
  TDM_UNROLL
  for (int e = 0; e < TDM_LANES; e++) {
    uint16_t word = (uint16_t)(two[e / 2] >> 16 * (e % 2));
    v[e] = type == TDM_F16 ? tdm_f16_to_f32(word) : tdm_bf16_to_f32(word);
  }
  return v;
}

TDM_INLINE void tdm_vec_store_words(void *base, int64_t at, tdm_type type, tdm_vec v) {
  if (type == TDM_F32) {
    *(TDM_GLOBAL tdm_vec *)((float *)base + at) = v;
    return;
  }
  *(TDM_GLOBAL tdm_words *)((uint16_t *)base + at) =
      (tdm_words){tdm_f32_to_two(v[0], v[1], type), tdm_f32_to_two(v[2], v[3], type)};
}
#endif

/* The first `count` of TDM_LANES elements, where count may be any number. The others are 0, and are not read. */
TDM_INLINE tdm_vec tdm_vec_load_some(const void *base, int64_t at, int64_t count, tdm_type type) {
  if (count >= TDM_LANES) return tdm_vec_load_as(base, at, type);
  float x[TDM_LANES] = {0};
  TDM_UNROLL_ON_GPU
  for (int i = 0; i < TDM_LANES; i++)
    if (i < count) x[i] = tdm_load(base, at + i, type);
  return tdm_vec_load(x);
}

/* Stores the first `count` of TDM_LANES elements, where count may be any number. */
TDM_INLINE void tdm_vec_store_some(void *base, int64_t at, int64_t count, tdm_type type, tdm_vec v) {
  if (count >= TDM_LANES) {
    tdm_vec_store_as(base, at, type, v);
  } else {
    float x[TDM_LANES];
    tdm_vec_store(x, v);
    TDM_UNROLL_ON_GPU
    for (int i = 0; i < TDM_LANES; i++)
      if (i < count) tdm_store(base, at + i, type, x[i]);
  }
}

/* The lower (upper) halves of a and b, with their elements alternating. */
#if TDM_LANES == 16
#define TDM_ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define TDM_ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif TDM_LANES == 8
#define TDM_ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define TDM_ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define TDM_ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define TDM_ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

/* Transposes a square block. Zipping row i with row i + LANES/2 is a perfect shuffle of the block's index bits (row bits
 * above column bits); log2(LANES) of them exchange rows and columns. */
TDM_INLINE void tdm_vec_transpose(tdm_vec block[TDM_LANES]) {
  TDM_UNROLL
  for (int round = 1; round < TDM_LANES; round *= 2) {
    tdm_vec next[TDM_LANES];
    TDM_UNROLL
    for (int i = 0; i < TDM_LANES / 2; i++) {
      next[2 * i] = TDM_ZIP_LOW(block[i], block[i + TDM_LANES / 2]);
      next[2 * i + 1] = TDM_ZIP_HIGH(block[i], block[i + TDM_LANES / 2]);
    }
    TDM_UNROLL
    for (int i = 0; i < TDM_LANES; i++) block[i] = next[i];
  }
}

#endif
