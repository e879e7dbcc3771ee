/* A tile of keys in attention_gpu_mma.c, which says how the work is cut: copies of K and V to team memory, scores, softmax, and
 * the product with V. Row and tile numbers are a team's; `head` is a constant of each kernel, 64 or 128. */
#ifndef TANDEM_OFFLOAD_ATTENTION_MMA_H
#define TANDEM_OFFLOAD_ATTENTION_MMA_H

#include "attention_gpu.h"
#include "gpu_mma.h"
#include "math.h"

enum {
  THREADS = 128,
  WAVES = THREADS / 32,
  KEYS = 64,        /* of a tile */
  MOST_BLOCKS = 2,  /* of 16 rows, that a wave has */
  OUTPUTS = 16,     /* blocks of 8 columns of O, of all of a wave's rows */
  SCORES = KEYS / 8 /* blocks of 8 columns of S, of 16 rows */
};

typedef struct mma_work {
  attention_gpu_work shared; /* first: a detour's kernel reads it as its own */
  int tiles;                 /* of one head */
  float factor;              /* |scale| log2 e */
} mma_work;

typedef struct attention_arrays {
  const char *q, *k, *v;
  void *o;
  float *lse;
} attention_arrays;

/* Constants of a kernel. */
TDM_INLINE int blocks_of(int head) { return 128 / head; }
TDM_INLINE int wave_rows(int head) { return 16 * blocks_of(head); }
TDM_INLINE int pitch_of(int head) { return head * 2; } /* bytes of a row of Q, K, V in team memory */
#define TEAM_ROWS(head) (16 * 128 / (head) * WAVES)
#define PLACE(head) (KEYS * (head) * 2) /* bytes of K or V of a tile */
enum { PLACES = 3 };                    /* for heads of 128 all of the 48 KiB that a team can have */
_Static_assert(TEAM_ROWS(64) * 64 * 2 == 2 * PLACE(64) && TEAM_ROWS(128) * 128 * 2 == PLACE(128), "Q fits behind the first K");

/* What a team works on. */
typedef struct unit {
  const mma_work *work;
  attention_arrays arrays;
  int thread;
  float c;                             /* work->factor */
  int64_t skv;                         /* the run's */
  mma_address places, now, free;       /* now: of the K or V that is multiplied; free: for the one that is fetched */
  const char *from_k, *from_v;         /* the thread's first piece of those that are fetched next */
  int64_t row_k, row_v;                /* bytes */
  int64_t batch, head, first_row, end; /* end: behind the last key that some row sees */
} unit;

/* A wave's rows, in the order of the matrix units: of block b of 16 rows a lane has rows lane / 4 and 8 below it. */
typedef struct wave_state {
  mma_operand q[MOST_BLOCKS * 4];                   /* [block][16 d]: 8 of both sizes */
  mma_sums o[OUTPUTS];                              /* [block][8 columns] */
  float max[2 * MOST_BLOCKS], sum[2 * MOST_BLOCKS]; /* max: of c S; sum: the lane's own part */
} wave_state;

/* Row r of a lane: 16 rows a block, two of them the lane's. */
TDM_INLINE int64_t row_of(const unit *u, int r, int head) {
  return u->first_row + u->thread / 32 * wave_rows(head) + r / 2 * 16 + r % 2 * 8 + u->thread % 32 / 4;
}

/* ---- Copies to team memory ---- */

/* A thread copies pieces that are THREADS pieces apart; this is its first one's row, and its place in the row. */
TDM_INLINE int piece_row(int thread, int head) { return thread / (head / 8); }
TDM_INLINE int piece_of(int thread, int head) { return thread % (head / 8); }

/* Rows of `head` elements, of which `left` are there; the others become 0. from: of the thread's first piece. count: a
 * constant. */
TDM_INLINE void copy_rows(mma_address to, const char *from, int64_t row_bytes, int left, int count, int thread, int head) {
  const int at_once = THREADS / (head / 8), row = piece_row(thread, head), piece = piece_of(thread, head);
  to += (mma_address)(row * pitch_of(head) + (piece ^ (row & 7)) * MMA_PIECE);
  TDM_UNROLL
  for (int i = 0; i < count / at_once; i++)
    mma_copy_some(to + (mma_address)(i * at_once * pitch_of(head)), from + i * at_once * row_bytes,
                  row + i * at_once < left ? MMA_PIECE : 0);
}

/* K or V of the tile that begins at first_key, if there is one. */
TDM_INLINE void copy_keys(const unit *u, mma_address to, const char *from, int64_t row_bytes, int64_t first_key, int head) {
  if (first_key < u->end) copy_rows(to, from, row_bytes, (int)tdm_min(KEYS, u->end - first_key), KEYS, u->thread, head);
  mma_copied();
}

