/* The workgroups of gemm_pack, shared by host and device. */
#ifndef TANDEM_HIP_GEMM_PACK_SHAPE_H
#define TANDEM_HIP_GEMM_PACK_SHAPE_H

#include "args.h"

/* What a wave copies at a time: a piece of a row, of up to 4 chunks of each lane, or several short rows. So the scalar unit
 * computes where the piece is once for all its loads: with one load for each wave it took longer than memory. */
enum {
  PACK_LANES = 64,
  PACK_SHORT = PACK_LANES / 2,
  PACK_LOADS = 4,
  PACK_PIECE = PACK_LOADS * PACK_LANES,
  PACK_PIECES = PACK_THREADS / PACK_LANES /* of a block */
};
TDM_ORDER_FUNCTION uint32_t pack_rows_each(uint32_t chunks) { return chunks > PACK_SHORT ? 1 : PACK_LANES / chunks; }
TDM_ORDER_FUNCTION uint32_t pack_pieces_of_row(uint32_t chunks) { return (chunks - 1) / PACK_PIECE + 1; }
/* Of all rows of a copy, which has at least one chunk in a row. */
TDM_ORDER_FUNCTION uint32_t pack_pieces(uint32_t rows, uint32_t chunks) {
  uint32_t each = pack_rows_each(chunks);
  return each == 1 ? rows * pack_pieces_of_row(chunks) : (rows - 1) / each + 1;
}

/* Blocks of PACK_THREADS chunks that a workgroup copies at a time. In workgroups of one block each a small copy would take
 * as long as their dispatch, 16 clocks each. */
enum { PACK_BLOCKS = 4, PACK_WORKITEMS = PACK_BLOCKS * PACK_THREADS };

#endif
