/* gemm in f16 and bf16 on the matrix units of GPUs (mma.h), for whole tiles: a team of 4 waves computes tiles of 128 x 128,
 * each wave 64 x 64 sums in registers.
 *
 *   panels of a K step of 32 in team memory, three times:   a, b: [128 lines][32 k] or [32 k][128 lines], as they lie in memory
 *
 * Two steps travel to team memory while one is multiplied, without a register; a step costs one barrier. Panels are rows of
 * pieces of 8 elements, permuted so that 8 rows of a block lie in all of the banks: without padding three steps fit.
 */
#include <stddef.h>
#include <stdio.h>

#include "gemm_gpu.h"
#include "mma.h"

enum {
  STEP = 32,   /* k of a step */
  STEPS = 3,   /* in team memory */
  PIECE = 16,  /* bytes of a piece: 8 elements */
  PIECES = 4,  /* of a panel, that a thread copies */
  WAVE = 64,   /* rows, and columns, of a wave's sums */
  PITCH = 136, /* floats from row to row where the sums change hands: half a wave's stores lie in all banks */
};

typedef struct mma_step {
  char a[GPU_TILE * STEP * 2], b[GPU_TILE * STEP * 2];
} mma_step;

/* The sums of half a tile take the place of the steps. */
typedef union mma_room {
  mma_step step[STEPS];
  float sums[WAVE * PITCH];
} mma_room;

/* Where piece `piece` of a row begins in a panel. Rows are 4 pieces of k or 16 of lines. */
TDM_INLINE int piece_at(int row, int piece, bool by_k) {
  return by_k ? (row * 4 + (piece ^ (row >> 1 & 3))) * PIECE : (row * 16 + (piece ^ (row & 7))) * PIECE;
}

/* What a thread copies of an operand: PIECES pieces, whose rows are 32 (lines) or 8 (k) apart. */
typedef struct mma_copier {
  const char *from;
  int64_t next, step; /* bytes to the next piece, and from step to step */
  int to;             /* in a panel */
} mma_copier;

TDM_INLINE mma_copier copier_of(const gpu_operand *x, const void *base, int thread) {
  const bool by_k = x->k_contiguous;
  const int row = by_k ? thread / 4 : thread / 16, piece = by_k ? thread % 4 : thread % 16;
  const int64_t ld = (by_k ? x->outer_step : x->k_step) * 2;
  return (mma_copier){.from = (const char *)base + row * ld + piece * PIECE,
                      .next = (by_k ? 32 : 8) * ld,
                      .step = STEP * x->k_step * 2,
                      .to = piece_at(row, piece, by_k)};
}

TDM_INLINE void copy_panel(mma_copier x, const char *from, mma_address panel) {
  TDM_UNROLL
  for (int i = 0; i < PIECES; i++) mma_copy(panel + (mma_address)(x.to + i * GPU_THREADS * PIECE), from + i * x.next);
}

/* Where a lane's row of a block (mma_load) begins, in the panel, for the wave's first 16 lines. */
TDM_INLINE int lane_at(int line0, int lane, bool by_k, bool is_a) {
  const int line = is_a ? lane / 8 % 2 : lane / 16, k = is_a ? lane / 16 : lane / 8 % 2; /* in blocks of 8 */
  return by_k ? piece_at(line0 + lane % 8 + line * 8, k, true) : piece_at(lane % 8 + k * 8, line0 / 8 + line, false);
}

/* 64 lines of 16 k. */
TDM_INLINE void load_lines(mma_operand x[WAVE / 16], mma_address panel, int at, int k, bool by_k) {
  TDM_UNROLL
  for (int i = 0; i < WAVE / 16; i++) {
    int there = by_k ? (at ^ k / 8 * PIECE) + i * 16 * STEP * 2 : (at ^ i * 2 * PIECE) + k * GPU_TILE * 2;
    x[i] = mma_load(panel + (mma_address)there, !by_k);
  }
}

/* Where a lane reads in the panels. */
typedef struct mma_reader {
  int a, b;
} mma_reader;

