/* The second pass of decode: adds the key splits of each row, in their order. A wave has up to 64 columns of a row of O, one in
 * each lane. Its lanes also have the numbers of up to 64 splits at a time. */
#include "work.h"

enum { TOGETHER = 8 }; /* loads of a lane that are on their way at once: one after the other would take a latency each */

DEVICE float of_lane(float x, uint32_t lane) {
  return __builtin_bit_cast(float, __builtin_amdgcn_readlane(__builtin_bit_cast(int, x), (int)lane));
}

DEVICE float of_other_lane(float x, int mask) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane_index() ^ mask) * 4, __builtin_bit_cast(int, x)));
}
DEVICE float largest_of_lanes(float x) {
#pragma unroll
  for (int mask = 1; mask < WAVE; mask *= 2) x = __builtin_fmaxf(x, of_other_lane(x, mask));
  return x;
}
DEVICE float sum_of_lanes(float x) {
#pragma unroll
  for (int mask = 1; mask < WAVE; mask *= 2) x += of_other_lane(x, mask);
  return x;
}

/* There are parts only if the heads of keys are fewer than the compute units, so all numbers have 32 bits. */
DEVICE void parts_body(const attention_args *a, tdm_type type) {
  const uint32_t head_dim = (uint32_t)a->head_dim, sq = (uint32_t)a->sq, heads_q = (uint32_t)a->heads_q;
  const uint32_t group = (uint32_t)a->group, of_row = (head_dim - 1) / WAVE + 1; /* waves of a row */
  uint32_t unit = __builtin_amdgcn_workgroup_id_x() * (PARTS_THREADS / WAVE) + (uint32_t)wave_index();
  uint32_t row = unit / of_row, column = unit % of_row * WAVE + (uint32_t)lane_index(); /* row of [batch, heads_q, sq] */
  uint32_t head = row / sq, query = row % sq, batch = head / heads_q, rows = group * sq;
  if (batch * (uint32_t)a->heads_kv * a->splits >= a->count) return;
  uint32_t first = head / group * a->splits, of_group = head % group * sq + query;
  const float *o = part_results(a, first) + of_group * head_dim + (column < head_dim ? column : head_dim - 1);
  const float *numbers = part_numbers(a, first) + of_group * 2;
  const uint32_t lane = (uint32_t)lane_index(), splits = a->splits;
  float reference = -__builtin_inff(), sum = 0, x = 0, factor = 0;
  for (uint32_t i = lane; i < splits; i += WAVE) reference = __builtin_fmaxf(reference, numbers[i * rows * 2]);
  reference = largest_of_lanes(reference);
  for (uint32_t i = 0; i < splits; i += TOGETHER) {
    float part[TOGETHER];
#pragma unroll
    for (uint32_t n = 0; n < TOGETHER; n++) part[n] = o[(i + n < splits ? i + n : splits - 1) * rows * head_dim];
    if (i % WAVE == 0) { /* the numbers of the next splits; 0 after the last one */
      uint32_t own = i + lane < splits ? i + lane : splits - 1;
      factor = reference == -__builtin_inff() ? 1 : __builtin_amdgcn_exp2f(numbers[own * rows * 2] - reference);
      factor = i + lane < splits ? factor : 0;
      sum += factor * numbers[own * rows * 2 + 1];
    }
#pragma unroll
    for (uint32_t n = 0; n < TOGETHER; n++)
      if (i + n < splits) x += of_lane(factor, (i + n) % WAVE) * part[n];
  }
  sum = sum_of_lanes(sum);
  if (column >= head_dim) return;
  bool any = !a->causal || query + a->skv >= a->sq;
  int64_t to = batch * a->o_stride.batch + head % heads_q * a->o_stride.head + query * a->o_stride.row + column;
  store_element(a->o, to, any ? x / sum : 0, type);
  if (a->lse != nullptr && column == 0) a->lse[row] = log_sum(reference, sum);
}

#define PARTS_KERNEL(name, type) \
  KERNEL WORKGROUP(PARTS_THREADS, 8) void name(attention_args a) { parts_body(&a, type); }
PARTS_KERNEL(parts_f32, TDM_F32)
PARTS_KERNEL(parts_f16, TDM_F16)
PARTS_KERNEL(parts_bf16, TDM_BF16)
