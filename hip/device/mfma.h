/* Matrix instructions over chunks: 16 bytes per lane of A and of B, for each type.
 *
 * 16 x 16 result, a wave of 64 lanes:
 *   A chunk: lane 16 g + i holds row i,    k = g c .. g c + c - 1       (c elements of 16 bytes: 8 of f16 or bf16, 4 of f32)
 *   B chunk: lane 16 g + j holds column j, the same k
 *   C, D:    lane 16 g + j, register r holds row 4 g + r, column j
 * So one call computes 4 c values of k: 32 of f16 and bf16, 16 of f32.
 *
 * 32 x 32 result:
 *   A chunk: lane 32 g + i holds row i, k = g c .. g c + c - 1; B in the same way
 *   C, D:    lane 32 g + j, register r holds row 8 (r / 4) + 4 g + r % 4, column j
 * One call computes 2 c values of k.
 *
 * If an instruction takes fewer values per lane, several instructions take parts of the chunks. Which k a product has does
 * not matter, as long as A and B agree. Source of the layouts: ROCm's amd_matrix_instruction_calculator. MFMA ignores EXEC:
 * all lanes must hold defined values, and masked ones must hold zeros. */
#ifndef TANDEM_HIP_DEVICE_MFMA_H
#define TANDEM_HIP_DEVICE_MFMA_H

#include "types.h"

/* Values of k in one chunk of a lane. */
DEVICE int chunk_elements(tdm_type type) { return 16 / tdm_bytes(type); }

typedef union mfma_operand {
  u32x4 words;
  f16x8 f16;
  f16x4 f16_half[2];
  bf16x8 bf16;
  i16x4 bf16_half[2];
  float f32[4];
} mfma_operand;

/* A lane's share of a result of side x side. */
template <int side>
using mfma_sums = float __attribute__((ext_vector_type(side * side / WAVE)));

/* The result's type selects the shape: f32x4 or f32x16. */
#define MFMA(shape_16, shape_32, a, b)                          \
  if constexpr (sizeof(sums) == sizeof(f32x4))                  \
    c = __builtin_amdgcn_mfma_f32_##shape_16(a, b, c, 0, 0, 0); \
  else                                                          \
    c = __builtin_amdgcn_mfma_f32_##shape_32(a, b, c, 0, 0, 0)

/* The instructions of a product of chunks: f32 4 of 32 clocks, or of 64 if the result is 32 x 32; f16 and bf16 2 of 16 or 32
 * clocks, and where one takes 32 values of k, one. */
DEVICE constexpr int mfma_parts(tdm_type type) { return type == TDM_F32 ? 4 : 32 / CHIP_MFMA_16BIT_K; }

template <typename sums>
DEVICE sums mfma_part(u32x4 a_words, u32x4 b_words, sums c, tdm_type type, int part) {
  mfma_operand a = {a_words}, b = {b_words};
  switch (type) {
    case TDM_F32: MFMA(16x16x4f32, 32x32x2f32, a.f32[part], b.f32[part]); return c;
#if CHIP_MFMA_16BIT_K == 32
    case TDM_F16: MFMA(16x16x32_f16, 32x32x16_f16, a.f16, b.f16); return c;
    case TDM_BF16: MFMA(16x16x32_bf16, 32x32x16_bf16, a.bf16, b.bf16); return c;
#else
    case TDM_F16: MFMA(16x16x16f16, 32x32x8f16, a.f16_half[part], b.f16_half[part]); return c;
    case TDM_BF16: MFMA(16x16x16bf16_1k, 32x32x8bf16_1k, a.bf16_half[part], b.bf16_half[part]); return c;
#endif
  }
  return c;
}
template <typename sums>
DEVICE sums mfma(u32x4 a, u32x4 b, sums c, tdm_type type) {
  if (mfma_parts(type) == 1) return mfma_part(a, b, c, type, 0); /* not in a loop: attention's wide kernels would spill */
#pragma unroll
  for (int part = 0; part < mfma_parts(type); part++) c = mfma_part(a, b, c, type, part);
  return c;
}
#undef MFMA

#endif
