/* What the gemm kernels of GPUs share: what a launch needs, and the way from sums to C. */
#ifndef TANDEM_OFFLOAD_GEMM_GPU_H
#define TANDEM_OFFLOAD_GEMM_GPU_H

#include "offload/engine/epilogue_step.h"
#include "offload/engine/gpu_staged.h"

/* What a launch needs in addition to its pointers: made with the plan, kept on the device. */
typedef struct gemm_gpu_work {
  tdm_gemm_desc d;
  gpu_job job;
  gpu_staged_job staged; /* f32 on NVIDIA's GPUs */
  int steps;
  bool residual;        /* a step adds it */
  epilogue_step step[]; /* the steps of the epilogue */
} gemm_gpu_work;

/* What follows the product: nothing, a residual, any epilogue. A kernel's registers are those of its largest part, and code for
 * arrays of three types takes so many that the loop over k spills, so arrays of f32 alone have their own kernels. */
typedef enum gemm_gpu_end { GEMM_PLAIN, GEMM_SUM, GEMM_CHAIN, GEMM_TYPED } gemm_gpu_end;

/* The arrays of a launch. */
typedef struct gemm_gpu_arrays {
  const void *a, *b;
  void *c;
  const void *bias, *residual;
} gemm_gpu_arrays;

/* The row that supports everything else. */
extern const tdm_kernel tdm_gemm_omp_gpu;

/* Cuts the output, sets the plan's launch with this many threads per team, and uploads a gemm_gpu_work. With another row's
 * threads or tiles, omp_gpu can be its fallback. */
tdm_status gemm_gpu_prepare_for(tdm_plan *plan, int threads);

/* Applies a step that needs no array. The switch is outside of the loops over values, whose code is then that of one step. */
#define GEMM_GPU_MAP(name) \
  case name: TDM_UNROLL for (int e = 0; e < 4; e++) v[e] = tdm_epilogue_map(v[e], name, step.value); break;
TDM_INLINE gpu_vec gemm_gpu_map(gpu_vec v, epilogue_step step) {
  switch ((tdm_epilogue_op)step.op) {
    GEMM_GPU_MAP(TDM_RELU)
    GEMM_GPU_MAP(TDM_GELU)
    GEMM_GPU_MAP(TDM_GELU_TANH)
    GEMM_GPU_MAP(TDM_QUICK_GELU)
    GEMM_GPU_MAP(TDM_LEAKY_RELU)
    GEMM_GPU_MAP(TDM_SILU)
    GEMM_GPU_MAP(TDM_SCALE)
    case TDM_DIVIDE: TDM_UNROLL for (int e = 0; e < 4; e++) v[e] = (float)(v[e] * step.reciprocal); break;
    case TDM_BIAS:
    case TDM_RESIDUAL: break; /* these add an array */
  }
  return v;
}
#undef GEMM_GPU_MAP

/* end: GEMM_CHAIN or GEMM_TYPED, a constant, as in all that follows. */
TDM_INLINE gpu_line gemm_gpu_load(const gpu_matrix *x, gpu_line_at at, gemm_gpu_end end) {
  if (end == GEMM_TYPED) return gpu_load_line(x, at);
  gpu_line line;
  gpu_load_line_typed(&line, x, at, TDM_F32);
  return line;
}

/* The line of the residual, if a step adds it. Small tiles load it before the epilogue of the line above it, because it takes
 * longer than all else. Others have no registers for that: ptxas then reads panels so late that each read is waited for (at
 * 128 x 128 the loop over k took 15 % more). */
TDM_INLINE gpu_line gemm_gpu_residual(const gemm_gpu_work *work, const gemm_gpu_arrays *arrays, gpu_line_at at,
                                      gemm_gpu_end end) {
  const tdm_gemm_desc *d = &work->d;
  const gpu_matrix residual = {(void *)(uintptr_t)arrays->residual, d->stride_r, d->ldr, d->out};
  gpu_line line = {{{0}}};
  if (work->residual && at.columns > 0) line = gemm_gpu_load(&residual, at, end);
  return line;
}

