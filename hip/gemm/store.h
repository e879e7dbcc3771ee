/* The end of a tile: from the wave's block of LDS (hip/engine/store.h) through the epilogue to C. */
#ifndef TANDEM_HIP_GEMM_STORE_H
#define TANDEM_HIP_GEMM_STORE_H

#include "epilogue.h"
#include "hip/engine/store.h"

/* Stores `rows` rows of the block as C's rows from (m0, n0) on. `gap` columns are between the left and the right half. */
template <int COLUMNS = BLOCK_COLUMNS>
DEVICE void block_store(const gemm_args *g, LDS const f32x4 *block, int rows, int64_t matrix, int64_t m0, int64_t n0, int gap,
                        tdm_type type, store_kind kind) {
  const int chunks = COLUMNS / 4;
  int lane = lane_index(), chunk = lane % chunks;
  n0 += 4 * chunk + (chunk < chunks / 2 ? 0 : gap);
#pragma unroll 1
  for (int row = lane / chunks; row < rows; row += WAVE / chunks)
    epilogue_four(g, matrix, m0 + row, n0, block[block_place<COLUMNS>(row, chunk)], type, (tdm_type)g->out, kind);
}

#endif
