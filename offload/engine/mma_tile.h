/* The tile engine of the matrix units (mma.h) for gemm and swiglu in f16 and bf16: a team of 4 waves computes whole tiles
 * of 128 x 128, and each wave has 64 x 64 sums in registers.
 *
 *   panels of a K step of 32 in team memory: a, b, of 128 lines each (mma_copy.h)
 *
 * While a step is multiplied the next one is loaded, and on NVIDIA's GPUs the one after it as well. A step costs one
 * barrier. At the end the sums replace the panels, half a tile at a time, and are read from there in lines. */
#ifndef TANDEM_OFFLOAD_ENGINE_MMA_TILE_H
#define TANDEM_OFFLOAD_ENGINE_MMA_TILE_H

#include <stdio.h>

#include "gpu_epilogue.h"
#include "mma_copy.h"
#include "src/base/types.h"

enum {
  MMA_WAVE = 64,                               /* rows and columns of a wave's sums */
  MMA_PITCH = TDM_FOR_GFX942 ? GPU_TILE : 136, /* floats from row to row when the sums are exchanged */
  MMA_LINES = MMA_WAVE * 8 / MMA_THREADS,      /* lines of half a tile that a thread finishes */
  MMA_LINES_APART = MMA_THREADS / 8,
};

/* [i][j] has rows 16 i.. and columns MMA_COLUMNS j.. of a wave. */
typedef mma_sums mma_tile[MMA_WAVE / 16][MMA_WAVE / MMA_COLUMNS];

/* The sums of half a tile use the same memory as the K steps. */
typedef union mma_memory {
  mma_step step[MMA_STEPS];
  float sums[MMA_WAVE * MMA_PITCH];
} mma_memory;

/* All of a wave's columns, for MMA_K k. */
typedef struct mma_columns {
  mma_operand of[MMA_WAVE / 16];
} mma_columns;

TDM_INLINE mma_columns mma_read_columns(mma_address panel, int at, int k, bool by_k) {
  mma_columns b;
  TDM_UNROLL
  for (int i = 0; i < MMA_WAVE / 16; i++) b.of[i] = mma_read_lines(panel, at, i, k, by_k);
  return b;
}

/* Multiplies for rows 16 i.. of the wave's sums. */
TDM_INLINE void mma_multiply_rows(mma_tile sums, int i, mma_operand a, const mma_columns *b, tdm_type type) {
  TDM_UNROLL
  for (int part = 0; part < MMA_PARTS; part++) TDM_UNROLL
  for (int j = 0; j < MMA_WAVE / MMA_COLUMNS; j++)
    sums[i][j] = mma_multiply(sums[i][j], a, b->of[j / MMA_HALVES], j % MMA_HALVES, part, type);
}

TDM_INLINE mma_address mma_step_behind(mma_address step, mma_address first) {
  return step == first + (MMA_STEPS - 1) * sizeof(mma_step) ? first : step + (mma_address)sizeof(mma_step);
}

