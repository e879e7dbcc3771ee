/* Shapes of swiglu's tiles (engine/tile.h), shared by their rows and their kernels: rows of x, columns of Y, waves along m,
 * waves along n. */
#ifndef TANDEM_HIP_SWIGLU_TILE_SHAPES_H
#define TANDEM_HIP_SWIGLU_TILE_SHAPES_H

#define SWIGLU_TILE_16x32 16, 32, 1, 2
#define SWIGLU_TILE_32x64 32, 64, 2, 2
#define SWIGLU_TILE_64x64 64, 64, 2, 2
#define SWIGLU_TILE_128x64 128, 64, 2, 2

enum { SWIGLU_TILE_DEPTH = 3 /* stages of LDS of the narrow ones */ };

#endif
