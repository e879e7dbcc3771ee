/* How Q, K and V come to the matrix units in gpu_mma.c: what it needs to know about a vendor. Rows in team memory are
 * pieces of 8 elements, swizzled so that what is read at once is in different banks.
 *
 * K and V of the tiles alternate between PLACES buffers. While one of them is multiplied, the next MMA_AHEAD of them are
 * loaded. */
#ifndef TANDEM_OFFLOAD_ATTENTION_MMA_COPY_KEYS_H
#define TANDEM_OFFLOAD_ATTENTION_MMA_COPY_KEYS_H

#include "gpu.h"
#include "offload/device/math.h"
#include "offload/engine/mma_tile.h"

/* Row and tile numbers are a team's; `head` is a constant of each kernel, 64 or 128. */
enum {
  THREADS = MMA_THREADS,
  WAVES = 4,
  KEYS = 64,                  /* of a tile */
  MOST_BLOCKS = 2,            /* most blocks of 16 rows that a wave has */
  OUTPUTS = 16,               /* most blocks of MMA_COLUMNS columns of O, in all of a wave's rows */
  SCORES = KEYS / MMA_COLUMNS /* blocks of columns of S, in 16 rows */
};

typedef struct mma_work {
  attention_gpu_work shared; /* must stay first: a run that falls back to omp_gpu reads only this part */
  int tiles;                 /* of one head */
  float factor;              /* |scale| log2 e */
} mma_work;

typedef struct attention_arrays {
  const char *q, *k, *v;
  void *o;
  float *lse;
} attention_arrays;

/* Constants of a kernel. On NVIDIA's GPUs a lane does not have enough registers for two blocks of heads of 128. */
#define TEAM_BLOCKS(head) (TDM_FOR_GFX942 ? 2 : 128 / (head))
TDM_INLINE int blocks_of(int head) { return TEAM_BLOCKS(head); }
TDM_INLINE int wave_rows(int head) { return 16 * blocks_of(head); }
TDM_INLINE int pitch_of(int head) { return head * 2; } /* bytes of a row of Q, K, V in team memory */
#define TEAM_ROWS(head) (16 * TEAM_BLOCKS(head) * WAVES)
#define PLACE(head) (KEYS * (head) * 2) /* bytes of K or V of a tile */
enum { PLACES = MMA_AHEAD + 1 };        /* NVIDIA, heads of 128: all of the 48 KiB that a team can have */

/* What a team works on. */
typedef struct unit {
  const mma_work *work;
  attention_arrays arrays;
  int thread;
  float c;                             /* work->factor */
  int64_t skv;                         /* the run's */
  mma_address places, now, free;       /* now: of the K or V that is multiplied; free: of the one that is loaded */
  const char *from_k, *from_v;         /* the thread's first bytes of the K and V that are loaded next */
  int64_t row_k, row_v;                /* bytes */
  int64_t batch, head, first_row, end; /* end: one past the last key that any row sees */
#if TDM_FOR_GFX942
  mma_words held[4]; /* of K or V, between load and store */
#endif
} unit;

/* A wave's rows, in the order of the matrix units. */
typedef struct wave_state {
  mma_operand q[MOST_BLOCKS * 4];                                 /* [block][MMA_K d]: at most */
  mma_sums o[OUTPUTS];                                            /* [block][MMA_COLUMNS columns] */
  float max[MMA_HELD * MOST_BLOCKS], sum[MMA_HELD * MOST_BLOCKS]; /* max: of c S; sum: the lane's own part */
} wave_state;

/* ---- Where a thread's pieces are ---- */

/* A thread copies pieces that are THREADS pieces apart. These are the row of its first piece, and its place in the row. */
TDM_INLINE int piece_row(int thread, int head) { return thread / (head / 8); }
TDM_INLINE int piece_of(int thread, int head) { return thread % (head / 8); }

TDM_INLINE void next_place(unit *u, int head) {
  u->now = u->now == u->places + (PLACES - 1) * PLACE(head) ? u->places : u->now + PLACE(head);
}

/* A negative scale flips the signs of Q, so that the largest product has the largest score. */
TDM_INLINE uint32_t signs_of(const unit *u) { return u->work->shared.d.scale < 0 ? 0x80008000 : 0; }
TDM_INLINE void flip_signs(mma_operand *q, uint32_t signs) {
  TDM_UNROLL
  for (int word = 0; word < 4; word++) q->word[word] ^= signs;
}

