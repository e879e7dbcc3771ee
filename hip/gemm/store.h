/* From accumulators to C.
 *
 * The kernels multiply with the operands swapped, B^T A^T, so that a lane has four neighbouring columns of one row of C: lane
 * 16 g + j of fragment (fm, fn) has row 16 fm + j, columns 16 fn + 4 g .. + 3. Stored from there, 16 rows would get 32 bytes
 * each; and a chain of epilogue steps over accumulators, which can't be indexed by a variable, would be unrolled into tens of
 * thousands of instructions. So each wave passes its sums through LDS of its own, as f32, and a loop takes them out row by row.
 *
 * The LDS has rows of 64 floats, 16 chunks of four; chunk c of row r lies at place c ^ (r + r / 8) % 16, by bits: no bank
 * is asked twice, neither when 8 lanes write one chunk of 8 rows, each the next or the next but one, nor when 16 read a row. A
 * wave's LDS accesses are done in order: no wait. */
#ifndef TANDEM_HIP_GEMM_STORE_H
#define TANDEM_HIP_GEMM_STORE_H

#include "../device/epilogue.h"

enum { BLOCK_COLUMNS = 64, BLOCK_CHUNKS = BLOCK_COLUMNS / 4 };

DEVICE int block_place(int row, int chunk) { return row * BLOCK_CHUNKS + (chunk ^ (row ^ row / 8) % BLOCK_CHUNKS); }

/* Puts one fragment into the wave's block. */
DEVICE void block_put(LDS f32x4 *block, int fm, int fn, f32x4 sums) {
  int lane = lane_index();
  block[block_place(16 * fm + lane % 16, 4 * fn + lane / 16)] = sums;
}

/* Stores `rows` rows of the block as C's rows from (m0, n0) on; `gap` columns lie between the left and the right half. */
DEVICE void block_store(const gemm_args *g, LDS const f32x4 *block, int rows, int64_t matrix, int64_t m0, int64_t n0, int gap,
                        tdm_type type, store_kind kind) {
  int lane = lane_index(), chunk = lane % BLOCK_CHUNKS;
  n0 += 4 * chunk + (chunk < BLOCK_CHUNKS / 2 ? 0 : gap);
#pragma unroll 1
  for (int row = lane / BLOCK_CHUNKS; row < rows; row += WAVE / BLOCK_CHUNKS)
    epilogue_four(g, matrix, m0 + row, n0, block[block_place(row, chunk)], type, (tdm_type)g->out, kind);
}

#endif
