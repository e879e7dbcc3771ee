/* A tile of keys for gpu_mma.c, which explains how the work is split: scores, softmax, and the product with V. */
#ifndef TANDEM_OFFLOAD_ATTENTION_MMA_KEYS_H
#define TANDEM_OFFLOAD_ATTENTION_MMA_KEYS_H

#include "mma_copy_keys.h"

/* Row r of a lane: a block has 16 rows, of which the lane has MMA_HELD. */
TDM_INLINE int64_t row_of(const unit *u, int r, int head) {
  return u->first_row + u->thread / MMA_LANES * wave_rows(head) + r / MMA_HELD * 16 + r % MMA_HELD * 8 +
         mma_row(u->thread % MMA_LANES);
}

/* Blocks of columns of O in all of a wave's rows, and the number of rows of a lane. */
TDM_INLINE int outputs_of(int head) { return blocks_of(head) * head / MMA_COLUMNS; }
TDM_INLINE int rows_of(int head) { return MMA_HELD * blocks_of(head); }

/* ---- A tile of keys ---- */

/* S = Q K^T. */
TDM_INLINE void scores_of(const unit *u, const wave_state *w, mma_sums s[MOST_BLOCKS][SCORES], int head, tdm_type type) {
  const int at = keys_at(u->thread % MMA_LANES, head);
  TDM_UNROLL
  for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
  for (int j = 0; j < SCORES; j++) s[b][j] = (mma_sums){0};
  TDM_UNROLL
  for (int d = 0; d < head; d += MMA_K) TDM_UNROLL
  for (int j = 0; j < SCORES; j += MMA_HALVES) {
    mma_operand k = load_keys(u, at, j * MMA_COLUMNS, d, head);
    TDM_UNROLL
    for (int part = 0; part < MMA_PARTS; part++) TDM_UNROLL
    for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
    for (int half = 0; half < MMA_HALVES; half++)
      s[b][j + half] = mma_multiply(s[b][j + half], w->q[b * head / MMA_K + d / MMA_K], k, half, part, type);
    if (j % 2 == 1) mma_keep_order(); /* otherwise all of K is read at once, and registers spill */
  }
}

/* Sets the scores of keys that a row does not see to -infinity. seen: how many keys of the tile row r sees. */
TDM_INLINE void mask_scores(const unit *u, mma_sums s[MOST_BLOCKS][SCORES], const int *seen, int head) {
  TDM_UNROLL
  for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
  for (int j = 0; j < SCORES; j++) TDM_UNROLL
  for (int e = 0; e < 4; e++)
    if (j * MMA_COLUMNS + mma_column(u->thread) + e % MMA_TOGETHER >= seen[MMA_HELD * b + e / MMA_TOGETHER])
      s[b][j][e] = -__builtin_inff();
}

/* Turns S into P, and rescales O and the sums to the new maximum. The maximum ignores a NaN, but the NaN makes the sum NaN. */
TDM_INLINE void softmax_tile(wave_state *w, mma_sums s[MOST_BLOCKS][SCORES], float c, int head) {
  const int rows =
      rows_of(head); /* of a lane; for row r, the MMA_TOGETHER sums from r % MMA_HELD of them on, in block r / MMA_HELD */
  float reference[MMA_HELD * MOST_BLOCKS], factor[MMA_HELD * MOST_BLOCKS];
  bool moved = false, large = false;
  TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    const int first = r % MMA_HELD * MMA_TOGETHER;
    float max = -__builtin_inff();
    TDM_UNROLL
    for (int j = 0; j < SCORES; j++) {
      float more = s[r / MMA_HELD][j][first];
      TDM_UNROLL
      for (int e = 1; e < MMA_TOGETHER; e++) more = __builtin_fmaxf(more, s[r / MMA_HELD][j][first + e]);
      max = __builtin_fmaxf(max, more);
    }
    TDM_UNROLL
    for (int n = 1; n <= 2; n *= 2) max = __builtin_fmaxf(max, tdm_lane_xor(max, n * MMA_ROW_DISTANCE));
    max = __builtin_fmaxf(w->max[r], max * c);
    reference[r] = max == -__builtin_inff() ? 0 : max; /* only -infinity so far: avoids inf - inf */
    factor[r] = mma_exp2(w->max[r] - reference[r]);
    moved |= factor[r] != 1;
    large |= !(__builtin_fabsf(reference[r]) <= 0x1p20f);
    w->max[r] = max;
  }
  if (mma_any(large)) { /* then c S - reference, without a rounding in between, would be far from 0 at the maximum */
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
    for (int e = r % MMA_HELD * MMA_TOGETHER; e < (r % MMA_HELD + 1) * MMA_TOGETHER; e++) {
      s[r / MMA_HELD][j][e] = mma_exp2(__builtin_fmaf(s[r / MMA_HELD][j][e], c, -reference[r]));
      sum += s[r / MMA_HELD][j][e];
    }
    w->sum[r] = w->sum[r] * factor[r] + sum;
  }
  if (!mma_any(moved)) return;
  TDM_UNROLL
  for (int i = 0; i < outputs_of(head); i++) TDM_UNROLL
  for (int e = 0; e < 4; e++) w->o[i][e] *= factor[i / (head / MMA_COLUMNS) * MMA_HELD + e / MMA_TOGETHER];
}

/* P as the first operand of a product: [block][MMA_K keys]. */
typedef struct weights {
  mma_operand of[MOST_BLOCKS][KEYS / MMA_K];
} weights;

