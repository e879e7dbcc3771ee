/* gemm: 64 x 64 of C per workgroup (tile_loop.h). */
#include "tile_loop.h"
#include "tile_shapes.h"

typedef tile<GEMM_TILE_64x64, 3> depth_3;
TILE_KERNELS(gemm_tile_64x64_3, depth_3)

typedef tile<GEMM_TILE_64x64, GEMM_CACHE_LINES_DEPTH, true> by_cache_lines;
CACHE_LINE_KERNELS(gemm_tile_64x64_4, by_cache_lines)
