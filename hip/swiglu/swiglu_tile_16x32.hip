/* swiglu: 16 x 32 of Y per workgroup (tile_loop.h). Weights are along k, because a fragment of 16 lines can't be transposed. */
#include "tile_loop.h"

typedef tile<SWIGLU_TILE_16x32, SWIGLU_TILE_DEPTH, false, 2> narrow;
SWIGLU_TILE_KERNELS(swiglu_tile_16x32, nt, true, narrow)