/* The lane's other addresses follow from its first one and constants: more rows are added, and more columns are a piece's
 * number with a bit changed. */
TDM_INLINE mma_address block_at(mma_address panel, int at, int rows, int columns, int head) {
  return panel + (mma_address)((at ^ columns * 2) + rows * pitch_of(head));
}

#if TDM_FOR_GFX942

/* ---- AMD: K as [key][d], V transposed, as [d][key], through registers ----
 *
 * A thread takes 4 elements of 4 keys of V, and transposes them. A piece of a row d has the keys that a lane has of P for
 * one mma_operand, in its order: 4 k to 4 k + 3 of 16 keys, and of the next 16. */

enum { FOURS = KEYS / 4, TRANSPOSED_APART = THREADS / FOURS * 4 }; /* elements of d from a thread's part of V to its next one */

/* The thread's first key of a tile's V, and its first byte there. */
TDM_INLINE int value_row(int thread, int head) { return (void)head, thread % FOURS * 4; }
TDM_INLINE int value_byte(int thread, int head) { return (void)head, thread / FOURS * 8; }

TDM_INLINE void fetch_keys(unit *u, int64_t first_key, int head) {
  const int at_once = THREADS / (head / 8), left = (int)tdm_min(KEYS, u->end - first_key);
  if (left == KEYS) {
    TDM_UNROLL
    for (int i = 0; i < KEYS / at_once; i++) u->held[i] = *(const TDM_GLOBAL mma_words *)(u->from_k + i * at_once * u->row_k);
  } else if (left > 0) {
    TDM_UNROLL
    for (int i = 0; i < KEYS / at_once; i++) {
      u->held[i] = (mma_words){0};
      if (piece_row(u->thread, head) + i * at_once < left)
        u->held[i] = *(const TDM_GLOBAL mma_words *)(u->from_k + i * at_once * u->row_k);
    }
  }
  mma_keep_order();
}

TDM_INLINE void put_keys(const unit *u, int head) {
  const int at_once = THREADS / (head / 8), row = piece_row(u->thread, head), piece = piece_of(u->thread, head);
  const mma_address to = u->now + (mma_address)(row * pitch_of(head) + (piece ^ (row & 7)) * MMA_PIECE);
  TDM_UNROLL
  for (int i = 0; i < KEYS / at_once; i++) mma_put(to + (mma_address)(i * at_once * pitch_of(head)), u->held[i]);
}

TDM_INLINE mma_two_words fetch_four(const unit *u, int transposed, int key, int left) {
  if (u->thread % FOURS * 4 + key >= left) return (mma_two_words){0};
  return *(const TDM_GLOBAL mma_two_words *)(u->from_v + key * u->row_v + transposed * TRANSPOSED_APART * 2);
}

TDM_INLINE void fetch_fours(unit *u, int left, int head) {
  TDM_UNROLL
  for (int i = 0; i < head / TRANSPOSED_APART; i++) TDM_UNROLL
  for (int two = 0; two < 2; two++) {
    mma_two_words first = fetch_four(u, i, 2 * two, left), second = fetch_four(u, i, 2 * two + 1, left);
    u->held[2 * i + two] = (mma_words){first[0], first[1], second[0], second[1]};
  }
}

TDM_INLINE void fetch_values(unit *u, int64_t first_key, int head) {
  const int left = (int)tdm_min(KEYS, u->end - first_key);
  if (left == KEYS)
    fetch_fours(u, 2 * KEYS, head); /* more than any key, so that nothing is compared */
  else
    fetch_fours(u, left, head);
  mma_keep_order();
}

TDM_INLINE void put_values(const unit *u, int head) {
  const int four = u->thread % FOURS, d = u->thread / FOURS * 4, piece = four / 8 * 4 + four % 4;
  TDM_UNROLL
  for (int i = 0; i < head / TRANSPOSED_APART; i++) TDM_UNROLL
  for (int j = 0; j < 4; j++) {
    const int to = (d + j) * KEYS * 2 + (piece ^ ((d + j) & 7)) * MMA_PIECE + four / 4 % 2 * (MMA_PIECE / 2);
    mma_put_half(u->now + (mma_address)(to + i * TRANSPOSED_APART * KEYS * 2),
                 mma_transpose(u->held[2 * i], u->held[2 * i + 1], j));
  }
}