/* Rows are read one block before they are multiplied, columns as early as the registers allow. */
TDM_INLINE void mma_steps(mma_tile sums, mma_memory *memory, const mma_copiers *x, const char *from_a, const char *from_b,
                          int k_end, int thread, bool a_by_k, bool b_by_k, int weights, tdm_type type) {
  const int wave = thread / MMA_LANES, lane = thread % MMA_LANES, last = MMA_WAVE / 16 - 1;
  const int at_a = mma_lane_at(wave / 2 * MMA_WAVE, lane, a_by_k, true);
  const int at_b = mma_lane_at(wave % 2 * MMA_WAVE, lane, b_by_k, false);
  const mma_address first = mma_address_of(memory), to_b = offsetof(mma_step, b);
  mma_travel held;
  TDM_UNROLL
  for (int i = 0; i < MMA_WAVE / 16; i++) TDM_UNROLL
  for (int j = 0; j < MMA_WAVE / MMA_COLUMNS; j++) sums[i][j] = (mma_sums){0};
  TDM_UNROLL
  for (int i = 0; i < MMA_AHEAD; i++) {
    if (i * MMA_STEP < k_end)
      mma_fetch_step(&held, x, from_a, from_b, first + (mma_address)(i * sizeof(mma_step)), a_by_k, b_by_k, weights);
    mma_close_step();
    from_a += x->a.step;
    from_b += x->b.step;
  }
  mma_end_step(&held, x, first, true, a_by_k, b_by_k);
  TDM_SYNC_BLOCK(); /* the first step has arrived */
  mma_address now = first, next = first + (MMA_STEPS - 1) * sizeof(mma_step);
  mma_operand a = mma_read_lines(now, at_a, 0, 0, a_by_k), next_a;
  mma_columns b = mma_read_columns(now + to_b, at_b, 0, b_by_k), next_b;
  TDM_NO_UNROLL
  for (int k = MMA_AHEAD * MMA_STEP; k < k_end + MMA_AHEAD * MMA_STEP; k += MMA_STEP) { /* the k that is loaded */
    const bool fetched = k < k_end;
    if (fetched) mma_fetch_step(&held, x, from_a, from_b, next, a_by_k, b_by_k, weights);
    mma_close_step();
    if (MMA_K < MMA_STEP) { /* otherwise b has all of the step's k */
      next_b = mma_read_columns(now + to_b, at_b, 16, b_by_k);
      TDM_UNROLL
      for (int i = 0; i <= last; i++) {
        next_a = i < last ? mma_read_lines(now, at_a, i + 1, 0, a_by_k) : mma_read_lines(now, at_a, 0, 16, a_by_k);
        mma_multiply_rows(sums, i, a, &b, type);
        a = next_a;
      }
      b = next_b;
    }
    TDM_UNROLL
    for (int i = 0; i < last; i++) {
      next_a = mma_read_lines(now, at_a, i + 1, MMA_STEP - MMA_K, a_by_k);
      mma_multiply_rows(sums, i, a, &b, type);
      a = next_a;
    }
    mma_end_step(&held, x, next, fetched, a_by_k, b_by_k);
    TDM_SYNC_BLOCK(); /* the next step has arrived, and nobody reads this one any more, whose place the next copy takes */
    next = now;
    if (MMA_AHEAD > 1 || fetched) now = mma_step_behind(now, first);
    next_b = mma_read_columns(now + to_b, at_b, 0, b_by_k); /* not used after a tile's last step */
    next_a = mma_read_lines(now, at_a, 0, 0, a_by_k);
    mma_multiply_rows(sums, last, a, &b, type);
    a = next_a;
    b = next_b;
    from_a += x->a.step; /* far from the copies: an address must not be overwritten before they have used it */
    from_b += x->b.step;
  }
}

/* The tile's sums. With two weights, A has k contiguous. */
TDM_INLINE void mma_tile_sums(mma_tile sums, mma_memory *memory, const mma_copiers *x, const gpu_job *job, gpu_place place,
                              int thread, int weights, tdm_type type) {
  const char *from_a = x->a.from + (place.batch * job->a.stride + place.m0 * job->a.outer_step) * 2;
  const char *from_b = x->b.from + (place.batch * job->b.stride + place.n0 * job->b.outer_step) * 2;
  const bool a_by_k = weights == 2 || job->a.k_contiguous, b_by_k = job->b.k_contiguous;
  const int k = job->k;
  if (a_by_k && b_by_k)
    mma_steps(sums, memory, x, from_a, from_b, k, thread, true, true, weights, type);
  else if (a_by_k)
    mma_steps(sums, memory, x, from_a, from_b, k, thread, true, false, weights, type);
  else if (b_by_k)
    mma_steps(sums, memory, x, from_a, from_b, k, thread, false, true, weights, type);
  else
    mma_steps(sums, memory, x, from_a, from_b, k, thread, false, false, weights, type);
}

/* ---- From the matrix units' order of the sums to lines: the upper half of a tile, then the lower half ----
 *
 * A lane's sums of a row are stored together. A thread's line is read in parts of 4 columns that are 32 apart, and 8
 * neighbours share a row. To avoid bank conflicts, NVIDIA's GPUs use a larger pitch. On AMD's, where the buffers of two
 * teams fill the LDS, the parts of 4 columns are swizzled. */

#if TDM_FOR_GFX942

TDM_INLINE int mma_shared_at(int row, int column) { return row * MMA_PITCH + (column ^ (row & 7) * 4); }

TDM_INLINE void mma_put_sums(mma_tile sums, float *memory, int thread) {
  const int lane = thread % MMA_LANES, at = mma_shared_at(mma_row(lane), thread / MMA_LANES % 2 * MMA_WAVE + mma_column(lane));
  TDM_UNROLL
  for (int i = 0; i < MMA_WAVE / 16; i++) TDM_UNROLL
  for (int j = 0; j < MMA_WAVE / MMA_COLUMNS; j++)
    *(mma_sums *)(memory + (at ^ j * MMA_COLUMNS) + i * 16 * MMA_PITCH) = sums[i][j];
}

TDM_INLINE const float *mma_line_from(const float *memory, int i, int thread) {
  return memory + mma_shared_at(thread / 8, thread % 8 * 4) + i * MMA_LINES_APART * MMA_PITCH;
}

