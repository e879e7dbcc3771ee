/* The tile engine of the matrix units (mma.h) for gemm and swiglu in f16 and bf16: a team of 4 waves computes whole tiles of
 * 128 x 128, each wave 64 x 64 sums in registers.
 *
 *   panels of a K step of 32 in team memory, three times:   a, b: [128 lines][32 k] or [32 k][128 lines], as they lie in memory
 *
 * Two steps travel to team memory while one is multiplied, without a register; a step costs one barrier. Panels are
 * rows of pieces of 8 elements, permuted so that 8 rows of a block lie in all of the banks: without padding three steps fit.
 * Then the sums take the place of the panels, half a tile at a time, and leave it in lines. */
#ifndef TANDEM_OFFLOAD_GPU_MMA_H
#define TANDEM_OFFLOAD_GPU_MMA_H

#include <stdio.h>

#include "gpu_epilogue.h"
#include "mma.h"

enum {
  MMA_STEP = 32,   /* k of a step */
  MMA_STEPS = 3,   /* in team memory */
  MMA_PIECE = 16,  /* bytes of a piece: 8 elements */
  MMA_PIECES = 4,  /* of a panel, that a thread copies */
  MMA_WAVE = 64,   /* rows, and columns, of a wave's sums */
  MMA_PITCH = 136, /* floats from row to row where the sums change hands: half a wave's stores lie in all banks */
  MMA_LINES = 4,   /* of half a tile, that a thread finishes */
};

typedef struct mma_step {
  char a[GPU_TILE * MMA_STEP * 2], b[GPU_TILE * MMA_STEP * 2];
} mma_step;

/* The sums of half a tile take the place of the steps. */
typedef union mma_room {
  mma_step step[MMA_STEPS];
  float sums[MMA_WAVE * MMA_PITCH];
} mma_room;

/* Where piece `piece` of a row begins in a panel. Rows are 4 pieces of k or 16 of lines. */
TDM_INLINE int mma_piece_at(int row, int piece, bool by_k) {
  return by_k ? (row * 4 + (piece ^ (row >> 1 & 3))) * MMA_PIECE : (row * 16 + (piece ^ (row & 7))) * MMA_PIECE;
}

/* What a thread copies of an operand: MMA_PIECES pieces, whose rows are 32 (lines) or 8 (k) apart. */
typedef struct mma_copier {
  const char *from;
  int64_t next, step; /* bytes to the next piece, and from step to step */
  int64_t jump;       /* more bytes to the second half of the pieces: they are swiglu's second weight's */
  int to;             /* in a panel */
} mma_copier;

/* base1: of swiglu's second weight, whose lines follow the first one's in a panel; else base0. */
TDM_INLINE mma_copier mma_copier_of(const gpu_operand *x, const void *base0, const void *base1, int thread, int weights) {
  const bool by_k = x->k_contiguous;
  const int row = by_k ? thread / 4 : thread / 16, piece = by_k ? thread % 4 : thread % 16, lines = GPU_TILE / 8 / weights;
  const int64_t ld = (by_k ? x->outer_step : x->k_step) * 2, next = (by_k ? 32 : 8) * ld;
  const char *base = by_k || piece < lines ? base0 : base1;
  return (mma_copier){.from = base + row * ld + (by_k ? piece : piece % lines) * MMA_PIECE,
                      .next = next,
                      .step = MMA_STEP * x->k_step * 2,
                      .jump = by_k ? (const char *)base1 - (const char *)base0 - (weights - 1) * 2 * next : 0,
                      .to = mma_piece_at(row, piece, by_k)};
}

TDM_INLINE void mma_copy_panel(mma_copier x, const char *from, mma_address panel, int weights) {
  TDM_UNROLL
  for (int i = 0; i < MMA_PIECES; i++)
    mma_copy(panel + (mma_address)(x.to + i * GPU_THREADS * MMA_PIECE),
             from + i * x.next + (weights == 2 && i >= MMA_PIECES / 2 ? x.jump : 0));
}

/* Where a lane's row of a block (mma_load) begins, in the panel, for the wave's first 16 lines. */
TDM_INLINE int mma_lane_at(int line0, int lane, bool by_k, bool is_a) {
  const int line = is_a ? lane / 8 % 2 : lane / 16, k = is_a ? lane / 16 : lane / 8 % 2; /* in blocks of 8 */
  return by_k ? mma_piece_at(line0 + lane % 8 + line * 8, k, true) : mma_piece_at(lane % 8 + k * 8, line0 / 8 + line, false);
}

/* Lines 16 i.. and 16 k of a wave's part of a panel. */
TDM_INLINE mma_operand mma_read_lines(mma_address panel, int at, int i, int k, bool by_k) {
  int there = by_k ? (at ^ k / 8 * MMA_PIECE) + i * 16 * MMA_STEP * 2 : (at ^ i * 2 * MMA_PIECE) + k * GPU_TILE * 2;
  return mma_load(panel + (mma_address)there, !by_k);
}