/* Starts to load the first tile's K, and reads Q directly from its array: a lane has 8 elements of a row. */
TDM_INLINE void begin_rows(unit *u, wave_state *w, int head) {
  const tdm_attention_desc *d = &u->work->shared.d;
  const int lane = u->thread % MMA_LANES;
  const int64_t left = d->sq - u->first_row;
  const char *q = u->arrays.q + (u->batch * d->q.batch + u->head * d->q.head) * 2;
  const uint32_t signs = signs_of(u);
  fetch_keys(u, 0, head);
  TDM_UNROLL
  for (int b = 0; b < blocks_of(head); b++) {
    const int row = u->thread / MMA_LANES * wave_rows(head) + b * 16 + lane % 16;
    TDM_UNROLL
    for (int i = 0; i < head; i += MMA_K) {
      mma_operand *x = &w->q[b * head / MMA_K + i / MMA_K];
      mma_words part = {0};
      if (row < left) part = *(const TDM_GLOBAL mma_words *)(q + ((u->first_row + row) * d->q.row + i + lane / 16 * 8) * 2);
      *x = (mma_operand){{part[0], part[1], part[2], part[3]}};
      flip_signs(x, signs);
    }
  }
}
TDM_INLINE void begin_first_values(unit *u, int head) { (void)u, (void)head; } /* the first begin_keys loads them */

/* After it the tile's K has arrived, and its V is being loaded; or V, and the next tile's K. Nobody reads the previous
 * contents any more. */
TDM_INLINE void begin_keys(unit *u, int64_t first_key, int head) {
  put_keys(u, head);
  TDM_SYNC_BLOCK();
  fetch_values(u, first_key, head);
}
TDM_INLINE void begin_values(unit *u, int64_t first_key, int head) {
  put_values(u, head);
  TDM_SYNC_BLOCK();
  fetch_keys(u, first_key + KEYS, head);
}

/* A lane's operand: keys, or d for MMA_K keys. */
TDM_INLINE int keys_at(int lane, int head) { return lane % 16 * pitch_of(head) + (lane / 16 ^ (lane & 7)) * MMA_PIECE; }
TDM_INLINE mma_operand load_keys(const unit *u, int at, int key, int d, int head) {
  return mma_load(block_at(u->now, at, key, d, head));
}
TDM_INLINE int values_at(int lane, int head) { return (void)head, keys_at(lane, KEYS); }
TDM_INLINE mma_operand load_values(const unit *u, int at, int key, int d, int head) {
  return (void)head, mma_load(block_at(u->now, at, d, key, KEYS));
}

/* A lane's part of a row of O, as memory has it. */
typedef mma_two_words row_part;
TDM_INLINE row_part part_of(mma_sums o, int r, float factor, tdm_type type) {
  (void)r; /* there is one */
  return (mma_two_words){tdm_f32_to_two(o[0] * factor, o[1] * factor, type),
                         tdm_f32_to_two(o[2] * factor, o[3] * factor, type)};
}

#else

/* ---- NVIDIA: K and V as [key][d], by copies that need no registers ----
 *
 * While one is multiplied, the next one has arrived or is being loaded, and so is the one after it. */

_Static_assert(TEAM_ROWS(64) * 64 * 2 == 2 * PLACE(64) && TEAM_ROWS(128) * 128 * 2 == PLACE(128), "Q fits after the first K");

/* The same for V as for K: a thread's first row, and its first byte there. */
TDM_INLINE int value_row(int thread, int head) { return piece_row(thread, head); }
TDM_INLINE int value_byte(int thread, int head) { return piece_of(thread, head) * MMA_PIECE; }

/* Copies rows of `head` elements, of which `left` exist; the others become 0. from: the thread's first piece. count: a
 * constant. */
TDM_INLINE void copy_rows(mma_address to, const char *from, int64_t row_bytes, int left, int count, int thread, int head) {
  const int at_once = THREADS / (head / 8), row = piece_row(thread, head), piece = piece_of(thread, head);
  to += (mma_address)(row * pitch_of(head) + (piece ^ (row & 7)) * MMA_PIECE);
  TDM_UNROLL
  for (int i = 0; i < count / at_once; i++)
    mma_copy_some(to + (mma_address)(i * at_once * pitch_of(head)), from + i * at_once * row_bytes,
                  row + i * at_once < left ? MMA_PIECE : 0);
}

