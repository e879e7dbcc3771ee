/* The tiles of the staged engine (gpu_staged.h), and which worker computes which part of them.
 *
 * A tile has K steps 0 .. steps - 1. The K steps of the first `streamed` tiles stand in one row, and each worker takes an
 * equal share of it, wherever a tile ends. If several workers have parts of a tile, the last one that is done adds them
 * (gpu_parts.h). Then each worker takes whole tiles, `workers` apart. So a product with few tiles uses the whole device,
 * and in a product with many no multiprocessor waits for the last tiles. A launch may have fewer teams than workers: a team
 * then is several. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_SHAPE_H
#define TANDEM_OFFLOAD_ENGINE_GPU_SHAPE_H

#include "gpu_tile.h"

/* Does this build have the engine? It needs cp.async, so NVIDIA's GPUs from sm_80 on. */
#if defined(TDM_OFFLOAD_MMA) && !TDM_FOR_GFX942
#define TDM_STAGED 1
#else
#define TDM_STAGED 0
#endif

/* A team's 4 waves of 4 x 8 lanes are `bands` one below the other, times `slices`, each of which multiplies its own part of
 * a K step. */
typedef struct gpu_shape {
  int rows, vectors; /* of a thread's sums: rows, and vectors of 4 columns in each */
  int bands, slices;
  int step, stages; /* k of a K step; K steps in team memory */
} gpu_shape;

/* Rows and columns. */
typedef enum gpu_tile_kind {
  TILE_16,     /* 16 x 64 */
  TILE_32,     /* 32 x 64 */
  TILE_64,     /* 64 x 64 */
  TILE_64_128, /* 64 x 128 */
  TILE_128_64, /* 128 x 64 */
  TILE_128,    /* 128 x 128 */
  TILE_WHOLE,  /* the same by the other engine (gpu_tile.h), which is faster where all tiles are whole and aligned */
  TILE_KINDS
} gpu_tile_kind;

TDM_INLINE gpu_shape gpu_shape_of(gpu_tile_kind kind) {
  switch (kind) {
    case TILE_16: return (gpu_shape){4, 2, 1, 4, 32, 4};
    case TILE_32: return (gpu_shape){8, 2, 1, 4, 32, 3};
    case TILE_64: return (gpu_shape){8, 2, 2, 2, 16, 4};
    case TILE_64_128: return (gpu_shape){8, 4, 2, 2, 16, 3};
    case TILE_128_64: return (gpu_shape){8, 2, 4, 1, 16, 3};
    default: return (gpu_shape){8, 4, 4, 1, 16, 2};
  }
}

TDM_INLINE int gpu_shape_rows(gpu_shape s) { return 4 * s.rows * s.bands; }
TDM_INLINE int gpu_shape_columns(gpu_shape s) { return 32 * s.vectors; }
/* Floats from one k of a panel to the next: 8 k of 4 lines are in different banks. */
TDM_INLINE int gpu_shape_pitch(int lines) { return lines + 4; }
/* Rows of a thread's sums after the slices have been added. */
TDM_INLINE int gpu_shape_left(gpu_shape s) { return s.rows / s.slices; }

/* Floats of team memory: panels of all stages, then 4 for what a team tells its threads. A region may have 48 KiB. */
#define GPU_SHAPE_FLOATS(rows, columns, step, stages) (((rows) + 4 + (columns) + 4) * (step) * (stages) + 4)
#define GPU_KIND_FLOATS(kind)                                 \
  ((kind) == TILE_16       ? GPU_SHAPE_FLOATS(16, 64, 32, 4)  \
   : (kind) == TILE_32     ? GPU_SHAPE_FLOATS(32, 64, 32, 3)  \
   : (kind) == TILE_64     ? GPU_SHAPE_FLOATS(64, 64, 16, 4)  \
   : (kind) == TILE_64_128 ? GPU_SHAPE_FLOATS(64, 128, 16, 3) \
   : (kind) == TILE_128_64 ? GPU_SHAPE_FLOATS(128, 64, 16, 3) \
                           : GPU_SHAPE_FLOATS(128, 128, 16, 2))

/* Launches the staged engine's region of a kind. */
#define GPU_KIND_LAUNCH(kind, region)             \
  switch (kind) {                                 \
    case TILE_16: region(TILE_16); break;         \
    case TILE_32: region(TILE_32); break;         \
    case TILE_64: region(TILE_64); break;         \
    case TILE_64_128: region(TILE_64_128); break; \
    case TILE_128_64: region(TILE_128_64); break; \
    default: region(TILE_128); break;             \
  }

/* Numbers of K steps are 32-bit: what is streamed has fewer than 2^31. */
typedef struct gpu_schedule {
  int steps; /* K steps of a tile: at least 1 */
  int workers;
  int streamed;    /* tiles */
  int share, more; /* K steps of each worker; `more` workers have one in addition */
} gpu_schedule;

/* What the engine needs in addition to pointers: made with the plan, kept on the device. */
typedef struct gpu_staged_job {
  gpu_grid grid;
  gpu_operand a, b[2]; /* b: each weight; one of a product uses the first */
  gpu_schedule schedule;
  int k;
  int counters; /* bytes from the beginning of the plan's table to a counter for each streamed tile, which is 0 */
} gpu_staged_job;

/* Where worker `w` begins, in K steps of all streamed tiles. */
TDM_INLINE int gpu_share_begins(const gpu_schedule *s, int w) { return w * s->share + (w < s->more ? w : s->more); }

/* The worker that has this K step. */
TDM_INLINE int gpu_share_owner(const gpu_schedule *s, int step) {
  int cut = s->more * (s->share + 1);
  return step < cut ? step / (s->share + 1) : s->more + (step - cut) / s->share;
}

/* ---- The host's part: gpu_schedule.c ---- */

typedef struct gpu_product {
  int64_t m, n, k, batch;
  int weights;
  bool staged;            /* false: the other engine, as it is in builds without the staged one and for other types than f32 */
  bool whole;             /* operands allow TILE_WHOLE, apart from their size */
  bool chain;             /* an epilogue follows */
  int64_t line_a, line_b; /* leading dimensions of operands along k, else 0 */
  double bytes;           /* of all arrays */
} gpu_product;

typedef struct gpu_choice {
  gpu_tile_kind kind;
  gpu_grid grid;
  gpu_schedule schedule;
  double clocks; /* an estimate, with the launch */
} gpu_choice;

/* The fastest way by the estimate. split: parts of each tile, or 0 if that is open. */
gpu_choice gpu_choose(const gpu_product *x, int split);
/* Sets the plan's launch and workspace, and keeps the kind for a launch. */
void gpu_launch_choice(tdm_plan *plan, const gpu_choice *choice);
/* Bytes of a choice's counters. */
static inline size_t gpu_counter_bytes(const gpu_choice *choice) {
  return (size_t)choice->schedule.streamed * sizeof(uint32_t);
}

#endif
