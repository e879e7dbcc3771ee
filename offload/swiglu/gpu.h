/* What the swiglu kernels of GPUs share: what a launch needs, and how a tile contains both weights. */
#ifndef TANDEM_OFFLOAD_SWIGLU_GPU_H
#define TANDEM_OFFLOAD_SWIGLU_GPU_H

#include "offload/engine/gpu_staged.h"
#include "src/core/kernel.h"

/* What a launch needs in addition to its pointers: made with the plan, kept on the device. */
typedef struct swiglu_gpu_work {
  tdm_swiglu_desc d;
  gpu_job job;
  gpu_staged_job staged; /* f32 on NVIDIA's GPUs */
} swiglu_gpu_work;

/* Half of a tile's columns are of each weight. The first half of a line's vectors are the gate's. */
enum { SWIGLU_WEIGHTS = 2, SWIGLU_VECTORS = GPU_VECTORS / SWIGLU_WEIGHTS };

/* The row that supports everything else. */
extern const tdm_kernel tdm_swiglu_omp_gpu;

/* Cuts the output, sets the plan's launch with this many threads per team, and uploads a swiglu_gpu_work. */
tdm_status swiglu_gpu_prepare_for(tdm_plan *plan, int threads);

/* Replaces gate by silu(gate) up. vectors: of the gate; a constant. */
TDM_INLINE void swiglu_gpu_line(gpu_line *line, int vectors) {
  TDM_UNROLL
  for (int j = 0; j < vectors; j++) TDM_UNROLL
  for (int e = 0; e < 4; e++) line->v[j][e] = tdm_silu(line->v[j][e]) * line->v[j + vectors][e];
}

#if TDM_STAGED

TDM_INLINE void swiglu_staged(const void *x, const void *wg, const void *wu, void *y, void *parts, const swiglu_gpu_work *work,
                              float *memory, tdm_position self, gpu_tile_kind kind) {
  const gpu_shape s = gpu_shape_of(kind);
  gpu_staged engine;
  bool more = gpu_staged_begin(&engine, &work->staged, x, wg, wu, memory, self, s, SWIGLU_WEIGHTS);
  TDM_NO_UNROLL
  while (more) {
    gpu_sums sums;
    gpu_staged_end end = gpu_staged_turn(&engine, sums, parts, work, s, SWIGLU_WEIGHTS);
    more = end.more;
    if (!end.complete) continue;
    const swiglu_gpu_work *again = gpu_again(work);
    gpu_matrix to = {y, 0, again->d.ldy, again->d.out};
    TDM_NO_UNROLL
    for (int i = 0; i < gpu_shape_left(s); i++) {
      gpu_line_at at = gpu_shape_line(&again->staged.grid, end.place, self.thread, i, s, SWIGLU_WEIGHTS);
      gpu_line line = gpu_take_line(sums, s);
      swiglu_gpu_line(&line, s.vectors / SWIGLU_WEIGHTS);
      if (at.columns > 0) gpu_store_line(&line, &to, at);
    }
  }
}

#endif

#endif
