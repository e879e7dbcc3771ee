/* attention on Hopper's matrix units: scores to weights in registers, and the values of keys that not all rows see. */
#ifndef TANDEM_OFFLOAD_ATTENTION_WGMMA_SOFTMAX_H
#define TANDEM_OFFLOAD_ATTENTION_WGMMA_SOFTMAX_H

#include "wgmma_tile.h"

enum { ATTEND_ROW_HELD = 2 /* rows of a lane, 8 apart */ };

/* The lane's rows. max: of factor S, the same in the four lanes of a row. sum: the lane's own part. scale: what the results so
 * far are to be multiplied by. seen: keys of the head. */
typedef struct attend_rows {
  float max[ATTEND_ROW_HELD], sum[ATTEND_ROW_HELD], scale[ATTEND_ROW_HELD];
  int seen[ATTEND_ROW_HELD];
} attend_rows;

/* The lane's first row in a unit. */
TDM_INLINE int attend_row(int thread) { return thread / 32 * 16 + thread % 32 / 4; }

TDM_INLINE attend_rows attend_begin_rows(const attend_args *args, const attend_unit *u, int thread) {
  attend_rows r;
  WG_UNROLL
  for (int h = 0; h < ATTEND_ROW_HELD; h++) {
    const int row = u->row + attend_row(thread) + 8 * h;
    r.max[h] = -__builtin_inff();
    r.sum[h] = 0;
    r.scale[h] = 1;
    r.seen[h] = attend_seen(args->causal, args->sq, args->skv, row < args->sq ? row : args->sq - 1);
  }
  return r;
}

/* Scores of keys that a row does not see become -infinity. first: key of the tile. */
TDM_INLINE void attend_mask(float *s, const attend_rows *r, int first, int lane, attend_kind kind) {
  const int column = first + lane % 4 * 2;
  WG_UNROLL
  for (int g = 0; g < attend_keys(kind.head) / 8; g++) WG_UNROLL
  for (int e = 0; e < 4; e++)
    if (8 * g + column + e % 2 >= r->seen[e / 2]) s[4 * g + e] = -__builtin_inff();
}

/* Scores become weights, 2^(factor S - max). The maximum ignores a NaN, but the NaN makes the sum NaN. */
TDM_INLINE void attend_softmax(float *s, attend_rows *r, float factor, attend_kind kind) {
  const int held = attend_keys(kind.head) / 2;
  float reference[ATTEND_ROW_HELD];
  bool large = false;
  WG_UNROLL
  for (int h = 0; h < ATTEND_ROW_HELD; h++) {
    float a = wg_larger(s[2 * h], s[2 * h + 1]), b = wg_larger(s[2 * h + 4], s[2 * h + 5]); /* two chains */
    WG_UNROLL
    for (int i = 8; i < held; i += 8) {
      a = wg_larger(a, wg_larger(s[i + 2 * h], s[i + 2 * h + 1]));
      b = wg_larger(b, wg_larger(s[i + 2 * h + 4], s[i + 2 * h + 5]));
    }
    a = wg_larger(a, b);
    a = wg_larger(a, wg_lane_xor(a, 1));
    a = wg_larger(a, wg_lane_xor(a, 2));
    const float max = wg_larger(r->max[h], a * factor);
    reference[h] = max == -__builtin_inff() ? 0 : max; /* only -infinity so far: avoids inf - inf */
    r->scale[h] = wg_exp2(r->max[h] - reference[h]);
    r->max[h] = max;
    large |= !(__builtin_fabsf(reference[h]) <= 0x1p20f);
  }
  if (wg_any(large)) { /* then factor S - reference, without a rounding in between, would be far from 0 at the maximum */
    WG_UNROLL
    for (int i = 0; i < held; i++) s[i] *= factor;
    factor = 1;
  }
  WG_UNROLL
  for (int h = 0; h < ATTEND_ROW_HELD; h++) {
    float sum[2] = {0, 0};
    WG_UNROLL
    for (int i = 0; i < held; i += 4) WG_UNROLL
    for (int e = 0; e < 2; e++) {
      float *x = &s[i + 2 * h + e];
      *x = wg_exp2(__builtin_fmaf(*x, factor, -reference[h]));
      sum[e] += *x;
    }
    r->sum[h] = r->sum[h] * r->scale[h] + (sum[0] + sum[1]);
  }
}

/* The weights as operands of the next product. */
TDM_INLINE void attend_weights(uint32_t *p, const float *s, attend_kind kind) {
  WG_UNROLL
  for (int i = 0; i < attend_keys(kind.head) / 4; i++) p[i] = tdm_f32_to_two(s[2 * i], s[2 * i + 1], kind.type);
}

/* Results of the tiles before are rescaled to the new maximum. */
TDM_INLINE void attend_rescale(float *o, const attend_rows *r, attend_kind kind) {
  if (!wg_any(r->scale[0] != 1 || r->scale[1] != 1)) return;
  WG_UNROLL
  for (int i = 0; i < kind.head / 2; i++) o[i] *= r->scale[i / 2 % 2];
}