/* Applies the epilogue to a line. at.vectors is a constant. */
TDM_INLINE gpu_line gemm_gpu_chain(gpu_line line, gpu_line residual, const gemm_gpu_work *work, const gemm_gpu_arrays *arrays,
                                   gpu_line_at at, gemm_gpu_end end) {
  gpu_matrix bias = {(void *)(uintptr_t)arrays->bias, 0, 0, work->d.type}; /* every row is the same */
  TDM_NO_UNROLL
  for (int s = 0; s < work->steps; s++) {
    epilogue_step step = work->step[s];
    if (step.op == TDM_BIAS || step.op == TDM_RESIDUAL) {
      gpu_line more = residual;
      if (step.op == TDM_BIAS) more = gemm_gpu_load(&bias, at, end);
      TDM_UNROLL
      for (int j = 0; j < at.vectors; j++) line.v[j] += more.v[j];
    } else {
      TDM_NO_UNROLL
      for (int j = 0; j < at.vectors; j++) { /* each vector passes through the first place: one code for all */
        gpu_vec v = gemm_gpu_map(line.v[0], step);
        TDM_UNROLL
        for (int i = 0; i + 1 < at.vectors; i++) line.v[i] = line.v[i + 1];
        line.v[at.vectors - 1] = v;
      }
    }
  }
  return line;
}

/* C in f32 is only the product, or the product plus the residual. Both have their own kernels, because the code of the
 * epilogue would cost the loop over k registers. */
TDM_INLINE bool gemm_gpu_is_product(const tdm_gemm_desc *d) { return d->out == TDM_F32 && d->alpha == 1 && d->beta == 0; }
TDM_INLINE bool gemm_gpu_is_plain(const tdm_gemm_desc *d) { return gemm_gpu_is_product(d) && d->epilogue_steps == 0; }

TDM_INLINE void gemm_gpu_write_plain(gpu_sums sums, const gemm_gpu_work *work, const gemm_gpu_arrays *arrays, gpu_place place,
                                     int thread) {
  gpu_matrix c = {arrays->c, work->d.stride_c, work->d.ldc, TDM_F32};
  if (gpu_is_whole(&work->job.grid, place, 1) && gpu_matrix_aligned(&c)) {
    gpu_write_typed(sums, &c, place, thread, TDM_F32);
    return;
  }
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) {
    gpu_line_at at = gpu_line_of(&work->job.grid, place, thread, i, 1);
    int column = gpu_column_of(j);
    gpu_store(c.base, gpu_offset(&c, at.batch, at.row, at.column) + column, at.columns - column, TDM_F32, sums[i][j]);
  }
}

/* From a line of alpha A B to C: adds beta C, applies the epilogue, and stores. */
TDM_INLINE void gemm_gpu_finish_line(gpu_line line, gpu_line residual, const gemm_gpu_work *work, const gemm_gpu_arrays *arrays,
                                     const gpu_matrix *c, gpu_line_at at, gemm_gpu_end end) {
  if (work->d.beta != 0) {
    gpu_line old = gemm_gpu_load(c, at, end);
    TDM_UNROLL
    for (int j = 0; j < at.vectors; j++) line.v[j] += work->d.beta * old.v[j];
  }
  line = gemm_gpu_chain(line, residual, work, arrays, at, end);
  if (end == GEMM_TYPED)
    gpu_store_line(&line, c, at);
  else
    gpu_store_line_typed(&line, c, at, TDM_F32);
}

/* Stores C, which may be the residual's own array. */
TDM_INLINE void gemm_gpu_write_sum(gpu_sums sums, const gemm_gpu_work *work, const gemm_gpu_arrays *arrays, gpu_place place,
                                   int thread) {
  gpu_matrix c = {arrays->c, work->d.stride_c, work->d.ldc, TDM_F32};
  gpu_matrix residual = {(void *)(uintptr_t)arrays->residual, work->d.stride_r, work->d.ldr, TDM_F32};
  TDM_NO_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) {
    gpu_line_at at = gpu_line_of(&work->job.grid, place, thread, i, 1);
    gpu_line line = gpu_take_row(sums), more;
    if (at.columns <= 0) continue;
    gpu_load_line_typed(&more, &residual, at, TDM_F32);
    TDM_UNROLL
    for (int j = 0; j < GPU_VECTORS; j++) line.v[j] += more.v[j];
    gpu_store_line_typed(&line, &c, at, TDM_F32);
  }
}

