/* Sums of exponentials relative to a maximum (Milakov and Gimelshein, arXiv 1805.02867), for softmax and cross_entropy. */
#ifndef TANDEM_HIP_DEVICE_SOFTMAX_H
#define TANDEM_HIP_DEVICE_SOFTMAX_H

#include "row_groups.h"
#include "row_math.h"

typedef struct row_sum {
  float max, sum; /* of exp(x - max) */
} row_sum_t;

/* Every maximum begins here, and not at -infinity, whose differences are NaN. So a row of -infinity has the sum 0. */
#define LEAST_FLOAT (-0x1.fffffep127f)
#define LOG2_E 0x1.715476p+0f

/* -infinity in both halves of a 16-bit type: what is not in the row. Its exponential is 0, so nothing else needs a mask. */
DEVICE constexpr uint32_t minus_infinity(tdm_type type) {
  return type == TDM_F32 ? 0xff800000u : type == TDM_F16 ? 0xfc00fc00u : 0xff80ff80u;
}

/* One instruction, and without the two that would make signalling NaN quiet. A NaN may get lost: the sum has it. */
DEVICE float largest(float a, float b, float c) {
  float x;
  asm("v_max3_f32 %0, %1, %2, %3" : "=v"(x) : "v"(a), "v"(b), "v"(c));
  return x;
}
DEVICE float larger_of(float a, float b) {
  float x;
  asm("v_max_f32 %0, %1, %2" : "=v"(x) : "v"(a), "v"(b));
  return x;
}

DEVICE float largest_of(const chunk *x, float max, tdm_type type) {
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) max = largest(x->of[i].x, x->of[i].y, max);
  return max;
}

/* e^d for d <= 0, or NaN. The argument of v_exp_f32, which is to base 2, is rounded once; f32 elements, whose differences are
 * rounded too, also get the rest of log2(e), which is 0.2 units of the last place. */
DEVICE f32x2 exponentials_of(f32x2 d, tdm_type type) {
  f32x2 p = type == TDM_F32 ? __builtin_elementwise_fma(d, (f32x2)LOG2_E, d * 0x1.4ae0bep-26f) : d * LOG2_E;
  return (f32x2){__builtin_amdgcn_exp2f(p.x), __builtin_amdgcn_exp2f(p.y)};
}
DEVICE float exponential_of(float d) { return __builtin_amdgcn_exp2f(__builtin_fmaf(d, LOG2_E, d * 0x1.4ae0bep-26f)); }

/* x becomes exp(x - max). Returns the sums of the even and of the odd elements. */
DEVICE f32x2 exponentials(chunk *x, float max, tdm_type type) {
  f32x2 sum = 0;
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) {
    x->of[i] = exponentials_of(x->of[i] - (f32x2)max, type);
    sum += x->of[i];
  }
  return sum;
}

typedef f32x2 row_slots[2][ROW_WAVES_MOST];

/* Of the maxima and sums of a group's waves, those of the row. */
DEVICE row_sum_t row_of_waves(row_sum_t wave, row_group_t g, row_slots *slots, int *turn) {
  if (g.waves == 1) return wave;
  f32x2 *set = (*slots)[*turn];
  *turn ^= 1;
  if (lane_index() == 0) set[wave_index()] = (f32x2){wave.max, wave.sum};
  sync_lds();
  f32x2 one = set[g.slot + (lane_index() & (g.waves - 1))];
  float max = lanes_reduce<float>(one.x, g.log2 - 6, one.x, larger_of);
  return (row_sum_t){max, lanes_reduce<float>(one.y * exponential_of(one.x - max), g.log2 - 6, 0, sum_of)};
}

enum { BATCH_MOST = 4 };

/* Elements that are counted in 32 bits, which the scalar unit compares: a multiple of all chunks that a row group loads at
 * once. */
enum { SEGMENT = 1 << 27 };

/* Adds a part of a row: the chunks from `at`, this work-item's first one, to below `end` elements later. The row has `left`
 * from there on, or FAR of more. first: the row begins here. */
DEVICE void sum_segment(row_sum_t *mine, const char *at, int end, int left, bool first, row_place place, row_group_t g,
                        int batch, bool any, tdm_type type) {
  const int step = chunk_length(type) << g.log2, step_bytes = 16 << g.log2;
  const bool all_here = !any && wave_all(place.own < FAR);
  for (int before = 0; before < end; before += batch * step, at += batch * step_bytes) {
    raw_chunk raw[BATCH_MOST];
    chunk x;
    float max = mine->max;
    if (all_here && before + batch * step <= end) {
#pragma unroll
      for (int k = 0; k < batch; k++) raw[k] = load_words(at + k * step_bytes);
    } else {
#pragma unroll
      for (int k = 0; k < batch; k++) {
        raw[k] = raw_fill(minus_infinity(type));
        chunk_part of = {k == 0 && first && before == 0 ? -place.own : -1, left - before - k * step - place.own};
        if (k == 0 || before + k * step < end) raw[k] = load_part(at + k * step_bytes, of, minus_infinity(type), any, type);
      }
    }
#pragma unroll
    for (int k = 0; k < batch; k++) {
      x = chunk_of(raw[k], type);
      max = largest_of(&x, max, type);
    }
    f32x2 sum = 0;
#pragma unroll
    for (int k = 0; k < batch; k++) {
      x = chunk_of(raw[k], type);
      sum += exponentials(&x, max, type);
    }
    mine->sum = mine->sum * exponential_of(mine->max - max) + (sum.x + sum.y);
    mine->max = max;
  }
}

/* The largest element and the sum of a whole row, which is read once. at: of row_at. A work-item adds relative to the largest
 * element that it has met. It loads `batch` chunks at once: one rescaling for all, and more bytes on their way. */
DEVICE row_sum_t sum_row(const char *at, int64_t cols, row_place place, row_group_t g, row_slots *slots, int *turn, int batch,
                         bool any, tdm_type type) {
  row_sum_t mine = {LEAST_FLOAT, 0};
  at -= place.skew * 2;
  /* Where chunks begin before the row, one more may be needed. */
  for (int64_t before = 0; before < cols + any; before += SEGMENT, at += SEGMENT * (int64_t)tdm_bytes(type)) {
    int64_t end = cols + any - before, left = cols - before;
    sum_segment(&mine, at, (int)(end < SEGMENT ? end : SEGMENT), (int)(left < FAR ? left : FAR), before == 0, place, g, batch,
                any, type);
  }
  float max = lanes_reduce<float>(mine.max, g.log2, mine.max, larger_of);
  row_sum_t wave = {max, lanes_reduce<float>(mine.sum * exponential_of(mine.max - max), g.log2, 0, sum_of)};
  return row_of_waves(wave, g, slots, turn);
}

#endif