TDM_INLINE void multiply_step(gpu_sums sums, mma_address step, mma_reader at, bool a_by_k, bool b_by_k, tdm_type type) {
  TDM_UNROLL
  for (int k = 0; k < STEP; k += 16) {
    mma_operand a[WAVE / 16], b[WAVE / 16];
    load_lines(a, step + offsetof(mma_step, a), at.a, k, a_by_k);
    load_lines(b, step + offsetof(mma_step, b), at.b, k, b_by_k);
    TDM_UNROLL
    for (int i = 0; i < WAVE / 16; i++) TDM_UNROLL
    for (int j = 0; j < WAVE / 8; j++) {
      gpu_vec *sum = &sums[2 * i + j / 4][j % 4];
      *sum = mma_multiply(*sum, a[i], b[j / 2], j % 2, type);
    }
  }
}

TDM_INLINE mma_address step_behind(mma_address step, mma_address first) {
  return step == first + (STEPS - 1) * sizeof(mma_step) ? first : step + (mma_address)sizeof(mma_step);
}

/* The tile's sums, as mma_multiply has them: rows 16 i.. and columns 8 j.. of the wave at [2 i + j / 4][j % 4]. from_a, from_b:
 * of the thread's pieces in the first step. */
TDM_INLINE void tile_sums(gpu_sums sums, mma_room *room, mma_copier a, mma_copier b, const char *from_a, const char *from_b,
                          int k_end, int thread, bool a_by_k, bool b_by_k, tdm_type type) {
  const int wave = thread / 32, lane = thread % 32;
  const mma_reader at = {lane_at(wave / 2 * WAVE, lane, a_by_k, true), lane_at(wave % 2 * WAVE, lane, b_by_k, false)};
  const mma_address first = mma_address_of(room);
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) sums[i][j] = (gpu_vec){0};
  mma_address now = first, next = first;
  TDM_NO_UNROLL
  for (int k = -(STEPS - 1) * STEP; k < k_end; k += STEP) { /* the first turns only copy */
    if (k >= 0) {
      mma_wait_but_one();
      TDM_SYNC_BLOCK(); /* the step is there, and nobody reads the one before, whose place the next copy takes */
    }
    if (k + (STEPS - 1) * STEP < k_end) {
      copy_panel(a, from_a, next + offsetof(mma_step, a));
      copy_panel(b, from_b, next + offsetof(mma_step, b));
      from_a += a.step;
      from_b += b.step;
      next = step_behind(next, first);
    }
    mma_copied();
    if (k >= 0) {
      multiply_step(sums, now, at, a_by_k, b_by_k, type);
      now = step_behind(now, first);
    }
  }
}

/* From the matrix units' order of the sums to the one of gpu_tile.h, in which a wave has 32 whole rows: first the upper two
 * waves, which then have the same 64 rows as before, then the lower two. */
TDM_INLINE void exchange_sums(gpu_sums sums, float *room, int thread) {
  const int half = thread / 64, lane = thread % 32;
  float *to = room + lane / 4 * PITCH + thread / 32 % 2 * WAVE + lane % 4 * 2;
  const float *from = room + (gpu_row(thread) - half * WAVE) * PITCH + gpu_column(thread);
  TDM_SYNC_BLOCK(); /* nobody reads the panels any more */
  TDM_NO_UNROLL
  for (int turn = 0; turn < 2; turn++) {
    if (turn == half) {
      TDM_UNROLL
      for (int i = 0; i < WAVE / 16; i++) TDM_UNROLL
      for (int j = 0; j < WAVE / 8; j++) TDM_UNROLL
      for (int e = 0; e < 4; e++) to[(i * 16 + e / 2 * 8) * PITCH + j * 8 + e % 2] = sums[2 * i + j / 4][j % 4][e];
    }
    TDM_SYNC_BLOCK();
    if (turn == half) {
      TDM_UNROLL
      for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
      for (int j = 0; j < GPU_VECTORS; j++) sums[i][j] = *(const gpu_vec *)(from + gpu_row_of(i) * PITCH + gpu_column_of(j));
    }
    TDM_SYNC_BLOCK();
  }
}

/* C is the product alone, in vectors: apart from the chain's code, which costs registers. */
static bool is_plain(const tdm_gemm_desc *d) {
  return d->epilogue_steps == 0 && d->alpha == 1 && d->beta == 0 && (d->ldc | d->stride_c) % 4 == 0;
}