/* What comes next is there, and nobody reads any more what was before it. */
TDM_INLINE void turn_places(unit *u, int head) {
  const mma_address last = u->places + (PLACES - 1) * PLACE(head);
  mma_wait_but_one();
  TDM_SYNC_BLOCK();
  u->free = u->now == u->places ? last : u->now - PLACE(head);
}
TDM_INLINE void next_place(unit *u, int head) {
  u->now = u->now == u->places + (PLACES - 1) * PLACE(head) ? u->places : u->now + PLACE(head);
}

/* Where a lane's row of a block (mma_load) begins: of 16 rows by 16 columns, rows or columns first. Others follow by constants:
 * more rows are added, 16 columns more are a piece's number with a bit changed. */
TDM_INLINE int lane_at(int lane, bool rows_first, int head) {
  const int row = lane % 8 + (rows_first ? lane / 8 % 2 : lane / 16) * 8, piece = rows_first ? lane / 16 : lane / 8 % 2;
  return row * pitch_of(head) + (piece ^ (lane & 7)) * MMA_PIECE;
}
TDM_INLINE mma_address block_at(mma_address panel, int at, int rows, int columns, int head) {
  return panel + (mma_address)((at ^ columns * 2) + rows * pitch_of(head));
}

/* ---- A tile of keys ---- */

/* S = Q K^T. */
TDM_INLINE void scores_of(const unit *u, const wave_state *w, mma_sums s[MOST_BLOCKS][SCORES], int head, tdm_type type) {
  const int at = lane_at(u->thread % 32, false, head);
  TDM_UNROLL
  for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
  for (int j = 0; j < SCORES; j++) s[b][j] = (mma_sums){0};
  TDM_UNROLL
  for (int d = 0; d < head; d += 16) TDM_UNROLL
  for (int j = 0; j < SCORES; j += 2) {
    mma_operand k = mma_load(block_at(u->now, at, j * 8, d, head), false);
    TDM_UNROLL
    for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
    for (int half = 0; half < 2; half++)
      s[b][j + half] = mma_multiply(s[b][j + half], w->q[b * head / 16 + d / 16], k, half, type);
  }
}

/* Scores of keys that a row does not see become -infinity; seen: of the tile, those that row r sees. */
TDM_INLINE void mask_scores(const unit *u, mma_sums s[MOST_BLOCKS][SCORES], const int *seen, int head) {
  TDM_UNROLL
  for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
  for (int j = 0; j < SCORES; j++) TDM_UNROLL
  for (int e = 0; e < 4; e++)
    if (j * 8 + u->thread % 4 * 2 + e % 2 >= seen[2 * b + e / 2]) s[b][j][e] = -__builtin_inff();
}

/* S becomes P; O and the sums come under the new maximum. A NaN passes every maximum and makes the sum a NaN. */
TDM_INLINE void softmax_tile(wave_state *w, mma_sums s[MOST_BLOCKS][SCORES], float c, int head) {
  const int rows = 2 * blocks_of(head); /* of a lane; of row r the sums r % 2 * 2 and the next one in block r / 2 */
  float reference[2 * MOST_BLOCKS], factor[2 * MOST_BLOCKS];
  bool moved = false, large = false;
  TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    const int first = r % 2 * 2;
    float max = -__builtin_inff();
    TDM_UNROLL
    for (int j = 0; j < SCORES; j++) max = __builtin_fmaxf(max, __builtin_fmaxf(s[r / 2][j][first], s[r / 2][j][first + 1]));
    TDM_UNROLL
    for (int distance = 1; distance <= 2; distance *= 2) max = __builtin_fmaxf(max, tdm_lane_xor(max, distance));
    max = __builtin_fmaxf(w->max[r], max * c);
    reference[r] = max == -__builtin_inff() ? 0 : max; /* only -infinity so far: no inf - inf */
    factor[r] = mma_exp2(w->max[r] - reference[r]);
    moved |= factor[r] != 1;
    large |= !(__builtin_fabsf(reference[r]) <= 0x1p20f);
    w->max[r] = max;
  }
  if (mma_any(large)) { /* there c S - reference without a rounding between would be far from 0 at the maximum */
    TDM_UNROLL
    for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
    for (int j = 0; j < SCORES; j++) s[b][j] *= c;
    c = 1;
  }
  TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    float sum = 0;
    TDM_UNROLL
    for (int j = 0; j < SCORES; j++) TDM_UNROLL
    for (int e = r % 2 * 2; e < r % 2 * 2 + 2; e++) {
      s[r / 2][j][e] = mma_exp2(__builtin_fmaf(s[r / 2][j][e], c, -reference[r]));
      sum += s[r / 2][j][e];
    }
    w->sum[r] = w->sum[r] * factor[r] + sum;
  }
  if (!mma_any(moved)) return;
  TDM_UNROLL
  for (int i = 0; i < OUTPUTS; i++) TDM_UNROLL
  for (int e = 0; e < 4; e++) w->o[i][e] *= factor[i / (head / 8) * 2 + e / 2];
}

