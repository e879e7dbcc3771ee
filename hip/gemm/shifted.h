/* Rows of 16-bit results that begin or end between dwords: an odd leading dimension or n, or an array aligned to only 2 bytes.
 *
 * A lane has four elements of a row. If the row begins between two dwords, the lane stores the previous lane's last element and
 * three of its own, which are 8 bytes at a dword. What is left is at both ends of the row's part in the block: at most three
 * elements each, which are stored in one pass over all rows, a row in each lane.
 *
 * Element by element, four stores of 2 bytes a lane, the end of a tile took as long as 7 K steps of 256x256
 * (docs/gemm-tiles.md). */
#ifndef TANDEM_HIP_GEMM_SHIFTED_H
#define TANDEM_HIP_GEMM_SHIFTED_H

#include "added.h"
#include "block.h"
#include "hip/device/fours.h"

/* Of each lane the previous lane's word, in rows of 16 lanes: by data-parallel primitives, a VALU instruction. */
DEVICE uint32_t previous_lane(uint32_t word) {
  enum { ROW_SHIFT_RIGHT_1 = 0x111 };
  return (uint32_t)__builtin_amdgcn_update_dpp((int)word, (int)word, ROW_SHIFT_RIGHT_1, 0xf, 0xf, false);
}

/* Rows of C from the block's first one on. Their buffer begins at a dword, and its length includes the whole of the last one,
 * so parts of dwords are masked by what stores them. */
typedef struct shifted_rows {
  buffer to;
  uint32_t first, row_bytes; /* of the block's first column: in the first row, and from row to row */
  int64_t left;              /* rows up to the last one of C */
} shifted_rows;

DEVICE shifted_rows make_shifted_rows(constant_args *g, int64_t matrix, int64_t m0, int64_t n0) {
  const char *start = (const char *)g->c + (matrix * g->stride_c + m0 * g->ldc) * 2;
  const uint32_t odd = (uint32_t)(uintptr_t)start & 2;
  shifted_rows r;
  r.left = g->m - m0;
  r.to = make_buffer(start - odd, r.left > 0 ? ((r.left - 1) * g->ldc + g->n) * 2 + odd + 2 : 0);
  r.first = odd + (uint32_t)n0 * 2;
  r.row_bytes = (uint32_t)g->ldc * 2;
  return r;
}

/* The fours: 8 bytes at dwords. A row's first four, of which 2 bytes would be before it, and the last one, if it isn't whole,
 * are left to shifted_ends. `columns`: of C, from the block's first one on. */
template <int COLUMNS, int AT_ONCE>
DEVICE void shifted_fours(const shifted_rows *r, LDS const f32x4 *block, int rows, int64_t columns, int gap, tdm_type type) {
  enum { CHUNKS = COLUMNS / 4, STEP = WAVE / CHUNKS };
  static_assert(STEP % 2 == 0, "all rows of a lane begin alike");
  const block_lane at = lane_of_block<COLUMNS>(gap);
  uint32_t start = r->first + (uint32_t)at.row * r->row_bytes + (uint32_t)at.column * 2;
  const bool odd = start & 2, first = gap == 0 ? at.column == 0 : at.column == 0 || at.column == COLUMNS / 2 + gap;
  const bool stores = columns - at.column >= (odd ? 3 : 4) && !(odd && first);
  const uint32_t selector = odd ? 0x05040302 : 0x07060504; /* of v_perm_b32: the upper half of one, the lower of the next */
  start = start & ~2u;
#pragma unroll 1
  for (int row = 0; row < rows; row += AT_ONCE * STEP) {
    u32x2 words[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
      u32x2 x = four_words_of(block_four<COLUMNS>(block, at, row + i * STEP), type);
      words[i] =
          (u32x2){__builtin_amdgcn_perm(x[0], previous_lane(x[1]), selector), __builtin_amdgcn_perm(x[1], x[0], selector)};
    }
    if (stores)
#pragma unroll
      for (int i = 0; i < AT_ONCE; i++)
        __builtin_amdgcn_raw_buffer_store_b64(words[i], r->to, (int)(start + (uint32_t)(i * STEP) * r->row_bytes), 0, 0);
    start += (uint32_t)(AT_ONCE * STEP) * r->row_bytes;
  }
}

/* What is left of the `count` elements of each row from chunk `chunk` of the block on, `column` columns after its first one. */
template <int COLUMNS>
DEVICE void shifted_ends(const shifted_rows *r, LDS const f32x4 *block, int rows, int chunk, int column, int count,
                         tdm_type type) {
  const int after = count % 4, last = chunk + (count - 1) / 4;
#pragma unroll 1
  for (int first = 0; first < rows; first += WAVE) {
    const int row = first + lane_index();
    if (row >= rows || row >= r->left) continue;
    const uint32_t start = r->first + (uint32_t)row * r->row_bytes + (uint32_t)column * 2;
    const bool odd = start & 2;
    const u32x2 tail = four_words_of(block[block_place<COLUMNS>(row, last)], type);
    if (odd) {
      const u32x2 head = four_words_of(block[block_place<COLUMNS>(row, chunk)], type);
      __builtin_amdgcn_raw_buffer_store_b16((uint16_t)head[0], r->to, (int)start, 0, 0);
      if (count >= 3)
        __builtin_amdgcn_raw_buffer_store_b32(__builtin_amdgcn_alignbit(head[1], head[0], 16), r->to, (int)(start + 2), 0, 0);
      if ((after == 1 || after == 2) && last > chunk) {
        const u32x2 before = four_words_of(block[block_place<COLUMNS>(row, last - 1)], type);
        const uint32_t two = __builtin_amdgcn_alignbit(tail[0], before[1], 16);
        __builtin_amdgcn_raw_buffer_store_b32(two, r->to, (int)(start + (uint32_t)(last - chunk) * 8 - 2), 0, 0);
      }
    } else if (after >= 2) {
      __builtin_amdgcn_raw_buffer_store_b32(tail[0], r->to, (int)(start + (uint32_t)(last - chunk) * 8), 0, 0);
    }
    const uint32_t two = after == 1 || after == 2 ? tail[0] : tail[1];
    if ((count % 2 != 0) != odd)
      __builtin_amdgcn_raw_buffer_store_b16((uint16_t)(count % 2 != 0 ? two : two >> 16), r->to,
                                            (int)(start + (uint32_t)(count - 1) * 2), 0, 0);
  }
}

/* The block's rows, whose sums have gone through their epilogue. With a gap, each half of a row has ends. */
template <int COLUMNS, int AT_ONCE>
DEVICE void store_shifted(const shifted_rows *r, LDS const f32x4 *block, int rows, int64_t columns, int gap, tdm_type type) {
  shifted_fours<COLUMNS, AT_ONCE>(r, block, rows, columns, gap, type);
  const int width = gap == 0 ? COLUMNS : COLUMNS / 2;
#pragma unroll 1
  for (int part = 0; part < COLUMNS / width; part++) {
    const int column = part * (width + gap);
    const int64_t left = columns - column;
    if (left <= 0) return;
    shifted_ends<COLUMNS>(r, block, rows, part * width / 4, column, left < width ? (int)left : width, type);
  }
}

#endif
