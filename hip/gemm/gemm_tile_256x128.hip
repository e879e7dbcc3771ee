/* gemm: 256 x 128 of C per workgroup (tile_loop.h). */
#include "tile_loop.h"
#include "tile_shapes.h"

typedef tile<GEMM_TILE_256x128, 2> depth_2;
TILE_KERNELS(gemm_tile_256x128_2, depth_2)

#if CHIP_LDS_BYTES >= 147456 /* 3 stages of 384 lines of 128 bytes */
typedef tile<GEMM_TILE_256x128, 3> depth_3;
TILE_KERNELS(gemm_tile_256x128_3, depth_3)
#endif