/* P as the first operand of a product: [block][16 keys]. */
typedef struct weights {
  mma_operand of[MOST_BLOCKS][KEYS / 16];
} weights;

TDM_INLINE weights weights_of(mma_sums s[MOST_BLOCKS][SCORES], int head, tdm_type type) {
  weights p;
  TDM_UNROLL
  for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
  for (int i = 0; i < KEYS / 16; i++) TDM_UNROLL
  for (int word = 0; word < 4; word++) {
    mma_sums x = s[b][2 * i + word / 2];
    p.of[b][i].word[word] = tdm_f32_to_two(x[word % 2 * 2], x[word % 2 * 2 + 1], type);
  }
  return p;
}

/* O += P V. */
TDM_INLINE void multiply_values(const unit *u, wave_state *w, const weights *p, int head, tdm_type type) {
  const int at = lane_at(u->thread % 32, true, head);
  TDM_UNROLL
  for (int i = 0; i < KEYS / 16; i++) TDM_UNROLL
  for (int d = 0; d < head; d += 16) {
    mma_operand v = mma_load(block_at(u->now, at, i * 16, d, head), true);
    TDM_UNROLL
    for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
    for (int half = 0; half < 2; half++) {
      mma_sums *o = &w->o[b * head / 8 + d / 8 + half];
      *o = mma_multiply(*o, p->of[b][i], v, half, type);
    }
  }
}

/* Has the tile's V neither NaN nor infinity? A product with 0 tells. */
TDM_INLINE bool all_finite(const unit *u, int head, tdm_type type) {
  const int at = lane_at(u->thread % 32, true, head);
  mma_sums zero = {0};
  TDM_NO_UNROLL
  for (int i = 0; i < KEYS; i += 16) TDM_UNROLL
  for (int d = 0; d < head; d += 16) TDM_UNROLL
  for (int half = 0; half < 2; half++)
    zero = mma_multiply(zero, (mma_operand){{0}}, mma_load(block_at(u->now, at, i, d, head), true), half, type);
  float any = zero[0] + zero[1] + zero[2] + zero[3];
  return !mma_any(any != any);
}

/* O += P V, key after key: a row takes the product only where it sees the key. */
TDM_INLINE void multiply_seen(const unit *u, wave_state *w, weights *p, const int *seen, int head, tdm_type type) {
  const int lane = u->thread % 32, at = lane_at(lane, true, head);
  TDM_NO_UNROLL
  for (int key = 0; key < KEYS; key++) {
    const int in_block = key % 16; /* the key's elements of V: in a quarter of the lanes half of a word */
    const uint32_t only = lane % 4 == in_block % 8 / 2 ? 0xffffu << in_block % 2 * 16 : 0;
    TDM_UNROLL
    for (int d = 0; d < head; d += 16) {
      mma_operand v = mma_load(block_at(u->now, at, key - in_block, d, head), true);
      TDM_UNROLL
      for (int word = 0; word < 4; word++) v.word[word] &= word % 2 == in_block / 8 ? only : 0;
      TDM_UNROLL
      for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
      for (int half = 0; half < 2; half++) {
        mma_sums more = mma_multiply((mma_sums){0}, p->of[b][0], v, half, type);
        TDM_UNROLL
        for (int e = 0; e < 4; e++) w->o[b * head / 8 + d / 8 + half][e] += key < seen[2 * b + e / 2] ? more[e] : 0;
      }
    }
    if (in_block < 15) continue;
    TDM_UNROLL
    for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
    for (int i = 1; i < KEYS / 16; i++) p->of[b][i - 1] = p->of[b][i]; /* registers have no index */
  }
}

/* open: every row of the team sees every key of the tile. */
TDM_INLINE void attend_tile(unit *u, wave_state *w, int64_t first_key, bool open, int head, tdm_type type) {
  int seen[2 * MOST_BLOCKS];
  mma_sums s[MOST_BLOCKS][SCORES];
  turn_places(u, head);
  copy_keys(u, u->free, u->from_k, u->row_k, first_key + KEYS, head);
  scores_of(u, w, s, head, type);
  u->from_k += KEYS * u->row_k;
  if (!open) {
    const tdm_attention_desc *d = &u->work->shared.d;
    TDM_UNROLL
    for (int r = 0; r < 2 * blocks_of(head); r++)
      seen[r] = (int)tdm_max(0, tdm_min(KEYS, keys_seen(d, u->skv, tdm_min(row_of(u, r, head), d->sq - 1)) - first_key));
    mask_scores(u, s, seen, head);
  }
  softmax_tile(w, s, u->c, head);
  weights p = weights_of(s, head, type);
  next_place(u, head);
  turn_places(u, head);
  copy_keys(u, u->free, u->from_v, u->row_v, first_key + KEYS, head);
  if (!open && !all_finite(u, head, type))
    multiply_seen(u, w, &p, seen, head, type);
  else
    multiply_values(u, w, &p, head, type);
  u->from_v += KEYS * u->row_v;
  next_place(u, head);
}

#endif
