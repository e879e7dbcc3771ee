/* gemm: 64 x 16 of C a workgroup (tile_loop.h), B along k: a fragment of 16 lines can not be turned. */
#include "tile_loop.h"

typedef tile<64, 16, 2, 1, 3> depth_3;
TILE_TYPES(tile_64x16_3, nt, true, true, depth_3)
TILE_TYPES(tile_64x16_3, tt, false, true, depth_3)
