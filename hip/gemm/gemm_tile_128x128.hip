/* gemm: 128 x 128 of C per workgroup (tile_loop.h). */
#include "tile_loop.h"

typedef tile<128, 128, 2, 2, 2> depth_2;
TILE_KERNELS(tile_128x128_2, depth_2)

typedef tile<128, 128, 2, 2, 3> depth_3;
TILE_KERNELS(tile_128x128_3, depth_3)
