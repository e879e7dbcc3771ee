/* Shapes of the tiles of hip/engine. Host and device read the numbers here; nothing repeats them. */
#ifndef TANDEM_HIP_ARGS_TILES_H
#define TANDEM_HIP_ARGS_TILES_H

enum {
  /* engine/masked.h: lines of A and of B, and the waves that share them. */
  MASKED_LINES = 128,
  MASKED_WAVES_M = 2,
  MASKED_WAVES_N = 2,
  /* engine/pipeline.h: two halves of A and two of B. */
  PIPE_LINES = 256,
  PIPE_WAVES_M = 2,
  PIPE_WAVES_N = 4
};

enum { TILE_TURN_BITS = 16 }; /* engine/tile.h: of the share of K with which a tile begins */

/* engine/lines.h: bytes along k of a K step. Two stages of the largest tiles must fit in the LDS of a CU. */
#define HIP_PIPE_ROW(lds_bytes) ((lds_bytes) > 65536 ? 128 : 64)

/* Does a wave read and load between its products, with `rows` fragments of A, `columns` of each B, and `parts` of a K step? And
 * the waves of a SIMD, if LDS has room for so many workgroups of `waves`. engine/tile.h says why. */
#define HIP_READS_BETWEEN(products, rows, columns, parts) ((products) == 1 ? (rows) * (columns) * (parts) >= 8 : (rows) > 1)
#define HIP_WAVES_OF_SIMD(by_lds, waves) \
  ((by_lds) * (waves) / 4 < 1 ? 1 : (by_lds) * (waves) / 4 > 4 ? 4 : (by_lds) * (waves) / 4)
/* Has LDS room for a spare stage beside `depth` others, without a wave less? */
#define HIP_SPARES_STAGE(lds_bytes, stage, depth, waves)                                                    \
  ((lds_bytes) >= ((depth) + 1) * (stage) && HIP_WAVES_OF_SIMD((lds_bytes) / ((depth) * (stage)), waves) == \
                                                 HIP_WAVES_OF_SIMD((lds_bytes) / (((depth) + 1) * (stage)), waves))

#endif
