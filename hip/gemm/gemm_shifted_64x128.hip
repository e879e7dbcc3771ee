/* gemm: 64 x 128 of C per workgroup, of operands that begin anywhere (engine/unaligned.h). */
#include "tile_loop.h"
#include "tile_shapes.h"

typedef unaligned_tile<GEMM_SHIFTED_64x128> tile_64x128;
UNALIGNED_KERNELS(gemm_shifted_64x128, tile_64x128)
typedef unaligned_tile<GEMM_SHIFTED_64x128, false> whole_64x128;
UNALIGNED_KERNELS(gemm_whole_64x128, whole_64x128)