/* All of a wave's columns, 16 k. */
typedef struct mma_columns {
  mma_operand of[MMA_WAVE / 16];
} mma_columns;

TDM_INLINE mma_columns mma_read_columns(mma_address panel, int at, int k, bool by_k) {
  mma_columns b;
  TDM_UNROLL
  for (int i = 0; i < MMA_WAVE / 16; i++) b.of[i] = mma_read_lines(panel, at, i, k, by_k);
  return b;
}

/* Rows 16 i.. of the wave's sums. */
TDM_INLINE void mma_multiply_rows(gpu_sums sums, int i, mma_operand a, const mma_columns *b, tdm_type type) {
  TDM_UNROLL
  for (int j = 0; j < MMA_WAVE / 8; j++) {
    gpu_vec *sum = &sums[2 * i + j / 4][j % 4];
    *sum = mma_multiply(*sum, a, b->of[j / 2], j % 2, type);
  }
}

TDM_INLINE mma_address mma_step_behind(mma_address step, mma_address first) {
  return step == first + (MMA_STEPS - 1) * sizeof(mma_step) ? first : step + (mma_address)sizeof(mma_step);
}

/* Both operands of a thread, from one tile to the next. */
typedef struct mma_copiers {
  mma_copier a, b;
} mma_copiers;

/* Rows are read one block before they are multiplied, columns two blocks or more; steps are fetched two steps ahead. */
TDM_INLINE void mma_steps(gpu_sums sums, mma_room *room, const mma_copiers *x, const char *from_a, const char *from_b,
                          int k_end, int thread, bool a_by_k, bool b_by_k, int weights, tdm_type type) {
  const int wave = thread / 32, lane = thread % 32, last = MMA_WAVE / 16 - 1;
  const int at_a = mma_lane_at(wave / 2 * MMA_WAVE, lane, a_by_k, true);
  const int at_b = mma_lane_at(wave % 2 * MMA_WAVE, lane, b_by_k, false);
  const mma_address first = mma_address_of(room), to_b = offsetof(mma_step, b);
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) sums[i][j] = (gpu_vec){0};
  TDM_UNROLL
  for (int i = 0; i < MMA_STEPS - 1; i++) {
    if (i * MMA_STEP < k_end) {
      mma_copy_panel(x->a, from_a, first + (mma_address)(i * sizeof(mma_step)), 1);
      mma_copy_panel(x->b, from_b, first + (mma_address)(i * sizeof(mma_step)) + to_b, weights);
    }
    mma_copied();
    from_a += x->a.step;
    from_b += x->b.step;
  }
  mma_wait_but_one();
  TDM_SYNC_BLOCK(); /* the first step is there */
  mma_address now = first, next = first + (MMA_STEPS - 1) * sizeof(mma_step);
  mma_operand a = mma_read_lines(now, at_a, 0, 0, a_by_k), next_a;
  mma_columns b = mma_read_columns(now + to_b, at_b, 0, b_by_k), next_b;
  TDM_NO_UNROLL
  for (int k = (MMA_STEPS - 1) * MMA_STEP; k < k_end + (MMA_STEPS - 1) * MMA_STEP; k += MMA_STEP) { /* of what is fetched */
    if (k < k_end) {
      mma_copy_panel(x->a, from_a, next, 1);
      mma_copy_panel(x->b, from_b, next + to_b, weights);
    }
    mma_copied();
    next_b = mma_read_columns(now + to_b, at_b, 16, b_by_k);
    TDM_UNROLL
    for (int i = 0; i <= last; i++) {
      next_a = i < last ? mma_read_lines(now, at_a, i + 1, 0, a_by_k) : mma_read_lines(now, at_a, 0, 16, a_by_k);
      mma_multiply_rows(sums, i, a, &b, type);
      a = next_a;
    }
    TDM_UNROLL
    for (int i = 0; i < last; i++) {
      next_a = mma_read_lines(now, at_a, i + 1, 16, a_by_k);
      mma_multiply_rows(sums, i, a, &next_b, type);
      a = next_a;
    }
    mma_wait_but_one();
    TDM_SYNC_BLOCK(); /* the next step is there, and nobody reads this one any more, whose place the next copy takes */
    next = now;
    now = mma_step_behind(now, first);
    b = mma_read_columns(now + to_b, at_b, 0, b_by_k); /* behind a tile's last step they are not used */
    next_a = mma_read_lines(now, at_a, 0, 0, a_by_k);
    mma_multiply_rows(sums, last, a, &next_b, type);
    a = next_a;
    from_a += x->a.step; /* far from the copies: an address may not be overwritten before they have taken it */
    from_b += x->b.step;
  }
}

