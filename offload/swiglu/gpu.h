/* What the swiglu kernels of GPUs share: what a launch needs, and how a tile contains both weights. */
#ifndef TANDEM_OFFLOAD_SWIGLU_GPU_H
#define TANDEM_OFFLOAD_SWIGLU_GPU_H

#include "offload/engine/gpu_epilogue.h"
#include "src/core/kernel.h"

/* What a launch needs in addition to its pointers: made with the plan, kept on the device. */
typedef struct swiglu_gpu_work {
  tdm_swiglu_desc d;
  gpu_job job;
} swiglu_gpu_work;

/* A tile has GPU_TILE / 2 columns of each weight. The first half of a line's vectors are the gate's. */
enum { SWIGLU_WEIGHTS = 2, SWIGLU_VECTORS = GPU_VECTORS / SWIGLU_WEIGHTS };

/* The row that supports everything else. */
extern const tdm_kernel tdm_swiglu_omp_gpu;

/* Cuts the output, sets the plan's launch with this many threads per team, and uploads a swiglu_gpu_work. */
tdm_status swiglu_gpu_prepare_for(tdm_plan *plan, int threads);

/* Replaces gate by silu(gate) up. */
TDM_INLINE void swiglu_gpu_line(gpu_line *line) {
  TDM_UNROLL
  for (int j = 0; j < SWIGLU_VECTORS; j++) TDM_UNROLL
  for (int e = 0; e < 4; e++) line->v[j][e] = tdm_silu(line->v[j][e]) * line->v[j + SWIGLU_VECTORS][e];
}

#endif