TDM_INLINE void mma_body(const gemm_gpu_arrays *arrays, const gemm_gpu_work *work, mma_room *room, tdm_here_t here, bool plain,
                         tdm_type type) {
  const gpu_job *job = &work->job;
  const mma_copier a = copier_of(&job->a, arrays->a, here.thread), b = copier_of(&job->b, arrays->b, here.thread);
  const int k = job->k, tiles = job->grid.tiles;
  const bool a_by_k = job->a.k_contiguous, b_by_k = job->b.k_contiguous;
  TDM_NO_UNROLL
  for (int tile = here.team; tile < tiles; tile += here.teams) {
    const gemm_gpu_work *again = gpu_again(work);
    gpu_place place = gpu_place_at(&again->job.grid, tile, 1);
    const char *from_a = a.from + (place.batch * again->job.a.stride + place.m0 * again->job.a.outer_step) * 2;
    const char *from_b = b.from + (place.batch * again->job.b.stride + place.n0 * again->job.b.outer_step) * 2;
    gpu_sums sums;
    if (a_by_k && b_by_k)
      tile_sums(sums, room, a, b, from_a, from_b, k, here.thread, true, true, type);
    else if (a_by_k)
      tile_sums(sums, room, a, b, from_a, from_b, k, here.thread, true, false, type);
    else if (b_by_k)
      tile_sums(sums, room, a, b, from_a, from_b, k, here.thread, false, true, type);
    else
      tile_sums(sums, room, a, b, from_a, from_b, k, here.thread, false, false, type);
    exchange_sums(sums, room->sums, here.thread);
    if (plain) {
      gpu_matrix c = {arrays->c, again->d.stride_c, again->d.ldc, again->d.out};
      gpu_write(sums, &c, place, here.thread);
    } else {
      gemm_gpu_write(sums, again, arrays, place, here.thread);
    }
  }
}

#ifdef TDM_OFFLOAD_MMA
enum { HAS_MMA = 1 };
#else
enum { HAS_MMA = 0 };
#endif

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (!HAS_MMA)
    snprintf(reason, size, "needs matrix units that mma.h knows, the GPU that this library is built for has none");
  else if (d->type == TDM_F32)
    snprintf(reason, size, "needs f16 or bf16");
  else if (d->m % GPU_TILE != 0 || d->n % GPU_TILE != 0 || d->k % STEP != 0 || d->k == 0)
    snprintf(reason, size, "needs whole tiles of %d x %d, and k = %d, %d, ...", GPU_TILE, GPU_TILE, STEP, 2 * STEP);
  else if ((d->lda | d->ldb | d->stride_a | d->stride_b) % 8 != 0)
    snprintf(reason, size, "needs lda, ldb and their strides of whole vectors of 8");
  else
    return gpu_can_tile(plan, d->m, d->n, d->k, d->batch, 1, reason, size);
  return false;
}

/* A region for each type, and one for plain products: registers are those of a kernel's largest part. */
#define REGION(plain, type)                                                   \
  TDM_TARGET_BARE(plan->launch, GPU_THREADS, a, b, c, bias, residual, work) { \
    TDM_TEAM_MEMORY(mma_room, room, 1);                                       \
    gemm_gpu_arrays arrays = {a, b, c, bias, residual};                       \
    mma_body(&arrays, work, room, tdm_here_bare(), plain, type);              \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_detours(plan, buffers)) return tdm_gemm_omp_gpu.launch(plan, buffers, stream);
  const void *a = buffers[0], *b = buffers[1], *bias = buffers[3], *residual = buffers[4];
  void *c = buffers[2];
  const gemm_gpu_work *work = plan->table;
  bool plain = is_plain(&plan->desc.gemm);
  if (plan->desc.gemm.type == TDM_F16) {
    if (plain) REGION(true, TDM_F16) else REGION(false, TDM_F16)
  } else {
    if (plain) REGION(true, TDM_BF16) else REGION(false, TDM_BF16)
  }
  return TDM_OK;
}

const tdm_kernel tdm_gemm_omp_gpu_mma = {.name = "omp_gpu_mma",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_omp,
                                         .supports = supports,
                                         .prepare = gemm_gpu_prepare,
                                         .launch = launch,
                                         .detour = {16, 0x7, "omp_gpu"}};
