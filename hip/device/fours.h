/* Four neighbouring elements of a row, which is what a lane reads from LDS at the end of a tile: how many of them are in the
 * matrix, how they are loaded and stored. */
#ifndef TANDEM_HIP_DEVICE_FOURS_H
#define TANDEM_HIP_DEVICE_FOURS_H

#include "buffer.h"

/* Four neighbouring elements of a row: how many of them are in the matrix. `whole`: all four are, and their arrays are
 * aligned for it. */
typedef struct four_place {
  int count;
  bool whole;
} four_place;

/* Whether results stay in the caches for the next reader. */
enum store_kind { KEPT, NON_TEMPORAL };

DEVICE four_place four_in(int64_t rows, int64_t columns, int64_t row, int64_t column, bool aligned) {
  int64_t left = row < rows ? columns - column : 0;
  int count = left > 4 ? 4 : left < 0 ? 0 : (int)left;
  return (four_place){count, count == 4 && aligned};
}

DEVICE f32x4 four_load(const void *base, int64_t at, four_place where, tdm_type type) {
  if (where.whole) return load_four(base, at, type);
  f32x4 x = 0;
  for (int i = 0; i < 4; i++)
    if (i < where.count) x[i] = load_element(base, at + i, type);
  return x;
}

DEVICE void four_store(void *base, int64_t at, f32x4 x, four_place where, tdm_type type, store_kind kind) {
  if (where.whole) {
    if (kind == NON_TEMPORAL)
      store_four_non_temporal(base, at, x, type);
    else
      store_four(base, at, x, type);
    return;
  }
  for (int i = 0; i < 4; i++)
    if (i < where.count) store_element(base, at + i, x[i], type);
}

/* Four results of 16 bits. */
DEVICE u32x2 four_words_of(f32x4 x, tdm_type type) {
  return type == TDM_F16 ? __builtin_bit_cast(u32x2, __builtin_convertvector(x, f16x4))
                         : __builtin_bit_cast(u32x2, __builtin_convertvector(x, bf16x4));
}

/* All four, to an offset in a buffer, which masks them. */
template <store_kind KIND>
DEVICE void buffer_store_four(buffer to, uint32_t offset, f32x4 x, tdm_type type) {
  constexpr int nt = KIND == NON_TEMPORAL ? 2 : 0;
  if (type == TDM_F32) {
    __builtin_amdgcn_raw_buffer_store_b128(__builtin_bit_cast(u32x4, x), to, (int)offset, 0, nt);
    return;
  }
  __builtin_amdgcn_raw_buffer_store_b64(four_words_of(x, type), to, (int)offset, 0, nt);
}

#endif