/* Copies K or V of the tile that begins at first_key, if there is one. */
TDM_INLINE void copy_keys(const unit *u, mma_address to, const char *from, int64_t row_bytes, int64_t first_key, int head) {
  if (first_key < u->end) copy_rows(to, from, row_bytes, (int)tdm_min(KEYS, u->end - first_key), KEYS, u->thread, head);
  mma_copied();
}

/* After it the next K or V has arrived, and nobody reads the previous one any more. */
TDM_INLINE void switch_buffers(unit *u, int head) {
  const mma_address last = u->places + (PLACES - 1) * PLACE(head);
  mma_wait_but_one();
  TDM_SYNC_BLOCK();
  u->free = u->now == u->places ? last : u->now - PLACE(head);
}

/* Where a lane's row of a block (mma_load) begins: a block of 16 rows by 16 columns, rows or columns first. */
TDM_INLINE int lane_at(int lane, bool rows_first, int head) {
  const int row = lane % 8 + (rows_first ? lane / 8 % 2 : lane / 16) * 8, piece = rows_first ? lane / 16 : lane / 8 % 2;
  return row * pitch_of(head) + (piece ^ (lane & 7)) * MMA_PIECE;
}

/* Starts to load the first tile's K. Q goes to registers through team memory, which is then free for the first V. */
TDM_INLINE void begin_rows(unit *u, wave_state *w, int head) {
  const tdm_attention_desc *d = &u->work->shared.d;
  const mma_address queries = u->places + PLACE(head);
  const int64_t row_bytes = d->q.row * 2, row = u->first_row + piece_row(u->thread, head), left = d->sq - u->first_row;
  const char *q = u->arrays.q + (u->batch * d->q.batch + u->head * d->q.head) * 2 + row * row_bytes;
  q += piece_of(u->thread, head) * MMA_PIECE;
  copy_rows(queries, q, row_bytes, (int)tdm_min(TEAM_ROWS(head), left), TEAM_ROWS(head), u->thread, head);
  copy_keys(u, u->places, u->from_k, u->row_k, 0, head);
  u->from_k += KEYS * u->row_k;
  mma_wait_all();
  TDM_SYNC_BLOCK(); /* Q has arrived */
  const int at = lane_at(u->thread % MMA_LANES, true, head);
  const uint32_t signs = signs_of(u);
  TDM_UNROLL
  for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
  for (int i = 0; i < head; i += MMA_K) {
    mma_operand *x = &w->q[b * head / MMA_K + i / MMA_K];
    *x = mma_load(block_at(queries, at, u->thread / MMA_LANES * wave_rows(head) + b * 16, i, head), false);
    flip_signs(x, signs);
  }
}

/* Macros, because one more function around copy_keys changes scalar instructions of kernels whose times are in
 * bench/results/h200.md.
 *
 * Nobody reads Q in team memory any more: the first V takes its place. */
#define begin_first_values(u, head)                                            \
  do {                                                                         \
    TDM_SYNC_BLOCK();                                                          \
    copy_keys(u, (u)->places + PLACE(head), (u)->from_v, (u)->row_v, 0, head); \
    (u)->from_v += KEYS * (u)->row_v;                                          \
  } while (0)
/* After it the tile's K (V) has arrived, and the next tile's is being loaded. */
#define begin_keys(u, first_key, head) \
  (switch_buffers(u, head), copy_keys(u, (u)->free, (u)->from_k, (u)->row_k, (first_key) + KEYS, head))
#define begin_values(u, first_key, head) \
  (switch_buffers(u, head), copy_keys(u, (u)->free, (u)->from_v, (u)->row_v, (first_key) + KEYS, head))

/* A lane's operand: 16 keys by 16 d. */
TDM_INLINE int keys_at(int lane, int head) { return lane_at(lane, false, head); }
TDM_INLINE mma_operand load_keys(const unit *u, int at, int key, int d, int head) {
  return mma_load(block_at(u->now, at, key, d, head), false);
}
TDM_INLINE int values_at(int lane, int head) { return lane_at(lane, true, head); }
TDM_INLINE mma_operand load_values(const unit *u, int at, int key, int d, int head) {
  return mma_load(block_at(u->now, at, key, d, head), true);
}

/* A lane's part of a row of O, as memory has it. */
typedef uint32_t row_part;
TDM_INLINE row_part part_of(mma_sums o, int r, float factor, tdm_type type) {
  return tdm_f32_to_two(o[r * MMA_TOGETHER] * factor, o[r * MMA_TOGETHER + 1] * factor, type);
}

#endif

#endif
