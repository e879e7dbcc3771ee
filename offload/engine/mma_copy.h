/* How a K step of an operand comes to team memory, and from there to a lane: what mma_tile.h needs to know about a vendor.
 *
 * A panel is 128 lines by 32 k. Pieces of 8 elements are swizzled so that what is read at once is in different banks,
 * without padding. */
#ifndef TANDEM_OFFLOAD_ENGINE_MMA_COPY_H
#define TANDEM_OFFLOAD_ENGINE_MMA_COPY_H

#include "gpu_tile.h"
#include "offload/device/mma.h"

enum {
  MMA_STEP = 32,                                      /* k of a step */
  MMA_STEPS = MMA_AHEAD + 1,                          /* K steps in team memory */
  MMA_PIECE = 16,                                     /* bytes of a piece: 8 elements */
  MMA_PIECES = GPU_TILE * MMA_STEP / 8 / MMA_THREADS, /* pieces of a panel that a thread copies */
};

/* What a thread copies of an operand. */
typedef struct mma_copier {
  const char *from;
  int64_t next, step; /* bytes to the next piece, and from one step to the next */
  int64_t jump;       /* additional bytes to the second half of the pieces, which belong to swiglu's second weight */
  int to;             /* in a panel */
} mma_copier;

#if TDM_FOR_GFX942

/* ---- AMD: a panel is [128 lines][32 k], whatever the order in memory is ----
 *
 * If k is contiguous, a thread copies two pieces of lines that are 64 apart. Otherwise it takes 4 lines of 4 k and
 * transposes them: 8 neighbouring threads have all of the k of the same 4 lines. */

/* What a thread holds between load and store: two pieces, or 4 k of 4 lines. */
typedef struct mma_held {
  mma_words part[2];
} mma_held;

/* Where piece `piece` of a line begins in a panel. Reads: the 8 lanes of a clock have 4 lines of one piece and 4 of the
 * next one. Writes: 8 lanes have all pieces of two lines; or, transposed, 16 lanes have halves of all pieces of two lines
 * that are 4 apart. */
TDM_INLINE int mma_piece_at(int line, int piece) { return ((line * 4 + piece) ^ (line >> 1 & 3) ^ (line & 4)) * MMA_PIECE; }

/* base1: of swiglu's second weight, whose lines follow the first one's in a panel; else base0. */
TDM_INLINE mma_copier mma_copier_of(const gpu_operand *x, const void *base0, const void *base1, int thread, int weights) {
  if (x->k_contiguous) {
    const int line = thread / 4, piece = thread % 4;
    const int64_t ld = x->outer_step * 2, next = GPU_TILE / MMA_PIECES * ld;
    return (mma_copier){.from = (const char *)base0 + line * ld + piece * MMA_PIECE,
                        .next = next,
                        .step = MMA_STEP * 2,
                        .jump = (const char *)base1 - (const char *)base0 - (weights - 1) * (MMA_PIECES / 2) * next,
                        .to = mma_piece_at(line, piece)};
  }
  const int four = thread % 8, line = thread / 8 * 4, lines = GPU_TILE / weights;
  const int64_t ld = x->k_step * 2;
  return (mma_copier){.from = (const char *)(line < lines ? base0 : base1) + four * 4 * ld + line % lines * 2,
                      .next = ld,
                      .step = MMA_STEP * ld,
                      .to = mma_piece_at(line, four / 2) + four % 2 * (MMA_PIECE / 2)};
}

TDM_INLINE void mma_fetch_panel(mma_held *held, const mma_copier *x, const char *from, bool by_k, int weights) {
  if (by_k) {
    TDM_UNROLL
    for (int i = 0; i < MMA_PIECES; i++)
      held->part[i] = *(const TDM_GLOBAL mma_words *)(from + i * x->next + (weights == 2 && i >= MMA_PIECES / 2 ? x->jump : 0));
    return;
  }
  TDM_UNROLL
  for (int i = 0; i < 2; i++) {
    mma_two_words first = *(const TDM_GLOBAL mma_two_words *)(from + 2 * i * x->next);
    mma_two_words second = *(const TDM_GLOBAL mma_two_words *)(from + (2 * i + 1) * x->next);
    held->part[i] = (mma_words){first[0], first[1], second[0], second[1]};
  }
}

TDM_INLINE void mma_put_panel(const mma_held *held, const mma_copier *x, mma_address panel, bool by_k) {
  if (by_k) {
    TDM_UNROLL
    for (int i = 0; i < MMA_PIECES; i++)
      mma_put(panel + (mma_address)(x->to + i * (GPU_TILE / MMA_PIECES) * MMA_STEP * 2), held->part[i]);
    return;
  }
  TDM_UNROLL
  for (int j = 0; j < 4; j++) { /* mma_piece_at of the next lines */
    int to = (x->to ^ j % 2 * 4 * MMA_PIECE ^ j / 2 * MMA_PIECE) + j / 2 * 2 * MMA_STEP * 2;
    mma_put_half(panel + (mma_address)to, mma_transpose(held->part[0], held->part[1], j));
  }
}

