/* gemm: 64 x 128 of C per workgroup (tile_loop.h). */
#include "tile_loop.h"
#include "tile_shapes.h"

typedef tile<GEMM_TILE_64x128, 2> depth_2;
TILE_KERNELS(gemm_tile_64x128_2, depth_2)

typedef tile<GEMM_TILE_64x128, 3> depth_3;
TILE_KERNELS(gemm_tile_64x128_3, depth_3)

typedef tile<GEMM_TILE_64x128, GEMM_CACHE_LINES_DEPTH, true> by_cache_lines;
CACHE_LINE_KERNELS(gemm_tile_64x128_4, by_cache_lines)
