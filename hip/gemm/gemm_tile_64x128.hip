/* gemm: 64 x 128 of C per workgroup (tile_loop.h). */
#include "tile_loop.h"

typedef tile<64, 128, 2, 2, 2> depth_2;
TILE_KERNELS(tile_64x128_2, depth_2)

typedef tile<64, 128, 2, 2, 3> depth_3;
TILE_KERNELS(tile_64x128_3, depth_3)
