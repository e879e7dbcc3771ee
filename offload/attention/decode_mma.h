/* The part of a wave in gpu_decode_mma.c, which explains it. Lane 4 g + t has of S^T the keys g and g + 8 of 16 and the rows
 * 2 t and 2 t + 1 of 8; of O^T the columns g and g + 8 of 16, and the same rows. */
#ifndef TANDEM_OFFLOAD_ATTENTION_DECODE_MMA_H
#define TANDEM_OFFLOAD_ATTENTION_DECODE_MMA_H

#include "decode_parts.h"

/* Constants of a kernel: width is 64, 128 or 256, and at least head_dim; halves: blocks of 8 rows, 1 or 2. */
enum { DECODE_PLACES = 3, DECODE_MOST_BLOCKS = 2, DECODE_MOST_TILES = 16 };
#define DECODE_MMA_KEYS(width) ((width) <= 64 ? 32 : 16)                       /* of a stage */
#define DECODE_MMA_WAVES(width) ((width) <= 128 ? 4 : 2)                       /* of a team */
#define DECODE_STAGE(width) (DECODE_MMA_KEYS(width) * (width) * 2)             /* bytes */
#define DECODE_RING(width) (DECODE_PLACES * DECODE_STAGE(width))               /* of a wave */
#define DECODE_MMA_BYTES(width) (DECODE_MMA_WAVES(width) * DECODE_RING(width)) /* 48 KiB, which is all that a team may have */

typedef uint32_t word_of_two __attribute__((may_alias));

typedef struct decode_arrays {
  const char *q, *k, *v;
} decode_arrays;

/* What a wave copies: a lane has the same piece of 16 bytes of each (32 / pieces)th key. */
typedef struct decode_copier {
  const char *from; /* the lane's piece of key 0 of K, and of V */
  int64_t row;      /* bytes */
} decode_copier;

typedef struct decode_wave {
  mma_operand q[DECODE_MOST_TILES]; /* [16 d]: both halves */
  mma_sums o[DECODE_MOST_TILES];    /* [half][16 d]: two halves only up to a width of 128 */
  float max[4], sum[4];             /* [half][2 rows]; max: of the scores times log2 e; sum: the lane's own part */
  int64_t seen[4];
} decode_wave;

/* Copies a stage of keys first ..., of which those before `end` exist; the others, and what is after head_dim, become 0. */
TDM_INLINE void decode_copy(mma_address place, const decode_copier *x, int64_t first, int64_t end, int lane, int pieces_used,
                            int width) {
  const int pieces = width / 8, at_once = 32 / pieces, row = lane / pieces, piece = lane % pieces;
  const int left = piece < pieces_used ? (int)tdm_max(0, tdm_min(DECODE_MMA_KEYS(width), end - first)) : 0;
  if (first < end) {
    const char *from = x->from + (first + row) * x->row;
    TDM_UNROLL
    for (int i = 0; i < DECODE_MMA_KEYS(width) / at_once; i++) {
      const int key = row + i * at_once;
      mma_copy_some(place + (mma_address)(key * width * 2 + (piece ^ (key & 7)) * 16), from, key < left ? 16 : 0);
      if (key + at_once < left) from += at_once * x->row; /* not beyond the array */
    }
  }
  mma_copied();
}

/* 16 keys by 16 d from key and d on, keys as lines; or d as lines. */
TDM_INLINE mma_operand decode_operand(mma_address place, int lane, int key, int d, bool d_lines, int width) {
  const int row = key + lane % 8 + (d_lines ? lane / 16 : lane / 8 % 2) * 8,
            piece = d / 8 + (d_lines ? lane / 8 % 2 : lane / 16);
  return mma_load(place + (mma_address)(row * width * 2 + (piece ^ (row & 7)) * 16), d_lines);
}

