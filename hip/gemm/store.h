/* The end of a tile: from the wave's block of LDS (hip/engine/store.h) through the epilogue to C. */
#ifndef TANDEM_HIP_GEMM_STORE_H
#define TANDEM_HIP_GEMM_STORE_H

#include "epilogue.h"
#include "hip/device/buffer.h"
#include "hip/engine/store.h"

/* Where a lane begins in the block, and which column of the tile it has there: `gap` columns are between the left and the
 * right half. */
typedef struct block_lane {
  int row, chunk, column;
} block_lane;
template <int COLUMNS>
DEVICE block_lane lane_of_block(int gap) {
  const int chunks = COLUMNS / 4;
  int row = lane_index() / chunks, chunk = lane_index() % chunks;
  return (block_lane){row, chunk, 4 * chunk + (chunk < chunks / 2 ? 0 : gap)};
}

/* Rows without a chain: rounded, and stored in whole fours. The buffer's length masks the rows after the last one, so a row
 * costs a read of LDS, the rounding, an addition and a store; through epilogue_four it is 119 instructions. */
template <int COLUMNS, store_kind KIND>
DEVICE void block_store_direct(void *rows_of, int64_t rows_left, int64_t columns, int64_t leading, LDS const f32x4 *block,
                               int rows, int64_t n0, int gap, tdm_type out) {
  const int chunks = COLUMNS / 4, bytes = tdm_bytes(out);
  block_lane at = lane_of_block<COLUMNS>(gap);
  int64_t column = n0 + at.column;
  if (column >= columns) return;
  buffer to = make_buffer(rows_of, ((rows_left - 1) * leading + columns) * bytes);
  uint32_t offset = (uint32_t)(at.row * (int)leading + (int)column) * bytes;
#pragma unroll
  for (int row = 0; row < rows; row += WAVE / chunks) {
    buffer_store_four<KIND>(to, offset, block[block_place<COLUMNS>(row + at.row, at.chunk)], out);
    offset += (uint32_t)(WAVE / chunks * (int)leading * bytes);
  }
}

/* Stores `rows` rows of the block, from (m0, n0) of C on. g is a copy: C may be anywhere, so through a pointer each
 * field would be loaded again after each store. */
template <int COLUMNS = BLOCK_COLUMNS, store_kind KIND = KEPT>
DEVICE void block_store(const gemm_args g, LDS const f32x4 *block, int rows, int64_t matrix, int64_t m0, int64_t n0, int gap,
                        tdm_type type) {
  const tdm_type out = (tdm_type)g.out;
  if (g.direct) {
    bool split = g.partial != NULL;
    int64_t left = g.m - m0, columns = split ? g.ldp : g.n, leading = split ? g.ldp : g.ldc;
    char *to = split ? (char *)(g.partial + (matrix * g.m + m0) * g.ldp)
                     : (char *)g.c + (matrix * g.stride_c + m0 * g.ldc) * tdm_bytes(out);
    switch (split ? TDM_F32 : out) {
      case TDM_F32: block_store_direct<COLUMNS, KIND>(to, left, columns, leading, block, rows, n0, gap, TDM_F32); break;
      case TDM_F16: block_store_direct<COLUMNS, KIND>(to, left, columns, leading, block, rows, n0, gap, TDM_F16); break;
      case TDM_BF16: block_store_direct<COLUMNS, KIND>(to, left, columns, leading, block, rows, n0, gap, TDM_BF16); break;
    }
    return;
  }
  block_lane at = lane_of_block<COLUMNS>(gap);
#pragma unroll 1
  for (int row = at.row; row < rows; row += WAVE / (COLUMNS / 4))
    epilogue_four(&g, matrix, m0 + row, n0 + at.column, block[block_place<COLUMNS>(row, at.chunk)], type, out, KIND);
}

#endif
