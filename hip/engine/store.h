/* From accumulators to the output.
 *
 * The kernels multiply with the operands exchanged, B^T A^T, so that a lane has four neighbouring columns of one row of C:
 * lane 16 g + j of fragment (fm, fn) has row 16 fm + j, columns 16 fn + 4 g .. + 3. Storing them from there would have two
 * disadvantages: each of 16 rows would get only 32 bytes, and the steps of the epilogue would be unrolled into tens of
 * thousands of instructions, because accumulators can't be indexed by a variable. So each wave moves its sums through its
 * own part of LDS, as f32, and a loop takes them out row by row.
 *
 * This part has rows of 64 floats, 16 chunks of four. Chunk c of row r is at place c ^ (r + r / 8) % 16, an exclusive or of
 * bits. Then there is no bank conflict, neither when 8 lanes write one chunk of 8 rows (each the next row, or the next but
 * one), nor when 16 lanes read a row. A wave's LDS accesses are done in order, so no wait is needed. Blocks of narrower
 * waves have narrower rows. */
#ifndef TANDEM_HIP_ENGINE_STORE_H
#define TANDEM_HIP_ENGINE_STORE_H

#include "hip/device/arguments.h"
#include "hip/device/fours.h"
#include "lines.h"

enum { BLOCK_COLUMNS = 64, BLOCK_CHUNKS = BLOCK_COLUMNS / 4 };

template <int COLUMNS = BLOCK_COLUMNS>
DEVICE int block_place(int row, int chunk) {
  return row * (COLUMNS / 4) + (chunk ^ (row ^ row / 8) % (COLUMNS / 4));
}

/* The same in two parts, of which one is a constant. No bit is set in both rows or in both chunks, so the places of the
 * parts make that of the whole with an exclusive or: an instruction, where the constants are folded. */
template <int COLUMNS = BLOCK_COLUMNS>
DEVICE int block_place_at(int place, uint32_t row, uint32_t chunk) {
  enum { CHUNKS = COLUMNS / 4 };
  return (int)(row * CHUNKS) + (place ^ (int)((chunk ^ row ^ row / 8) % CHUNKS));
}

/* Puts one fragment into the wave's block. */
DEVICE void block_put(LDS f32x4 *block, int fm, int fn, f32x4 sums) {
  int lane = lane_index();
  block[block_place(16 * fm + lane % 16, 4 * fn + lane / 16)] = sums;
}

/* Four neighbouring sums of a row, and which chunk of the row they are. Because the operands are exchanged, a lane of group g
 * has 4 neighbouring columns of a row in 4 registers: with 16 x 16 results columns 4 g .. + 3; with 32 x 32 those from 4 g,
 * 4 g + 8, ... on. With PAIRS of B, fragments n and n + 1 alternate, and the fours of two lanes are 8 neighbours. */
typedef struct row_four {
  f32x4 sums;
  int chunk;
} row_four;
template <int SIDE>
DEVICE row_four four_of_row(const mfma_sums<SIDE> *sums, int n, int four, form b) {
  const int r = 4 * four, g = lane_index() / SIDE;
  if (operand_read_of(b) == PAIRS) {
    mfma_sums<SIDE> even = sums[n & ~1], odd = sums[n | 1];
    const int half = r + n % 2 * 2;
    return {{even[half], odd[half], even[half + 1], odd[half + 1]}, (n & ~1) * SIDE / 4 + 2 * g + n % 2};
  }
  mfma_sums<SIDE> x = sums[n];
  return {{x[r], x[r + 1], x[r + 2], x[r + 3]}, n * SIDE / 4 + WAVE / SIDE * four + g};
}

/* Puts a lane's sums of a row of fragments into one row of the block, from `chunk` on. */
template <int SIDE, int COLUMNS = BLOCK_COLUMNS>
DEVICE void put_row(LDS f32x4 *block, int row, int chunk, const mfma_sums<SIDE> *sums, form b) {
#pragma unroll
  for (int n = 0; n < b.count; n++)
#pragma unroll
    for (int four = 0; four < SIDE / 16 * SIDE / 16; four++) {
      const row_four here = four_of_row<SIDE>(sums, n, four, b);
      block[block_place<COLUMNS>(row, chunk + here.chunk)] = here.sums;
    }
}

#endif