TDM_INLINE void decode_begin(decode_wave *w, const decode_unit *u, const char *q, int lane, int halves, int width) {
  const tdm_attention_desc *d = &u->work->d;
  TDM_UNROLL
  for (int i = 0; i < halves * width / 16; i++) w->o[i] = (mma_sums){0};
  TDM_UNROLL
  for (int h = 0; h < halves; h++) {
    const int row = h * 8 + lane / 4;
    const char *from = q + (decode_row_offset(u, &d->q, row < u->rows ? row : 0) + lane % 4 * 2) * 2;
    TDM_UNROLL
    for (int i = 0; i < width / 16; i++) TDM_UNROLL
    for (int k = 0; k < 2; k++) {
      const bool real = row < u->rows && i * 16 + k * 8 < d->head_dim;
      w->q[i].word[2 * h + k] = 0;
      if (real) w->q[i].word[2 * h + k] = *(const TDM_GLOBAL word_of_two *)(from + (i * 16 + k * 8) * 2);
    }
  }
  TDM_UNROLL
  for (int r = 0; r < 2 * halves; r++) {
    w->max[r] = -__builtin_inff();
    w->sum[r] = 0;
    w->seen[r] = decode_seen(u, r / 2 * 8 + lane % 4 * 2 + r % 2);
  }
}

/* S^T of a stage. */
TDM_INLINE void decode_scores(const decode_wave *w, mma_sums s[DECODE_MOST_BLOCKS][2], mma_address place, int lane, int halves,
                              int width, tdm_type type) {
  TDM_UNROLL
  for (int b = 0; b < DECODE_MMA_KEYS(width) / 16; b++) {
    TDM_UNROLL
    for (int h = 0; h < halves; h++) s[b][h] = (mma_sums){0};
    TDM_UNROLL
    for (int i = 0; i < width / 16; i++) {
      mma_operand k = decode_operand(place, lane, b * 16, i * 16, false, width);
      TDM_UNROLL
      for (int h = 0; h < halves; h++) s[b][h] = mma_multiply(s[b][h], k, w->q[i], h, 0, type);
    }
  }
}

/* Turns S^T into P^T, and rescales O^T and the sums. The maximum ignores a NaN, but the NaN makes the sum NaN. */
TDM_INLINE void decode_softmax(decode_wave *w, mma_sums s[DECODE_MOST_BLOCKS][2], int64_t first, int64_t end, int64_t open,
                               float c, int lane, int halves, int width) {
  const int blocks = DECODE_MMA_KEYS(width) / 16;
  const bool all = first + DECODE_MMA_KEYS(width) <= (open < end ? open : end);
  float factor[4];
  bool moved = false;
  TDM_UNROLL
  for (int r = 0; r < 2 * halves; r++) {
    const int64_t least = w->seen[r] < end ? w->seen[r] : end;
    float max = w->max[r];
    TDM_UNROLL
    for (int b = 0; b < blocks; b++) TDM_UNROLL
    for (int e = r % 2; e < 4; e += 2) {
      float x = s[b][r / 2][e] * c;
      if (!all && first + b * 16 + e / 2 * 8 + lane / 4 >= least) x = -__builtin_inff();
      s[b][r / 2][e] = x;
      max = __builtin_fmaxf(max, x);
    }
    TDM_UNROLL
    for (int distance = 4; distance <= 16; distance *= 2) max = __builtin_fmaxf(max, tdm_lane_xor(max, distance));
    const float reference = max == -__builtin_inff() ? 0 : max; /* only -infinity so far: avoids inf - inf */
    float sum = 0;
    factor[r] = mma_exp2(w->max[r] - reference);
    moved |= factor[r] != 1;
    TDM_UNROLL
    for (int b = 0; b < blocks; b++) TDM_UNROLL
    for (int e = r % 2; e < 4; e += 2) {
      s[b][r / 2][e] = mma_exp2(s[b][r / 2][e] - reference);
      sum += s[b][r / 2][e];
    }
    w->sum[r] = w->sum[r] * factor[r] + sum;
    w->max[r] = max;
  }
  if (!mma_any(moved)) return;
  TDM_UNROLL
  for (int i = 0; i < halves * width / 16; i++) TDM_UNROLL
  for (int e = 0; e < 4; e++) w->o[i][e] *= factor[i / (width / 16) * 2 + e % 2];
}

