/* Many fours of a lane at a time, from and to C and the residual, in rows that are equally far apart: whole fours that begin at
 * dwords, or element by element. */
#ifndef TANDEM_HIP_GEMM_LANE_FOURS_H
#define TANDEM_HIP_GEMM_LANE_FOURS_H

#include "args.h"
#include "hip/device/fours.h"
#include "hip/device/wait.h"

/* A lane's fours of a block of rows, at offsets in a buffer that ends with the matrix. */
typedef struct lane_fours {
  buffer memory;
  uint32_t first, row_bytes; /* the offset in row 0 of the block, and from one row to the next */
} lane_fours;

DEVICE lane_fours make_fours(const void *matrix, int64_t leading, const gemm_args *g, int64_t m0, int64_t column, int bytes) {
  int64_t left = g->m - m0;
  lane_fours f;
  /* The length includes the whole of the last dword, for load_elements. */
  const int64_t length = ((left - 1) * leading + g->n) * bytes + bytes % 4;
  f.memory = make_buffer((const char *)matrix + m0 * leading * bytes, left > 0 ? length : 0);
  f.first = (uint32_t)column * bytes;
  f.row_bytes = (uint32_t)leading * bytes;
  return f;
}

/* The offset of the lane's four in a row. It is computed again for each use: kept for all fours they would fill the
 * registers. */
DEVICE uint32_t start_of(const lane_fours *f, int row) { return in_order(f->first + (uint32_t)row * f->row_bytes); }

/* A four as it is in memory. They stay so until they are needed, so all loads start before the first one is waited for. */
template <int BYTES>
using four_words = uint32_t __attribute__((ext_vector_type(BYTES)));

template <int COUNT, int BYTES>
DEVICE void load_fours(four_words<BYTES> *words, const lane_fours *f, int row, int step) {
  uint32_t start = start_of(f, row);
#pragma unroll
  for (int i = 0; i < COUNT; i++, start += (uint32_t)step * f->row_bytes)
    if constexpr (BYTES == 4)
      words[i] = buffer_load(f->memory, start);
    else
      words[i] = __builtin_amdgcn_raw_buffer_load_b64(f->memory, (int)start, 0, 0);
}

/* The same for 16 bits at any address: element by element, but all on their way at once. Elements after the last row or column
 * are 0. rows, columns: from the block's first row and from the lane's four on. */
template <int COUNT>
DEVICE void load_elements(u32x2 *words, const lane_fours *f, int row, int step, int64_t rows, int64_t columns) {
  uint32_t start = start_of(f, row);
#pragma unroll
  for (int i = 0; i < COUNT; i++, start += (uint32_t)step * f->row_bytes) {
    uint32_t element[4];
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const uint32_t at = row + i * step < rows && e < columns ? start + 2 * (uint32_t)e : OUTSIDE;
      element[e] = (uint16_t)__builtin_amdgcn_raw_buffer_load_b16(f->memory, (int)at, 0, 0);
    }
    words[i] = (u32x2){element[0] | element[1] << 16, element[2] | element[3] << 16};
  }
}

template <int BYTES>
DEVICE f32x4 four_of(four_words<BYTES> words, tdm_type type) {
  if constexpr (BYTES == 4)
    return __builtin_bit_cast(f32x4, words);
  else
    return type == TDM_F16 ? __builtin_convertvector(__builtin_bit_cast(f16x4, words), f32x4)
                           : __builtin_convertvector(__builtin_bit_cast(bf16x4, words), f32x4);
}

/* x += scale * what was loaded. The type is no constant, but the same in all lanes. in_order: or clang converts all before the
 * loop over the steps, and keeps the results in registers. */
template <int COUNT, int BYTES>
DEVICE void add_fours(f32x4 *x, const four_words<BYTES> *words, float scale, tdm_type type) {
  if (BYTES == 4 || type == TDM_F16)
#pragma unroll
    for (int i = 0; i < COUNT; i++) x[i] += scale * four_of<BYTES>(in_order(words[i]), TDM_F16);
  else
#pragma unroll
    for (int i = 0; i < COUNT; i++) x[i] += scale * four_of<BYTES>(in_order(words[i]), TDM_BF16);
}

template <int COUNT, int BYTES, store_kind KIND>
DEVICE void store_fours(const lane_fours *f, int row, int step, const f32x4 *x, tdm_type type) {
  uint32_t start = start_of(f, row), next = (uint32_t)step * f->row_bytes;
  if (BYTES == 4 || type == TDM_F16)
#pragma unroll
    for (int i = 0; i < COUNT; i++, start += next)
      buffer_store_four<KIND>(f->memory, start, x[i], BYTES == 4 ? TDM_F32 : TDM_F16);
  else
#pragma unroll
    for (int i = 0; i < COUNT; i++, start += next) buffer_store_four<KIND>(f->memory, start, x[i], TDM_BF16);
}

#endif