_Static_assert(MMA_STEPS == 3, "one step travels while the thread waits for the one before it");

/* The tile's sums, as mma_multiply has them: rows 16 i.. and columns 8 j.. of the wave at [2 i + j / 4][j % 4]. A of two
 * weights has k contiguous. */
TDM_INLINE void mma_tile_sums(gpu_sums sums, mma_room *room, const mma_copiers *x, const gpu_job *job, gpu_place place,
                              int thread, int weights, tdm_type type) {
  const char *from_a = x->a.from + (place.batch * job->a.stride + place.m0 * job->a.outer_step) * 2;
  const char *from_b = x->b.from + (place.batch * job->b.stride + place.n0 * job->b.outer_step) * 2;
  const bool a_by_k = weights == 2 || job->a.k_contiguous, b_by_k = job->b.k_contiguous;
  const int k = job->k;
  if (a_by_k && b_by_k)
    mma_steps(sums, room, x, from_a, from_b, k, thread, true, true, weights, type);
  else if (a_by_k)
    mma_steps(sums, room, x, from_a, from_b, k, thread, true, false, weights, type);
  else if (b_by_k)
    mma_steps(sums, room, x, from_a, from_b, k, thread, false, true, weights, type);
  else
    mma_steps(sums, room, x, from_a, from_b, k, thread, false, false, weights, type);
}

/* ---- From the matrix units' order of the sums to lines: the upper half of a tile, then the lower ---- */

typedef float mma_pair __attribute__((vector_size(8)));

/* Every thread calls it for half 0, then for half 1, whose sums then lie in room. */
TDM_INLINE void mma_share_half(gpu_sums sums, float *room, int half, int thread) {
  const int lane = thread % 32;
  float *to = room + lane / 4 * MMA_PITCH + thread / 32 % 2 * MMA_WAVE + lane % 4 * 2;
  TDM_SYNC_BLOCK(); /* nobody reads the panels, or the other half, any more */
  if (thread / 64 == half) {
    TDM_UNROLL
    for (int i = 0; i < MMA_WAVE / 16; i++) TDM_UNROLL
    for (int j = 0; j < MMA_WAVE / 8; j++) {
      gpu_vec sum = sums[2 * i + j / 4][j % 4];
      *(mma_pair *)(to + i * 16 * MMA_PITCH + j * 8) = (mma_pair){sum[0], sum[1]};
      *(mma_pair *)(to + (i * 16 + 8) * MMA_PITCH + j * 8) = (mma_pair){sum[2], sum[3]};
    }
  }
  TDM_SYNC_BLOCK(); /* the half is there */
}

/* Line i of a thread: 8 neighbours share a row, in pieces of 4 columns that are 32 apart. */
TDM_INLINE gpu_line mma_line(const float *room, int i, int thread) {
  const float *from = room + (thread / 8 + 16 * i) * MMA_PITCH + thread % 8 * 4;
  gpu_line line;
  TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) line.v[j] = *(const gpu_vec *)(from + gpu_column_of(j));
  return line;
}

/* Where it lies in the output. */
TDM_INLINE gpu_line_at mma_line_at(const gpu_grid *grid, gpu_place place, int half, int i, int thread, int weights) {
  int column = place.n0 + thread % 8 * 4;
  return (gpu_line_at){
      place.batch, place.m0 + half * MMA_WAVE + 16 * i + thread / 8, column, grid->n - column, GPU_VECTORS / weights, true};
}

/* ---- What it can't serve ---- */

#ifdef TDM_OFFLOAD_MMA
enum { HAS_MMA = 1 };
#else
enum { HAS_MMA = 0 };
#endif

/* 16-bit elements on a chip that mma.h knows? */
static inline bool mma_can_multiply(tdm_type type, char *reason, size_t size) {
  if (!HAS_MMA)
    snprintf(reason, size, "needs matrix units that mma.h knows, the GPU that this library is built for has none");
  else if (type == TDM_F32)
    snprintf(reason, size, "needs f16 or bf16");
  else
    return true;
  return false;
}

/* ld: all leading dimensions and strides of the operands, or-ed. */
static inline bool mma_can_tile(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, int64_t ld, int weights,
                                tdm_type type, char *reason, size_t size) {
  const int columns = GPU_TILE / weights;
  if (!mma_can_multiply(type, reason, size)) return false;
  if (m % GPU_TILE != 0 || n % columns != 0 || k % MMA_STEP != 0 || k == 0)
    snprintf(reason, size, "needs whole tiles of %d x %d, and k = %d, %d, ...", GPU_TILE, columns, MMA_STEP, 2 * MMA_STEP);
  else if (ld % 8 != 0)
    snprintf(reason, size, "needs operands' leading dimensions and strides of whole vectors of 8");
  else
    return gpu_can_tile(plan, m, n, k, batch, weights, reason, size);
  return false;
}

#endif