/* P^T as the second operand: a lane has the keys 2 t, 2 t + 1, and 8 more, of row g. */
TDM_INLINE void decode_weights(mma_operand p[DECODE_MOST_BLOCKS], mma_sums s[DECODE_MOST_BLOCKS][2], int halves, int width,
                               tdm_type type) {
  TDM_UNROLL
  for (int b = 0; b < DECODE_MMA_KEYS(width) / 16; b++) TDM_UNROLL
  for (int h = 0; h < halves; h++) TDM_UNROLL
  for (int k = 0; k < 2; k++) p[b].word[2 * h + k] = mma_transposed(mma_two(s[b][h][2 * k], s[b][h][2 * k + 1], type));
}

/* O^T += V^T P^T. */
TDM_INLINE void decode_values(decode_wave *w, const mma_operand p[DECODE_MOST_BLOCKS], mma_address place, int lane, int halves,
                              int width, tdm_type type) {
  TDM_UNROLL
  for (int b = 0; b < DECODE_MMA_KEYS(width) / 16; b++) TDM_UNROLL
  for (int i = 0; i < width / 16; i++) {
    mma_operand v = decode_operand(place, lane, b * 16, i * 16, true, width);
    TDM_UNROLL
    for (int h = 0; h < halves; h++) {
      mma_sums *o = &w->o[h * (width / 16) + i];
      *o = mma_multiply(*o, v, p[b], h, 0, type);
    }
  }
}

/* Is every V of the stage finite? */
TDM_INLINE bool decode_finite(mma_address place, int lane, int width, tdm_type type) {
  const uint32_t exponents = type == TDM_F16 ? 0x7c007c00 : 0x7f807f80;
  bool good = true;
  TDM_NO_UNROLL
  for (int key = 0; key < DECODE_MMA_KEYS(width); key += 16) TDM_UNROLL
  for (int i = 0; i < width / 16; i++) {
    mma_operand v = decode_operand(place, lane, key, i * 16, true, width);
    TDM_UNROLL
    for (int word = 0; word < 4; word++) {
      const uint32_t zeros = ~v.word[word] & exponents; /* of a half: 0 for an infinity or a NaN */
      good &= (zeros & 0xffff) != 0 && zeros >> 16 != 0;
    }
  }
  return !mma_any(!good);
}

/* The same product for a stage where rows don't see all keys and V is not finite: one key after the other, for the rows that
 * see it. */
TDM_INLINE void decode_values_seen(decode_wave *w, const mma_operand p[DECODE_MOST_BLOCKS], mma_address place, int64_t first,
                                   int lane, int halves, int width, tdm_type type) {
  TDM_UNROLL
  for (int b = 0; b < DECODE_MMA_KEYS(width) / 16; b++) TDM_NO_UNROLL
  for (int key = 0; key < 16; key++) {
    const uint32_t only = lane % 4 == key % 8 / 2 ? 0xffffu << key % 2 * 16 : 0;
    TDM_UNROLL
    for (int i = 0; i < width / 16; i++) {
      mma_operand v = decode_operand(place, lane, b * 16, i * 16, true, width);
      TDM_UNROLL
      for (int word = 0; word < 4; word++) v.word[word] &= word / 2 == key / 8 ? only : 0;
      TDM_UNROLL
      for (int h = 0; h < halves; h++) {
        mma_sums *o = &w->o[h * (width / 16) + i], more = mma_multiply((mma_sums){0}, v, p[b], h, 0, type);
        TDM_UNROLL
        for (int e = 0; e < 4; e++) (*o)[e] += first + b * 16 + key < w->seen[2 * h + e % 2] ? more[e] : 0;
      }
    }
  }
}

