/* gemm: 32 x 128 of C per workgroup (tile_loop.h). */
#include "tile_loop.h"

typedef tile<32, 128, 1, 4, 3> depth_3;
TILE_KERNELS(tile_32x128_3, depth_3)
