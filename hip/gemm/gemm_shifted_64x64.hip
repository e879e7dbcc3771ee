/* gemm: 64 x 64 of C per workgroup, of operands that begin anywhere (engine/unaligned.h). */
#include "tile_loop.h"
#include "tile_shapes.h"

typedef unaligned_tile<GEMM_SHIFTED_64x64> tile_64x64;
UNALIGNED_KERNELS(gemm_shifted_64x64, tile_64x64)
typedef unaligned_tile<GEMM_SHIFTED_64x64, false> whole_64x64;
UNALIGNED_KERNELS(gemm_whole_64x64, whole_64x64)
