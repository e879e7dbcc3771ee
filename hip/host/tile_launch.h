/* Host side of the kernels over tiles, of gemm and swiglu: the order of tiles, alignments, what loads of dwords need, and the
 * plans and launches of an op's kernels. */
#ifndef TANDEM_HIP_GEMM_TILES_H
#define TANDEM_HIP_GEMM_TILES_H

#include "hip.h"
#include "src/base/order.h"

/* Tiles of one launch: refuses more than its grid can have. */
bool tdm_hip_tiles_fit(int64_t m, int64_t n, int64_t batch, int tile_m, int tile_n, char *reason, size_t size);
/* What a row whose prepare calls tdm_hip_tiles takes. */
enum { TDM_ORDER_PARAMETERS = 1 << TDM_TUNE_WINDOW | 1 << TDM_TUNE_CHUNK };
/* The order of the tiles, for the device's XCDs, with the plan's window and chunk. */
tdm_order tdm_hip_tiles(const tdm_plan *plan, int64_t m, int64_t n, int64_t batch, int tile_m, int tile_n);

/* One operand as it is stored: `rows` rows of `columns` elements. */
typedef struct hip_stored {
  const char *name;
  int64_t rows, columns, ld, stride; /* stride: between the matrices of a batch, 0 where there is one */
} hip_stored;

/* Do all rows begin at a multiple of `bytes`, when the array does? */
bool tdm_hip_rows_aligned(const hip_stored *x, tdm_type type, int bytes);
/* Can tiles of up to 256 lines be loaded from it: rows in whole dwords, offsets within a tile in 31 bits? */
bool tdm_hip_pipeline_loads(const hip_stored *x, tdm_type type, char *reason, size_t size);

static inline bool tdm_hip_at(const void *pointer, int bytes) { return (uintptr_t)pointer % (unsigned)bytes == 0; }

/* ---- Kernels: an op has a general one, and faster ones for what is aligned ---- */

typedef struct hip_tile_kernel {
  const hip_code *code;
  const char *stem; /* of the functions' names: gemm_256x256 */
  int tile_m, tile_n;
  unsigned threads;
} hip_tile_kernel;

enum { HIP_TILE_ARGS = 256 };

typedef struct hip_tile_op {
  size_t bytes; /* of the argument, at most HIP_TILE_ARGS */
  /* Makes the argument without the run's pointers, aligned_* as far as strides decide it. Returns the workgroups. */
  unsigned (*make)(const tdm_plan *plan, const hip_tile_kernel *kernel, void *args);
  /* The run's pointers, and what they say of alignment. */
  void (*set_pointers)(const tdm_plan *plan, void *const *buffers, void *args);
  hip_tile_kernel general;
} hip_tile_op;

/* Prepares a kernel, and the general one beside it where the row falls back to it. The function is STEM_VARIANT_TYPE; variant
 * "" is left out. */
tdm_status tdm_hip_tile_prepare(tdm_plan *plan, const hip_tile_op *op, const hip_tile_kernel *kernel, const char *variant,
                                tdm_type type);
/* Behind that: a kernel that each run launches second, with the same argument. */
tdm_status tdm_hip_tile_then(tdm_plan *plan, const hip_code *code, const char *name, unsigned workgroups, unsigned threads);
tdm_status tdm_hip_tile_launch(const tdm_plan *plan, const hip_tile_op *op, void *const *buffers, tdm_stream *stream);

#endif
