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

#endif
