/* gemm: 16 x 64 of C per workgroup (tile_loop.h). A is along k, because a fragment of 16 lines can't be transposed. */
#include "tile_loop.h"
#include "tile_shapes.h"

typedef tile<GEMM_TILE_16x64, 3> depth_3;
TILE_TYPES(gemm_tile_16x64_3, nn, true, false, depth_3)
TILE_TYPES(gemm_tile_16x64_3, nt, true, true, depth_3)
