/* swiglu: 128 x 64 of Y per workgroup (tile_loop.h). */
#include "tile_loop.h"

typedef tile<SWIGLU_TILE_128x64, 2, false, 2> depth_2;
SWIGLU_TILE_KERNELS(swiglu_tile_128x64_2, nn, false, depth_2)
SWIGLU_TILE_KERNELS(swiglu_tile_128x64_2, nt, true, depth_2)

typedef tile<SWIGLU_TILE_128x64, 3, false, 2> depth_3;
SWIGLU_TILE_KERNELS(swiglu_tile_128x64_3, nn, false, depth_3)
SWIGLU_TILE_KERNELS(swiglu_tile_128x64_3, nt, true, depth_3)
