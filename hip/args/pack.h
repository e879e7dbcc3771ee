/* Operands that a launch before the tiles copies (engine/pack.h, host/pack.h), and its workgroups: host and device share it. */
#ifndef TANDEM_HIP_ARGS_PACK_H
#define TANDEM_HIP_ARGS_PACK_H

#include <stdint.h>

#include "preloaded.h"

/* Matrices of `rows` rows of `columns` elements. The copy has to_rows rows of 8 * chunks. */
typedef struct hip_packed {
  const void *from;
  void *to;
  int64_t ld, stride; /* of from, elements */
  uint32_t rows, columns, matrices;
  uint32_t to_rows, chunks;           /* chunks: of 16 bytes */
  uint32_t blocks;                    /* of PACK_PIECES pieces; 0: this operand is not copied */
  uint32_t rows_each, of_row, pieces; /* rows of a piece; pieces of a row, if that is one; pieces in all */
} hip_packed;

/* What is in registers when a wave of gemm_pack begins (device/arguments.h), if each operand is one matrix of rows that are a
 * piece or more, with a leading dimension below 2^32. */
typedef struct hip_known_rows {
  const void *from;
  uint32_t ld, rows, columns;
  uint32_t blocks; /* 0: not copied */
} hip_known_rows;
typedef struct hip_pack_first {
  hip_known_rows of[2];
  uint32_t workgroups;
  uint16_t of_row[2]; /* pieces of a row; 0: the operands are others, and this says nothing */
} hip_pack_first;

enum { PACK_THREADS = 256 }; /* of a block */

/* What a wave copies at a time: a piece of a row, of up to 4 chunks of each lane, or several short rows. So the scalar unit
 * computes where the piece is once for all its loads: with one load for each wave it took longer than memory. */
enum {
  PACK_LANES = 64,
  PACK_SHORT = PACK_LANES / 2,
  PACK_LOADS = 4,
  PACK_PIECE = PACK_LOADS * PACK_LANES,
  PACK_PIECES = PACK_THREADS / PACK_LANES /* of a block */
};

/* Blocks of PACK_THREADS chunks that a workgroup copies at a time. In workgroups of one block each a small copy would take
 * as long as their dispatch, 16 clocks each. */
enum { PACK_BLOCKS = 4, PACK_WORKITEMS = PACK_BLOCKS * PACK_THREADS };

#endif