/* All keys of a wave. While one stage is multiplied, the next one is loaded, and from its first half on the one after it. */
TDM_INLINE void decode_keys(decode_wave *w, const decode_unit *u, const decode_arrays *arrays, mma_address ring, int wave,
                            int lane, int halves, int width, tdm_type type) {
  const tdm_attention_desc *d = &u->work->d;
  const int keys = DECODE_MMA_KEYS(width), apart = DECODE_MMA_WAVES(width) * keys, stage = DECODE_STAGE(width);
  const int used = (int)d->head_dim / 8, piece = lane % (width / 8);
  const int64_t at_k = u->batch * d->k.batch + u->head_kv * d->k.head, at_v = u->batch * d->v.batch + u->head_kv * d->v.head;
  const decode_copier k = {arrays->k + at_k * 2 + (piece < used ? piece : 0) * 16, d->k.row * 2};
  const decode_copier v = {arrays->v + at_v * 2 + (piece < used ? piece : 0) * 16, d->v.row * 2};
  const float c = d->scale * 0x1.715476p+0f;
  int64_t first = u->begin + wave * keys;
  mma_address now = ring, next = ring + (mma_address)stage, free = ring + 2 * (mma_address)stage;
  decode_copy(now, &k, first, u->end, lane, used, width);
  decode_copy(next, &v, first, u->end, lane, used, width);
  decode_begin(w, u, arrays->q, lane, halves, width);
  TDM_NO_UNROLL
  for (; first < u->end; first += apart) {
    mma_sums s[DECODE_MOST_BLOCKS][2];
    mma_operand p[DECODE_MOST_BLOCKS];
    mma_wait_but_one();
    mma_sync_wave(); /* K has arrived; nobody reads the V before it any more */
    decode_copy(free, &k, first + apart, u->end, lane, used, width);
    decode_scores(w, s, now, lane, halves, width, type);
    decode_softmax(w, s, first, u->end, u->open, c, lane, halves, width);
    decode_weights(p, s, halves, width, type);
    mma_wait_but_one();
    mma_sync_wave(); /* V has arrived; nobody reads K any more */
    decode_copy(now, &v, first + apart, u->end, lane, used, width);
    if (u->open < u->end && first + keys > u->open && !decode_finite(next, lane, width, type))
      decode_values_seen(w, p, next, first, lane, halves, width, type);
    else
      decode_values(w, p, next, lane, halves, width, type);
    mma_address old = now;
    now = free, free = next, next = old;
  }
  mma_wait_all();
}

/* The wave's results, in team memory. */
TDM_INLINE void decode_put(decode_wave *w, float *to, int lane, int halves, int width) {
  const int pitch = decode_pitch(width);
  TDM_UNROLL
  for (int h = 0; h < halves; h++) TDM_UNROLL
  for (int r = 0; r < 2; r++) {
    float *row = to + (h * 8 + lane % 4 * 2 + r) * pitch, sum = w->sum[2 * h + r];
    TDM_UNROLL
    for (int distance = 4; distance <= 16; distance *= 2) sum += tdm_lane_xor(sum, distance);
    TDM_UNROLL
    for (int i = 0; i < width / 16; i++) TDM_UNROLL
    for (int e = 0; e < 2; e++) row[i * 16 + e * 8 + lane / 4] = w->o[h * (width / 16) + i][2 * e + r];
    if (lane / 4 == 0) row[width] = w->max[2 * h + r], row[width + 1] = sum;
  }
}

/* A team's part of the launch. */
TDM_INLINE void decode_mma_team(const decode_work *work, decode_cut cut, const decode_arrays *arrays, char *memory,
                                float *slots, uint32_t *counters, decode_output out, tdm_position self, int halves, int width,
                                tdm_type type) {
  const int wave = self.thread / 32, lane = self.thread % 32;
  const decode_unit u = decode_unit_of(work, cut, self.team);
  decode_wave w;
  decode_keys(&w, &u, arrays, mma_address_of(memory) + (mma_address)(wave * DECODE_RING(width)), wave, lane, halves, width,
              type);
  TDM_SYNC_BLOCK(); /* nobody reads K and V any more */
  float *results = (float *)memory;
  decode_put(&w, results + wave * 8 * halves * decode_pitch(width), lane, halves, width);
  TDM_SYNC_BLOCK();
  decode_end(&u, results, slots, counters, out, self, DECODE_MMA_WAVES(width), 8 * halves, width, true, type);
}

#endif
