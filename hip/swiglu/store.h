/* From the two products to Y: silu(gate) * up. */
#ifndef TANDEM_HIP_SWIGLU_STORE_H
#define TANDEM_HIP_SWIGLU_STORE_H

#include "args.h"
#include "hip/device/math.h"
#include "hip/engine/store.h"

/* A wave's block (engine/store.h) has `rows` rows (a multiple of 16) of 32 gates and the 32 ups of the same columns.
 *
 * 8 lanes read half a row's chunks. gfx950's LDS serves half a row of each of four groups of 8 lanes at once, and two of
 * four neighbouring rows would need the same banks. So the groups take rows 0, 1, 8, 9, whose places differ by half a row
 * (block_place), then rows 2, 3, 10, 11. Rows 4 on are the next round. */
DEVICE void block_store_gated(const swiglu_args *p, LDS const f32x4 *block, int rows, int64_t m0, int64_t n0) {
  enum { GATES = BLOCK_CHUNKS / 2 };
  int lane = lane_index(), chunk = lane % GATES, group = lane / GATES;
  int first = group % 2 + group / 4 * 2 + group / 2 % 2 * 8;
  int64_t column = n0 + 4 * chunk;
#pragma unroll 1
  for (int round = 0; round < rows / 8; round++) {
    int row = first + round % 2 * 4 + round / 2 * 16;
    four_place where = four_in(p->m, p->n, m0 + row, column, p->aligned_fours != 0);
    f32x4 y = block[block_place(row, GATES + chunk)], gate = block[block_place(row, chunk)];
#pragma unroll
    for (int i = 0; i < 4; i++) y[i] *= silu_f32(gate[i]);
    if (where.count > 0) four_store(p->y, (m0 + row) * p->ldy + column, y, where, (tdm_type)p->out, KEPT);
  }
}

#endif
