/* gemm: 64 x 64 of C per workgroup (tile_loop.h). */
#include "tile_loop.h"
#include "tile_shapes.h"

typedef tile<GEMM_TILE_64x64, 3> depth_3;
TILE_TYPES(gemm_tile_64x64_3, nt, true, true, depth_3)
typedef tile<GEMM_TILE_64x64, 3, false, 1, true> spares;
TILE_TYPES(gemm_tile_64x64_3, nn, true, false, spares)
TILE_TYPES(gemm_tile_64x64_3, tn, false, false, spares)
TILE_TYPES(gemm_tile_64x64_3, tt, false, true, spares)

typedef tile<GEMM_TILE_64x64, GEMM_CACHE_LINES_DEPTH, true> by_cache_lines;
CACHE_LINE_KERNELS(gemm_tile_64x64_4, by_cache_lines)
