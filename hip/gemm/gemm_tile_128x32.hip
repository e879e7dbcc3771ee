/* gemm: 128 x 32 of C per workgroup (tile_loop.h). */
#include "tile_loop.h"
#include "tile_shapes.h"

typedef tile<GEMM_TILE_128x32, 3> depth_3;
TILE_KERNELS(gemm_tile_128x32_3, depth_3)
