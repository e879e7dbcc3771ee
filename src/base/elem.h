/* Converts f16 and bf16 words to f32 and back. There are no branches, so loops over them become vector code on every
 * target. Conversions to 16 bits round to nearest even, keep subnormals, and keep NaN a NaN. */
#ifndef TANDEM_BASE_ELEM_H
#define TANDEM_BASE_ELEM_H

#include <stdint.h>

#include "inline.h"
#include "tandem/tandem.h"
#include "types.h"

/* The builtin, not memcpy: on AMD GPUs clang keeps memcpy a call, and there is no such function. */
TDM_INLINE uint32_t tdm_bits(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

TDM_INLINE float tdm_from_bits(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

TDM_INLINE float tdm_bf16_to_f32(uint16_t word) { return tdm_from_bits((uint32_t)word << 16); }

TDM_INLINE uint16_t tdm_f32_to_bf16(float x) {
  uint32_t bits = tdm_bits(x);
  uint32_t rounded = bits + (bits & 0x10000 ? 0x8000 : 0x7fff);
  return (uint16_t)((x != x ? bits | 0x400000 : rounded) >> 16);
}

/* GPUs have instructions for both directions. The bit operations below would cost an eighth of the time of a GPU's gemm. */
#if TDM_ON_GPU
TDM_INLINE float tdm_f16_to_f32(uint16_t word) {
  _Float16 x;
  __builtin_memcpy(&x, &word, sizeof x);
  return (float)x;
}

TDM_INLINE uint16_t tdm_f32_to_f16(float x) {
  _Float16 rounded = (_Float16)x;
  uint16_t word;
  __builtin_memcpy(&word, &rounded, sizeof word);
  return word;
}
#else
TDM_INLINE float tdm_f16_to_f32(uint16_t word) {
  uint32_t magnitude = word & 0x7fffu;
  /* Moves exponent and fraction to their places. Multiplying by 2^112 corrects the exponent's bias and makes subnormals
   * normal. */
  float x = tdm_from_bits(magnitude << 13) * 0x1p112f;
  uint32_t bits = magnitude >= 0x7c00 ? magnitude << 13 | 0x7f800000 : tdm_bits(x); /* infinity, NaN */
  return tdm_from_bits(bits | (uint32_t)(word & 0x8000) << 16);
}

TDM_INLINE uint16_t tdm_f32_to_f16(float x) {
  uint32_t bits = tdm_bits(x), magnitude = bits & 0x7fffffff;
  /* Normal numbers: the carry of the rounding may go into the exponent, up to infinity. */
  uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  /* Below 2^-14: adding 1/2 moves the units of 2^-24 to the end of the fraction, and the addition itself rounds. */
  uint32_t small = tdm_bits(tdm_from_bits(magnitude) + 0.5f) - 0x3f000000;
  uint32_t word = magnitude < 0x38800000 ? small : normal;
  word = magnitude >= 0x47800000 ? 0x7c00 : word;                            /* 65536 and above, infinity */
  word = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x1ff) : word; /* NaN */
  return (uint16_t)(word | (bits >> 16 & 0x8000));
}
#endif

/* Two elements of a 16-bit type as the word that memory holds. NVIDIA GPUs from sm_80 on convert both with one instruction. */
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
typedef __bf16 tdm_two_bf16 __attribute__((ext_vector_type(2)));
typedef _Float16 tdm_two_f16 __attribute__((ext_vector_type(2)));

TDM_INLINE uint32_t tdm_f32_to_two(float low, float high, tdm_type type) {
  uint32_t word;
  if (type == TDM_F16) {
    tdm_two_f16 two = __nvvm_ff2f16x2_rn(high, low);
    __builtin_memcpy(&word, &two, sizeof word);
  } else {
    tdm_two_bf16 two = __nvvm_ff2bf16x2_rn(high, low);
    __builtin_memcpy(&word, &two, sizeof word);
  }
  return word;
}
#else
TDM_INLINE uint32_t tdm_f32_to_two(float low, float high, tdm_type type) {
  if (type == TDM_F16) return tdm_f32_to_f16(low) | (uint32_t)tdm_f32_to_f16(high) << 16;
  return tdm_f32_to_bf16(low) | (uint32_t)tdm_f32_to_bf16(high) << 16;
}
#endif

/* The i-th id or target. */
TDM_INLINE int64_t tdm_index(const void *indices, int64_t i, tdm_index_type type) {
  return type == TDM_I64 ? ((const int64_t *)indices)[i] : ((const int32_t *)indices)[i];
}

/* Element i of an array. Call it with a constant type, so that the switch disappears from the loop. */
TDM_INLINE float tdm_load(const void *base, int64_t i, tdm_type type) {
  switch (type) {
    case TDM_F32: return ((const float *)base)[i];
    case TDM_F16: return tdm_f16_to_f32(((const uint16_t *)base)[i]);
    case TDM_BF16: return tdm_bf16_to_f32(((const uint16_t *)base)[i]);
  }
  return 0;
}

TDM_INLINE void tdm_store(void *base, int64_t i, tdm_type type, float x) {
  switch (type) {
    case TDM_F32: ((float *)base)[i] = x; break;
    case TDM_F16: ((uint16_t *)base)[i] = tdm_f32_to_f16(x); break;
    case TDM_BF16: ((uint16_t *)base)[i] = tdm_f32_to_bf16(x); break;
  }
}

/* Calls body(..., TYPE) with the type as a constant: the body is compiled once for each type. */
#define TDM_BY_TYPE(type, body, ...)                   \
  switch (type) {                                      \
    case TDM_F32: body(__VA_ARGS__, TDM_F32); break;   \
    case TDM_F16: body(__VA_ARGS__, TDM_F16); break;   \
    case TDM_BF16: body(__VA_ARGS__, TDM_BF16); break; \
  }

#endif
