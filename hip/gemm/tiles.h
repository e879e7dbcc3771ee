/* Host side of the kernels over tiles: the order of tiles and the launch, alignments, and what loads of dwords need. */
#ifndef TANDEM_HIP_GEMM_TILES_H
#define TANDEM_HIP_GEMM_TILES_H

#include "../../src/order.h"
#include "../hip.h"

/* Tiles of one launch: refuses more than its grid can have. */
bool tdm_hip_tiles_fit(int64_t m, int64_t n, int64_t batch, int tile_m, int tile_n, char *reason, size_t size);
/* The order of the tiles, for the device's XCDs. */
tdm_order tdm_hip_tiles(const tdm_plan *plan, int64_t m, int64_t n, int64_t batch, int tile_m, int tile_n);

/* One operand as it is stored: `rows` rows of `columns` elements. */
typedef struct hip_stored {
  const char *name;
  int64_t rows, columns, ld, stride; /* stride: between the matrices of a batch, 0 where there is one */
} hip_stored;

/* Do all rows begin at a multiple of `bytes`, when the array does? */
bool tdm_hip_rows_aligned(const hip_stored *x, tdm_type type, int bytes);
/* Can the 256-line pipeline load it: rows in whole dwords, offsets within a half in 31 bits? */
bool tdm_hip_pipeline_loads(const hip_stored *x, tdm_type type, char *reason, size_t size);

static inline bool tdm_hip_at(const void *pointer, int bytes) { return (uintptr_t)pointer % (unsigned)bytes == 0; }

#endif