/* Where a lane's operand begins in the panel, for the wave's first 16 lines. */
TDM_INLINE int mma_lane_at(int line0, int lane, bool by_k, bool is_a) {
  (void)by_k, (void)is_a;
  return mma_piece_at(line0 + lane % 16, lane / 16);
}

/* Lines 16 i.. of a wave's part of a panel, all of its k. */
TDM_INLINE mma_operand mma_read_lines(mma_address panel, int at, int i, int k, bool by_k) {
  (void)k, (void)by_k;
  return mma_load(panel + (mma_address)(at + i * 16 * MMA_STEP * 2));
}

#else

/* ---- NVIDIA: panels are [128 lines][32 k] or [32 k][128 lines], as in memory ----
 *
 * A thread copies MMA_PIECES pieces, whose rows are 32 (lines) or 8 (k) apart. */

typedef char mma_held; /* copies need no registers */

/* Where piece `piece` of a row begins in a panel. A row has 4 pieces of k, or 16 of lines. */
TDM_INLINE int mma_piece_at(int row, int piece, bool by_k) {
  return by_k ? (row * 4 + (piece ^ (row >> 1 & 3))) * MMA_PIECE : (row * 16 + (piece ^ (row & 7))) * MMA_PIECE;
}

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
    mma_copy(panel + (mma_address)(x.to + i * MMA_THREADS * MMA_PIECE),
             from + i * x.next + (weights == 2 && i >= MMA_PIECES / 2 ? x.jump : 0));
}

/* Where a lane's row of a block (mma_load) begins in the panel, for the wave's first 16 lines. */
TDM_INLINE int mma_lane_at(int line0, int lane, bool by_k, bool is_a) {
  const int line = is_a ? lane / 8 % 2 : lane / 16, k = is_a ? lane / 16 : lane / 8 % 2; /* in blocks of 8 */
  return by_k ? mma_piece_at(line0 + lane % 8 + line * 8, k, true) : mma_piece_at(lane % 8 + k * 8, line0 / 8 + line, false);
}

/* Lines 16 i.. and 16 k of a wave's part of a panel. */
TDM_INLINE mma_operand mma_read_lines(mma_address panel, int at, int i, int k, bool by_k) {
  int there = by_k ? (at ^ k / 8 * MMA_PIECE) + i * 16 * MMA_STEP * 2 : (at ^ i * 2 * MMA_PIECE) + k * GPU_TILE * 2;
  return mma_load(panel + (mma_address)there, !by_k);
}

#endif

/* ---- A step of both operands ---- */

typedef struct mma_step {
  char a[GPU_TILE * MMA_STEP * 2], b[GPU_TILE * MMA_STEP * 2];
} mma_step;

/* Both operands of a thread, from one tile to the next. */
typedef struct mma_copiers {
  mma_copier a, b;
} mma_copiers;

/* A thread's part of a step of both operands, between load and store. */
typedef struct mma_travel {
  mma_held a, b;
} mma_travel;

/* Starts the loads of a step. On NVIDIA's GPUs they write `place` themselves. */
TDM_INLINE void mma_fetch_step(mma_travel *held, const mma_copiers *x, const char *from_a, const char *from_b,
                               mma_address place, bool a_by_k, bool b_by_k, int weights) {
#if TDM_FOR_GFX942
  (void)place;
  mma_fetch_panel(&held->a, &x->a, from_a, a_by_k, 1);
  mma_fetch_panel(&held->b, &x->b, from_b, b_by_k, weights);
  mma_keep_order();
#else
  (void)held, (void)a_by_k, (void)b_by_k;
  mma_copy_panel(x->a, from_a, place, 1);
  mma_copy_panel(x->b, from_b, place + (mma_address)offsetof(mma_step, b), weights);
#endif
}

/* Call it after every mma_fetch_step, and where one was left out. */
TDM_INLINE void mma_close_step(void) {
#if !TDM_FOR_GFX942
  mma_copied();
#endif
}

/* Completes what mma_fetch_step started, if it did: after it, the thread's part of the oldest outstanding step is in its
 * place. */
TDM_INLINE void mma_end_step(const mma_travel *held, const mma_copiers *x, mma_address place, bool fetched, bool a_by_k,
                             bool b_by_k) {
#if TDM_FOR_GFX942
  if (!fetched) return;
  mma_put_panel(&held->a, &x->a, place, a_by_k);
  mma_put_panel(&held->b, &x->b, place + (mma_address)offsetof(mma_step, b), b_by_k);
#else
  (void)held, (void)x, (void)place, (void)fetched, (void)a_by_k, (void)b_by_k;
  mma_wait_but_one();
#endif
}

#endif