TDM_INLINE weights weights_of(mma_sums s[MOST_BLOCKS][SCORES], int head, tdm_type type) {
  weights p;
  TDM_UNROLL
  for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
  for (int i = 0; i < KEYS / MMA_K; i++) TDM_UNROLL
  for (int word = 0; word < 4; word++) {
    mma_sums x = s[b][2 * i + word / 2];
    p.of[b][i].word[word] = mma_two(x[word % 2 * 2], x[word % 2 * 2 + 1], type);
  }
  return p;
}

/* O += P V. */
TDM_INLINE void multiply_values(const unit *u, wave_state *w, const weights *p, int head, tdm_type type) {
  const int at = values_at(u->thread % MMA_LANES, head);
  TDM_UNROLL
  for (int i = 0; i < KEYS / MMA_K; i++) TDM_UNROLL
  for (int d = 0; d < head; d += 16) {
    mma_operand v = load_values(u, at, i * MMA_K, d, head);
    TDM_UNROLL
    for (int part = 0; part < MMA_PARTS; part++) TDM_UNROLL
    for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
    for (int half = 0; half < MMA_HALVES; half++) {
      mma_sums *o = &w->o[b * head / MMA_COLUMNS + d / MMA_COLUMNS + half];
      *o = mma_multiply(*o, p->of[b][i], v, half, part, type);
    }
    if (d % 32 != 0) mma_keep_order();
  }
}

/* Is every V of the tile finite? A product with 0 shows it. */
TDM_INLINE bool all_finite(const unit *u, int head, tdm_type type) {
  const int at = values_at(u->thread % MMA_LANES, head);
  mma_sums zero = {0};
  TDM_NO_UNROLL
  for (int i = 0; i < KEYS; i += MMA_K) TDM_UNROLL
  for (int d = 0; d < head; d += 16) TDM_UNROLL
  for (int half = 0; half < MMA_HALVES; half++) TDM_UNROLL
  for (int part = 0; part < MMA_PARTS; part++)
    zero = mma_multiply(zero, (mma_operand){{0}}, load_values(u, at, i, d, head), half, part, type);
  float any = zero[0] + zero[1] + zero[2] + zero[3];
  return !mma_any(any != any);
}

/* O += P V, key after key: a row takes the product only if it sees the key. */
TDM_INLINE void multiply_seen(const unit *u, wave_state *w, weights *p, const int *seen, int head, tdm_type type) {
  const int lane = u->thread % MMA_LANES, at = values_at(lane, head);
  TDM_NO_UNROLL
  for (int key = 0; key < KEYS; key++) {
    const int in_block = key % MMA_K;
    const bool mine = (TDM_FOR_GFX942 ? lane / 16 : lane % 4) == in_block % (4 * MMA_TOGETHER) / MMA_TOGETHER;
    const uint32_t only = mine ? 0xffffu << in_block % 2 * 16 : 0; /* the key's elements of V: half of a word in these lanes */
    TDM_UNROLL
    for (int d = 0; d < head; d += 16) {
      mma_operand v = load_values(u, at, key - in_block, d, head);
      TDM_UNROLL
      for (int word = 0; word < 4; word++)
        v.word[word] &= (TDM_FOR_GFX942 ? word == in_block / 16 * 2 + in_block % 4 / 2 : word % 2 == in_block / 8) ? only : 0;
      TDM_UNROLL
      for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
      for (int half = 0; half < MMA_HALVES; half++) {
        mma_sums more = {0};
        TDM_UNROLL
        for (int part = 0; part < MMA_PARTS; part++) more = mma_multiply(more, p->of[b][0], v, half, part, type);
        mma_sums *o = &w->o[b * head / MMA_COLUMNS + d / MMA_COLUMNS + half];
        TDM_UNROLL
        for (int e = 0; e < 4; e++) (*o)[e] += key < seen[MMA_HELD * b + e / MMA_TOGETHER] ? more[e] : 0;
      }
    }
    if (in_block < MMA_K - 1) continue;
    TDM_UNROLL
    for (int b = 0; b < blocks_of(head); b++) TDM_UNROLL
    for (int i = 1; i < KEYS / MMA_K; i++) p->of[b][i - 1] = p->of[b][i]; /* registers can't be indexed */
  }
}

/* open: every row of the team sees every key of the tile. */
TDM_INLINE void attend_tile(unit *u, wave_state *w, int64_t first_key, bool open, int head, tdm_type type) {
  int seen[MMA_HELD * MOST_BLOCKS];
  mma_sums s[MOST_BLOCKS][SCORES];
  begin_keys(u, first_key, head);
  scores_of(u, w, s, head, type);
  u->from_k += KEYS * u->row_k;
  if (!open) {
    const tdm_attention_desc *d = &u->work->shared.d;
    TDM_UNROLL
    for (int r = 0; r < rows_of(head); r++)
      seen[r] = (int)tdm_max(0, tdm_min(KEYS, keys_seen(d, u->skv, tdm_min(row_of(u, r, head), d->sq - 1)) - first_key));
    mask_scores(u, s, seen, head);
  }
  softmax_tile(w, s, u->c, head);
  weights p = weights_of(s, head, type);
  next_place(u, head);
  begin_values(u, first_key, head);
  if (!open && !all_finite(u, head, type))
    multiply_seen(u, w, &p, seen, head, type);
  else
    multiply_values(u, w, &p, head, type);
  u->from_v += KEYS * u->row_v;
  next_place(u, head);
}

#endif
