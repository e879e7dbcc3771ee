/* Host side of the tile kernels of gemm and swiglu: the order of tiles, alignments, what loads of dwords need, and the
 * plans and launches of an op's kernels. */
#ifndef TANDEM_HIP_HOST_TILE_LAUNCH_H
#define TANDEM_HIP_HOST_TILE_LAUNCH_H

#include "cost.h"
#include "hip/args/tiles.h"
#include "src/base/order.h"

/* Refuses more tiles than the grid of one launch can have. */
bool tdm_hip_tiles_fit(int64_t m, int64_t n, int64_t batch, int tile_m, int tile_n, char *reason, size_t size);
/* The parameters that a row takes if its prepare calls tdm_hip_tiles. */
enum { TDM_ORDER_PARAMETERS = 1 << TDM_TUNE_WINDOW | 1 << TDM_TUNE_CHUNK };
/* The order of the tiles, for the device's XCDs, with the plan's window and chunk. */
tdm_order tdm_hip_tiles(const tdm_plan *plan, int64_t m, int64_t n, int64_t batch, int tile_m, int tile_n);

/* One operand as it is stored: `rows` rows of `columns` elements. */
typedef struct hip_stored {
  const char *name;
  int64_t rows, columns, ld, stride; /* stride: between the matrices of a batch, 0 if there is one */
} hip_stored;

/* Do all rows begin at a multiple of `bytes` if the array does? */
bool tdm_hip_rows_aligned(const hip_stored *x, tdm_type type, int bytes);
/* Do all rows begin at a dword, and are they whole dwords, if the array begins at one? */
bool tdm_hip_dword_rows(const hip_stored *x, tdm_type type);
/* Can tiles of up to 256 lines be loaded from it? Rows must be whole dwords, and offsets within a tile must fit in 31 bits. */
bool tdm_hip_pipeline_loads(const hip_stored *x, tdm_type type, char *reason, size_t size);

static inline bool tdm_hip_at(const void *pointer, int bytes) { return (uintptr_t)pointer % (unsigned)bytes == 0; }

/* ---- Kernels: an op has a general one, and faster ones for what is aligned ---- */

/* The launch and the estimate take their numbers from the same tile. */
typedef struct hip_tile_kernel {
  const hip_functions *functions;
  hip_tile_shape tile;
} hip_tile_kernel;

enum { HIP_TILE_ARGS = 400 };

typedef struct hip_tile_op {
  size_t bytes; /* size of the argument, at most HIP_TILE_ARGS */
  /* Makes the argument without the run's pointers; sets aligned_* as far as the strides allow. Returns the number of
   * workgroups. */
  unsigned (*make)(const tdm_plan *plan, const hip_tile_kernel *kernel, void *args);
  /* Adds the run's pointers, and what they mean for alignment. */
  void (*set_pointers)(const tdm_plan *plan, void *const *buffers, void *args);
  /* Of ops that call tdm_hip_tile_first; NULL for others. The bytes that this run needs for what it has copied because of its
   * address; and the pointers of the first kernel's argument, after set_pointers. `copies`: that memory. Do nothing if
   * nothing is to be copied: false. */
  size_t (*bytes_of_copies)(const tdm_plan *plan, void *const *buffers);
  bool (*set_first_pointers)(const tdm_plan *plan, void *const *buffers, char *copies, void *first_args, void *args);
} hip_tile_op;

/* What runs launch that fall back. */
typedef struct hip_tile_general {
  const tdm_plan *plan; /* whose parameters its argument is made of */
  const hip_tile_kernel *kernel;
  const char *layout; /* of the function's name; NULL if one function does all layouts */
} hip_tile_general;

/* Prepares a kernel, and that of runs that fall back, if there is one. layout: as in hip_tile_general. */
tdm_status tdm_hip_tile_prepare(tdm_plan *plan, const hip_tile_op *op, const hip_tile_kernel *kernel, const char *layout,
                                tdm_type type, const hip_tile_general *general);
/* Call it after tdm_hip_tile_prepare: a kernel that runs launch second, with the same argument. */
enum { HIP_TILE_THEN_USUAL = 1, HIP_TILE_THEN_GENERAL = 2 /* bits: usual runs, and those that fall back */ };
tdm_status tdm_hip_tile_then(tdm_plan *plan, const hip_functions *functions, tdm_type type, unsigned workgroups,
                             unsigned threads, int runs);
/* The same for a kernel that a run launches first, with an argument of its own, unless it falls back. */
enum { HIP_TILE_FIRST_ARGS = 224 };
tdm_status tdm_hip_tile_first(tdm_plan *plan, const hip_functions *functions, tdm_type type, unsigned workgroups,
                              unsigned threads, const void *args, size_t bytes);
tdm_status tdm_hip_tile_launch(const tdm_plan *plan, const hip_tile_op *op, void *const *buffers, tdm_stream *stream);

#endif