#else

typedef float mma_pair __attribute__((vector_size(8)));

TDM_INLINE void mma_put_sums(mma_tile sums, float *memory, int thread) {
  const int lane = thread % MMA_LANES;
  float *to = memory + mma_row(lane) * MMA_PITCH + thread / MMA_LANES % 2 * MMA_WAVE + mma_column(lane);
  TDM_UNROLL
  for (int i = 0; i < MMA_WAVE / 16; i++) TDM_UNROLL
  for (int j = 0; j < MMA_WAVE / MMA_COLUMNS; j++) {
    mma_sums sum = sums[i][j];
    *(mma_pair *)(to + i * 16 * MMA_PITCH + j * MMA_COLUMNS) = (mma_pair){sum[0], sum[1]};
    *(mma_pair *)(to + (i * 16 + 8) * MMA_PITCH + j * MMA_COLUMNS) = (mma_pair){sum[2], sum[3]};
  }
}

TDM_INLINE const float *mma_line_from(const float *memory, int i, int thread) {
  return memory + (thread / 8 + MMA_LINES_APART * i) * MMA_PITCH + thread % 8 * 4;
}

#endif

/* Every thread calls it for half 0, then for half 1. The sums of that half are in memory afterwards. */
TDM_INLINE void mma_share_half(mma_tile sums, float *memory, int half, int thread) {
  TDM_SYNC_BLOCK(); /* nobody reads the panels or the other half any more */
  if (thread / (2 * MMA_LANES) == half) mma_put_sums(sums, memory, thread);
  TDM_SYNC_BLOCK(); /* the half is complete */
}

/* Line i of a thread. */
TDM_INLINE gpu_line mma_line(const float *memory, int i, int thread) {
  const float *from = mma_line_from(memory, i, thread);
  gpu_line line;
  TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) line.v[j] = *(const gpu_vec *)(from + gpu_column_of(j));
  return line;
}

/* Where it is in the output. */
TDM_INLINE gpu_line_at mma_line_at(const gpu_grid *grid, gpu_place place, int half, int i, int thread, int weights) {
  int column = place.n0 + thread % 8 * 4;
  return (gpu_line_at){place.batch,
                       place.m0 + half * MMA_WAVE + MMA_LINES_APART * i + thread / 8,
                       column,
                       grid->n - column,
                       GPU_VECTORS / weights,
                       true};
}

/* ---- What it does not support ---- */

#ifdef TDM_OFFLOAD_MMA
enum { HAS_MMA = 1 };
#else
enum { HAS_MMA = 0 };
#endif

/* Is it a chip that mma.h supports? */
static inline bool mma_runs_on(const tdm_context *context, char *reason, size_t size) {
  if (HAS_MMA) return tdm_gpus_only(context, reason, size);
  snprintf(reason, size, "needs matrix units, but the GPU that this library is built for has none that are supported");
  return false;
}

/* ld: all leading dimensions and strides of the operands, or-ed. */
static inline bool mma_can_tile(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, int64_t ld, int weights,
                                char *reason, size_t size) {
  const int columns = GPU_TILE / weights;
  if (m % GPU_TILE != 0 || n % columns != 0 || k % MMA_STEP != 0 || k == 0)
    snprintf(reason, size, "needs whole tiles of %d x %d, and k = %d, %d, ...", GPU_TILE, columns, MMA_STEP, 2 * MMA_STEP);
  else if (ld % 8 != 0)
    snprintf(reason, size, "needs operands' leading dimensions and strides of whole vectors of 8");
  else
    return gpu_can_tile(plan, m, n, k, batch, weights, MMA_THREADS, reason, size);
  return false;
}

/* An estimate in clocks of 1.755 GHz, launch included: rounds of tiles, whose steps take longer where two teams share a
 * multiprocessor. Fitted to an H200's times of products of whole tiles in h200-before-map.json: 14 % off on average. On
 * gfx942 it only orders rows. */
static inline tdm_cost mma_cost(int64_t m, int64_t n, int64_t k, int64_t batch, int weights) {
  const double launch = 9000, tile = 3000, step_alone = 420, step = 600; /* ns */
  const int64_t tiles = tdm_ceil_div(m, GPU_TILE) * tdm_ceil_div(n, GPU_TILE / weights) * batch,
                rounds = tdm_ceil_div(tiles, GPU_TEAMS);
  const double steps = (double)tdm_ceil_div(k, MMA_STEP) * (tiles > GPU_TEAMS / 2 ? step : step_alone);
  return (tdm_cost){(launch + (double)rounds * (steps + tile)) * TDM_H200_CLOCKS_PER_NS, "mma"};
}

#endif