/* ---- Values that are not finite, of keys that not all rows see ----
 *
 * Their weight is 0 in rows that don't see them, but the product would be NaN. So they are taken one after the other by the
 * rows that see them, and become 0 for the product. This needs both warpgroups, because they share the values. */

typedef uint32_t attend_words __attribute__((vector_size(16), may_alias));
typedef uint32_t attend_word __attribute__((may_alias));

enum { ATTEND_ALL_BARRIER = 6 /* of both warpgroups; those before: 2 and 3 for turns, 4 and 5 for each of them */ };

/* Is one of a word's two elements infinite or NaN? */
TDM_INLINE bool attend_not_finite(uint32_t word, tdm_type type) {
  const uint32_t all = type == TDM_F16 ? 0x7c00 : 0x7f80;
  return (word & all) == all || (word >> 16 & all) == all;
}

/* Bytes from the beginning of a tile of values to two elements of a key; columns: the first one, even. */
TDM_INLINE int attend_value_at(int key, int column, attend_kind kind) {
  const int byte = column % WG_STEP * 2;
  return column / WG_STEP * attend_keys(kind.head) * WG_LINE_BYTES + key * WG_LINE_BYTES + (byte ^ (key & 7) << 4);
}

TDM_INLINE bool attend_key_finite(wg_address values, int key, int lane, attend_kind kind) {
  bool bad = false;
  WG_UNROLL
  for (int column = 0; column < attend_pieces(kind.head) * WG_STEP; column += 64)
    bad |= attend_not_finite(WG_AT(attend_word, values + attend_value_at(key, column + lane * 2, kind)), kind.type);
  return !wg_any(bad);
}

/* Adds what the rows see of the keys that are not finite. */
TDM_INLINE void attend_add_seen(float *o, const uint32_t *p, const attend_rows *r, wg_address values, int first, int lane,
                                attend_kind kind) {
  WG_UNROLL
  for (int block = 0; block < attend_keys(kind.head) / 16; block++) {
    WG_NO_UNROLL
    for (int in = 0; in < 16; in++) {
      const int key = block * 16 + in;
      if (attend_key_finite(values, key, lane, kind)) continue;
      float weight[ATTEND_ROW_HELD];
      WG_UNROLL
      for (int h = 0; h < ATTEND_ROW_HELD; h++) {
        const uint32_t word = in < 8 ? p[4 * block + h] : p[4 * block + 2 + h];
        const uint16_t element = (uint16_t)(in % 2 == 0 ? word : word >> 16);
        const float mine = kind.type == TDM_F16 ? tdm_f16_to_f32(element) : tdm_bf16_to_f32(element);
        weight[h] = wg_lane(mine, lane / 4 * 4 + in % 8 / 2);
      }
      WG_UNROLL
      for (int g = 0; g < kind.head / 8; g++) {
        const uint32_t two = WG_AT(attend_word, values + attend_value_at(key, 8 * g + lane % 4 * 2, kind));
        WG_UNROLL
        for (int e = 0; e < 4; e++) {
          const uint16_t element = (uint16_t)(e % 2 == 0 ? two : two >> 16);
          const float value = kind.type == TDM_F16 ? tdm_f16_to_f32(element) : tdm_bf16_to_f32(element);
          if (first + key < r->seen[e / 2]) o[4 * g + e] += weight[e / 2] * value;
        }
      }
    }
  }
}

/* After it all values of the tile are finite. */
TDM_INLINE void attend_take_special(float *o, const uint32_t *p, const attend_rows *r, wg_address values, int first, int thread,
                                    attend_kind kind) {
  const int keys = attend_keys(kind.head), workers = ATTEND_GROUPS * WG_THREADS, in_group = thread % WG_THREADS;
  bool bad = false;
  WG_UNROLL
  for (int i = 0; i < attend_key_bytes(kind.head); i += 16 * WG_THREADS) {
    const attend_words x = WG_AT(attend_words, values + i + in_group * 16);
    WG_UNROLL
    for (int e = 0; e < 4; e++) bad |= attend_not_finite(x[e], kind.type);
  }
  if (!wg_any_at(4 + thread / WG_THREADS, WG_THREADS, bad)) return;
  attend_add_seen(o, p, r, values, first, thread % 32, kind);
  wg_sync_at(ATTEND_ALL_BARRIER, workers);
  WG_NO_UNROLL
  for (int key = thread / 32; key < keys; key += workers / 32) {
    if (attend_key_finite(values, key, thread % 32, kind)) continue;
    WG_UNROLL
    for (int column = 0; column < attend_pieces(kind.head) * WG_STEP; column += 64)
      WG_AT(attend_word, values + attend_value_at(key, column + thread % 32 * 2, kind)) = 0;
  }
  wg_written();
  wg_sync_at(ATTEND_ALL_BARRIER, workers);
}

#endif
