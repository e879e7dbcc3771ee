/* gemm: 32 x 32 of C per workgroup, of operands that begin anywhere (engine/unaligned.h). */
#include "tile_loop.h"
#include "tile_shapes.h"

typedef unaligned_tile<GEMM_SHIFTED_32x32> tile_32x32;
UNALIGNED_KERNELS(gemm_shifted_32x32, tile_32x32)
typedef unaligned_tile<GEMM_SHIFTED_32x32, false> whole_32x32;
UNALIGNED_KERNELS(gemm_whole_32x32, whole_32x32)
