/* Short vectors of f32, as wide as the target's registers: the compilers' vector extension, no intrinsics. */
#ifndef TANDEM_OFFLOAD_VECTOR_H
#define TANDEM_OFFLOAD_VECTOR_H

#include "target.h"

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

TDM_INLINE tdm_vec tdm_vec_load(const float *p) { return *(const tdm_vec_unaligned *)p; }
TDM_INLINE tdm_vec tdm_vec_load_aligned(const float *p) { return *(const tdm_vec *)p; }
TDM_INLINE void tdm_vec_store(float *p, tdm_vec v) { *(tdm_vec_unaligned *)p = v; }

/* The lower (upper) halves of a and b, element by element in turn. */
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

/* Turns a square block. Zipping row i with row i + LANES/2 is a perfect shuffle of the block's index bits (row bits above
 * column bits); log2(LANES) of them swap rows and columns. */
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
