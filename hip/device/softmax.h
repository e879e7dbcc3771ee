/* Sums of exponentials relative to a maximum (Milakov and Gimelshein, arXiv 1805.02867), for softmax and cross_entropy. */
#ifndef TANDEM_HIP_DEVICE_SOFTMAX_H
#define TANDEM_HIP_DEVICE_SOFTMAX_H

#include "row_math.h"
#include "row_parts.h"

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

/* The same of a dword, which has two elements of 16 bits, or one of f32. */
DEVICE float largest_in(uint32_t word, float max, tdm_type type) {
  if (type == TDM_F32) return larger_of(float_of(word), max);
  const f32x2 x = pair_of(word, type);
  return largest(x.x, x.y, max);
}

DEVICE f32x2 exponentials_in(uint32_t word, float max, tdm_type type) {
  if (type == TDM_F32) return (f32x2){exponential_of(float_of(word) - max), 0};
  return exponentials_of(pair_of(word, type) - (f32x2)max, type);
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

/* Of what each work-item of the group has, that of the row. */
DEVICE row_sum_t row_of_lanes(row_sum_t mine, row_group_t g, row_slots *slots, int *turn) {
  const float max = lanes_reduce<float>(mine.max, g.log2, mine.max, larger_of);
  const row_sum_t wave = {max, lanes_reduce<float>(mine.sum * exponential_of(mine.max - max), g.log2, 0, sum_of)};
  return row_of_waves(wave, g, slots, turn);
}

/* ---- Rows that are split over workgroups ---- */

/* Of the parts of a row, in every wave that asks. */
DEVICE row_sum_t sum_of_parts(const float *sums, int64_t row, int parts) {
  const f32x2 *of_row = (const f32x2 *)sums + row * parts;
  row_sum_t mine = {LEAST_FLOAT, 0};
  for (int i = lane_index(); i < parts; i += WAVE) {
    const f32x2 one = of_row[i];
    const float max = larger_of(mine.max, one.x);
    mine.sum = mine.sum * exponential_of(mine.max - max) + one.y * exponential_of(one.x - max);
    mine.max = max;
  }
  const float max = lanes_reduce<float>(mine.max, 6, mine.max, larger_of);
  return (row_sum_t){max, lanes_reduce<float>(mine.sum * exponential_of(mine.max - max), 6, 0, sum_of)};
}

enum { BATCH_MOST = 4 };

/* As f32, where the next batch may replace `raw`. */
DEVICE void chunks_of(chunk *x, const raw_chunk *raw, int batch, tdm_type type) {
#pragma unroll
  for (int k = 0; k < batch; k++) x[k] = chunk_of(raw[k], type);
}

DEVICE void add_batch(row_sum_t *mine, chunk *x, int batch, tdm_type type) {
  float max = mine->max;
  f32x2 sum = 0;
#pragma unroll
  for (int k = 0; k < batch; k++) max = largest_of(&x[k], max, type);
#pragma unroll
  for (int k = 0; k < batch; k++) sum += exponentials(&x[k], max, type);
  mine->sum = mine->sum * exponential_of(mine->max - max) + (sum.x + sum.y);
  mine->max = max;
}

/* Of a batch of which only the first `steps` chunks of any lane are in the row: the VALUs do not work for others. */
DEVICE void add_batch_of(row_sum_t *mine, chunk *x, int steps, int batch, tdm_type type) {
  if (batch > 3 && steps == 3) return add_batch(mine, x, 3, type);
  if (batch > 2 && steps == 2) return add_batch(mine, x, 2, type);
  if (batch > 1 && steps == 1) return add_batch(mine, x, 1, type);
  add_batch(mine, x, batch, type);
}

/* Of a single element: 0 if it is -infinity, which stands for none. */
DEVICE row_sum_t sum_of_one(float x) {
  const float max = larger_of(LEAST_FLOAT, x);
  return (row_sum_t){max, exponential_of(x - max)};
}

/* For rows of any length: adds the full batches from `first` on. Returns the number of the first one that it did not add. */
DEVICE int add_full_batches(row_sum_t *mine, const row_batches *r, int first, row_group_t g, int batch, tdm_type type) {
  raw_chunk raw[BATCH_MOST];
  if (r->whole <= first || !is_straight(r, type)) return first;
  load_batch(raw, r, first, g, batch, type);
  for (int i = first; i < r->whole; i++) {
    chunk x[BATCH_MOST];
    chunks_of(x, raw, batch, type);
    load_batch(raw, r, i + 1 < r->whole ? i + 1 : i, g, batch, type);
    add_batch(mine, x, batch, type);
  }
  return r->whole;
}

/* The largest element and the sum of a whole row, which is read once. A work-item adds relative to the largest element that it
 * has read so far, and rescales its sum once for each batch. It loads a batch ahead, so that memory works while the wave
 * computes. mine: what this work-item has of the row already. The first batch that it takes is number `from`, and the last
 * one the batch before that. Before the call `raw` has batch `from` of the row; after it, that of `next`, which has as many
 * batches. With `any`, `raw` is only memory for batches, and `next` is not used. */
DEVICE row_sum_t sum_row(row_sum_t mine, raw_chunk *raw, const row_batches *r, const row_batches *next, int from, row_group_t g,
                         row_slots *slots, int *turn, int batch, bool any, tdm_type type) {
  const int first = any ? first_straight(r, type) : 0;
  int number = from;
  for (int i = 0; i < r->count; i++) {
    chunk x[BATCH_MOST];
    if (any) {
      if (i == first) i = add_full_batches(&mine, r, first, g, batch, type);
      if (i == r->count) break;
      load_any_batch(raw, r, i, g, batch, minus_infinity(type), type);
      chunks_of(x, raw, batch, type);
    } else {
      const int after = number + 1 < r->count ? number + 1 : 0;
      const row_batches of = after == from ? *next : *r;
      chunks_of(x, raw, batch, type);
      load_batch(raw, &of, after, g, batch, type);
    }
    add_batch_of(&mine, x, any || number + 1 < r->count ? batch : r->steps, batch, type);
    number = number + 1 < r->count ? number + 1 : 0;
  }
  return row_of_lanes(mine, g, slots, turn);
}

/* What a workgroup has of a part of a row: whole chunks in batches, and single elements. Most parts are one batch. */
typedef struct loaded_part {
  row_batches batches;
  ragged_row of;
  raw_chunk raw[BATCH_MOST]; /* the first batch */
  uint32_t single;
} loaded_part;

/* Loads the first batch. at: where the part begins. cols: its elements, or those of them that the row sees. */
DEVICE loaded_part load_first_of_part(const char *at, int64_t cols, row_group_t g, tdm_type type) {
  const void *elsewhere = nothing_compared(type);
  loaded_part p;
  p.of = ragged_of(at, (int)cols, true, g, type);
  p.batches = batches_of_ragged(&p.of, at, elsewhere, cols, g, BATCH_MOST, type);
  p.single = load_ragged_single(&p.of, at, elsewhere, type);
  load_batch(p.raw, &p.batches, 0, g, BATCH_MOST, type);
  return p;
}

/* The largest element and the sum of a part, which may be of one that the row does not see. */
DEVICE row_sum_t sum_of_part(loaded_part *p, row_group_t g, row_slots *slots, tdm_type type) {
  keep_order(); /* before a wait for the single element */
  row_sum_t mine = sum_of_one(single_of(p->single, type));
  chunk x[BATCH_MOST];
  int turn = 0, i = 0;
  for (; i + 1 < p->batches.count; i++) {
    chunks_of(x, p->raw, BATCH_MOST, type);
    load_batch(p->raw, &p->batches, i + 1, g, BATCH_MOST, type);
    add_batch(&mine, x, BATCH_MOST, type);
  }
  chunks_of(x, p->raw, BATCH_MOST, type);
  add_batch_of(&mine, x, p->batches.steps, BATCH_MOST, type);
  return row_of_lanes(mine, g, slots, &turn);
}

DEVICE void store_part_sum(float *sums, row_sum_t s) {
  if (thread_index() == 0) ((f32x2 *)sums)[__builtin_amdgcn_workgroup_id_x()] = (f32x2){s.max, s.sum};
}

#endif
