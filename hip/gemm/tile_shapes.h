/* Shapes of the tiles of tile_loop.h, shared by their rows and their kernels: lines of A, lines of B, waves along m, waves
 * along n. */
#ifndef TANDEM_HIP_GEMM_TILE_SHAPES_H
#define TANDEM_HIP_GEMM_TILE_SHAPES_H

#define GEMM_TILE_16x64 16, 64, 1, 2
#define GEMM_TILE_32x128 32, 128, 1, 4
#define GEMM_TILE_64x16 64, 16, 2, 1
#define GEMM_TILE_128x32 128, 32, 4, 1
#define GEMM_TILE_64x64 64, 64, 2, 2
#define GEMM_TILE_64x128 64, 128, 2, 2
#define GEMM_TILE_128x128 128, 128, 2, 2
#define GEMM_TILE_256x128 256, 128, 4, 2
#define GEMM_SHIFTED_32x32 32, 32, 1, 2
#define GEMM_SHIFTED_64x64 64, 64, 2, 2
#define GEMM_SHIFTED_64x128 64, 128, 2, 2

/* With so many stages of LDS a tile loads rows along k by lines (engine/cache_lines.h). */
enum { GEMM_CACHE_LINES_DEPTH = 4 };

#endif
