/* A lane's sums in the wave's block of LDS (hip/engine/store.h). */
#ifndef TANDEM_HIP_GEMM_BLOCK_H
#define TANDEM_HIP_GEMM_BLOCK_H

#include "hip/device/wait.h"
#include "hip/engine/store.h"

/* Where a lane begins in the block: its row, its place, and the column of the tile that it has there. `gap` columns are between
 * the left and the right half. */
typedef struct block_lane {
  int row, place, column;
} block_lane;
template <int COLUMNS>
DEVICE block_lane lane_of_block(int gap) {
  const int chunks = COLUMNS / 4;
  int lane = in_order(lane_index()) & (WAVE - 1); /* what follows from it would else be kept in registers from pass to pass */
  int row = lane / chunks, chunk = lane % chunks;
  return (block_lane){row, block_place<COLUMNS>(row, chunk), 4 * chunk + (chunk < chunks / 2 ? 0 : gap)};
}
/* The lane's four sums `row` rows after its first ones; row is a multiple of the rows that a wave reads at once. */
template <int COLUMNS>
DEVICE f32x4 block_four(LDS const f32x4 *block, block_lane at, int row) {
  return block[block_place_at<COLUMNS>(at.place, (uint32_t)row, 0)];
}

#endif
