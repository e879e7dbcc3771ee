/* gemm: 128 x 32 of C per workgroup (tile_loop.h). */
#include "tile_loop.h"

typedef tile<128, 32, 4, 1, 3> depth_3;
TILE_KERNELS(tile_128x32_3, depth_3)
