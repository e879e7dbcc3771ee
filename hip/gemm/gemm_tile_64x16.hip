/* gemm: 64 x 16 of C per workgroup (tile_loop.h). B is along k, because a fragment of 16 lines can't be transposed. */
#include "tile_loop.h"
#include "tile_shapes.h"

typedef tile<GEMM_TILE_64x16, 3> depth_3;
TILE_TYPES(gemm_tile_64x16_3, nt, true, true, depth_3)
TILE_TYPES(gemm_tile_64x16_3, tt, false, true, depth_3)
