/* swiglu: 32 x 64 of Y per workgroup (tile_loop.h). */
#include "tile_loop.h"

typedef tile<SWIGLU_TILE_32x64, SWIGLU_TILE_DEPTH, false, 2> narrow;
SWIGLU_TILE_KERNELS(swiglu_tile_32x64, nn, false, narrow)
SWIGLU_TILE_KERNELS(swiglu_tile_32x64, nt, true, narrow)