TDM_INLINE void gemm_gpu_write(gpu_sums sums, const gemm_gpu_work *work, const gemm_gpu_arrays *arrays, gpu_place place,
                               int thread, gemm_gpu_end end) {
  const tdm_gemm_desc *d = &work->d;
  gpu_matrix c = {arrays->c, d->stride_c, d->ldc, d->out};
  const float alpha = d->alpha;
  TDM_NO_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) {
    gpu_line_at at = gpu_line_of(&work->job.grid, place, thread, i, 1);
    gpu_line line = gpu_take_row(sums);
    TDM_UNROLL
    for (int j = 0; j < GPU_VECTORS; j++) line.v[j] *= alpha;
    if (at.columns > 0) gemm_gpu_finish_line(line, gemm_gpu_residual(work, arrays, at, end), work, arrays, &c, at, end);
  }
}

/* ---- The same after the staged engine ---- */

#if TDM_STAGED

TDM_INLINE void gemm_staged_write_plain(gpu_sums sums, const gemm_gpu_work *work, const gemm_gpu_arrays *arrays,
                                        gpu_place place, int thread, gpu_shape s) {
  gpu_matrix c = {arrays->c, work->d.stride_c, work->d.ldc, TDM_F32};
  const bool aligned = gpu_matrix_aligned(&c);
  TDM_UNROLL
  for (int i = 0; i < gpu_shape_left(s); i++) {
    gpu_line_at at = gpu_shape_line(&work->staged.grid, place, thread, i, s, 1);
    int64_t to = gpu_offset(&c, at.batch, at.row, at.column);
    TDM_UNROLL
    for (int j = 0; j < s.vectors; j++) {
      if (aligned && at.columns - gpu_column_of(j) >= 4)
        gpu_store_aligned(c.base, to + gpu_column_of(j), TDM_F32, sums[i][j]);
      else
        gpu_store(c.base, to + gpu_column_of(j), at.columns - gpu_column_of(j), TDM_F32, sums[i][j]);
    }
  }
}

TDM_INLINE void gemm_staged_write(gpu_sums sums, const gemm_gpu_work *work, const gemm_gpu_arrays *arrays, gpu_place place,
                                  int thread, gemm_gpu_end end, gpu_shape s) {
  const tdm_gemm_desc *d = &work->d;
  gpu_matrix c = {arrays->c, d->stride_c, d->ldc, d->out};
  const float alpha = d->alpha;
  gpu_line_at at = gpu_shape_line(&work->staged.grid, place, thread, 0, s, 1);
  const bool ahead = end == GEMM_CHAIN && gpu_shape_left(s) * s.vectors < GPU_ROWS * GPU_VECTORS;
  gpu_line residual = {{{0}}};
  if (ahead) residual = gemm_gpu_residual(work, arrays, at, end);
  TDM_NO_UNROLL
  for (int i = 0; i < gpu_shape_left(s); i++) {
    const gpu_line_at own = at;
    const gpu_line added = ahead ? residual : gemm_gpu_residual(work, arrays, own, end);
    at = gpu_shape_line(&work->staged.grid, place, thread, i + 1, s, 1);
    if (ahead && i + 1 < gpu_shape_left(s)) residual = gemm_gpu_residual(work, arrays, at, end);
    gpu_line line = gpu_take_line(sums, s);
    TDM_UNROLL
    for (int j = 0; j < s.vectors; j++) line.v[j] *= alpha;
    if (own.columns > 0) gemm_gpu_finish_line(line, added, work, arrays, &c, own, end);
  }
}

TDM_INLINE void gemm_staged(const gemm_gpu_arrays *arrays, void *parts, const gemm_gpu_work *work, float *memory,
                            tdm_position self, gemm_gpu_end end, gpu_tile_kind kind) {
  const gpu_shape s = gpu_shape_of(kind);
  gpu_staged engine;
  bool more = gpu_staged_begin(&engine, &work->staged, arrays->a, arrays->b, arrays->b, memory, self, s, 1);
  TDM_NO_UNROLL
  while (more) {
    gpu_sums sums;
    gpu_staged_end turn = gpu_staged_turn(&engine, sums, parts, work, s, 1);
    more = turn.more;
    if (!turn.complete) continue;
    if (end == GEMM_PLAIN)
      gemm_staged_write_plain(sums, gpu_again(work), arrays, turn.place, self.thread, s);
    else
      gemm_staged_write(sums, gpu_again(work), arrays, turn.place, self.thread, end, s);
  }
}

#endif

#endif
