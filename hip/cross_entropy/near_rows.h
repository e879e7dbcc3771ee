/* cross_entropy of short rows without gaps between them. A wave loads the rows of a turn as one range, so that each cache line
 * is asked for once: loads on their way occupy whole lines of the vL1D, and a row of 94 bf16 is 1.5 lines long, but lies in
 * 2.5 of them, and its single elements in one more. The rows go through LDS, from where each work-item of a row group reads
 * dwords; so no more than one step of a row has idle lanes, whatever its length. */
#ifndef TANDEM_HIP_CROSS_ENTROPY_NEAR_ROWS_H
#define TANDEM_HIP_CROSS_ENTROPY_NEAR_ROWS_H

#include "args.h"
#include "hip/device/buffer.h"
#include "hip/device/softmax.h"

enum {
  NEAR_LOADS_MOST = HIP_NEAR_BYTES / (WAVE * 16),
  NEAR_SIMD_WAVES = CHIP_LDS_BANKS == 64 ? 6 : 3 /* gfx942 has LDS for 3 */
};
/* A wave's LDS: what it loads, and a dword of -infinity. */
DEVICE constexpr uint32_t near_nothing(int loads) { return (uint32_t)loads * WAVE * 4; }

/* What a work-item reads of the row of its group, in dwords of LDS: `first` and others 2^log2 apart, and a last one. That may
 * be half a dword of the row, at its beginning or its end; the other half becomes -infinity. All are the same in each turn,
 * because turns have an even number of rows, or all rows begin at dwords. */
typedef struct near_place {
  uint32_t first, last, keep, add;
  uint32_t begin; /* of the row, in bytes */
} near_place;

DEVICE near_place place_near(int cols, row_group_t g, int steps, int loads, tdm_type type) {
  const int begin = g.sub * cols * tdm_bytes(type), end = begin + cols * tdm_bytes(type);
  const int from = (begin + 3) / 4, to = end / 4, last = from + g.lane + ((steps - 1) << g.log2);
  const uint32_t fill = minus_infinity(type);
  near_place place = {(uint32_t)(from + g.lane), near_nothing(loads), ~0u, 0, (uint32_t)begin};
  if (last < to) place.last = (uint32_t)last;
  if (type == TDM_F32 || last != to || (cols & 1) == 0) return place;
  const bool before = (begin & 2) != 0; /* the row has the upper half of the dword before `from`, else the lower one of `to` */
  place.last = (uint32_t)(before ? from - 1 : to);
  place.keep = before ? 0xffff0000u : 0x0000ffffu;
  place.add = fill & ~place.keep;
  return place;
}

DEVICE float largest_in(uint32_t word, float max, tdm_type type) {
  if (type == TDM_F32) return larger_of(float_of(word), max);
  const f32x2 x = pair_of(word, type);
  return largest(x.x, x.y, max);
}

DEVICE f32x2 exponentials_in(uint32_t word, float max, tdm_type type) {
  if (type == TDM_F32) return (f32x2){exponential_of(float_of(word) - max), 0};
  return exponentials_of(pair_of(word, type) - (f32x2)max, type);
}

/* Calls f with the reads of a row but its last one, four at once, and then two and one: each time the wave waits for LDS. */
template <typename function>
DEVICE void for_reads(const uint32_t *at, int reads, uint32_t stride, function f) {
  enum { AT_ONCE = 4 };
#pragma unroll 1
  for (; reads >= AT_ONCE; reads -= AT_ONCE, at += AT_ONCE * stride) f(at, AT_ONCE);
  if ((reads & 2) != 0) f(at, 2), at += 2 * stride;
  if ((reads & 1) != 0) f(at, 1);
}

/* Of a row in LDS. */
DEVICE row_sum_t sum_near(const uint32_t *rows, const near_place *place, int steps, row_group_t g, tdm_type type) {
  const uint32_t last = (rows[place->last] & place->keep) | place->add, stride = 1u << g.log2;
  float max = largest_in(last, LEAST_FLOAT, type);
  for_reads(rows + place->first, steps - 1, stride, [&](const uint32_t *at, uint32_t count) {
#pragma unroll
    for (uint32_t k = 0; k < count; k++) max = largest_in(at[k * stride], max, type);
  });
  max = lanes_reduce<float>(max, g.log2, max, larger_of);
  f32x2 sum = exponentials_in(last, max, type);
  for_reads(rows + place->first, steps - 1, stride, [&](const uint32_t *at, uint32_t count) {
#pragma unroll
    for (uint32_t k = 0; k < count; k++) sum += exponentials_in(at[k * stride], max, type);
  });
  return (row_sum_t){max, lanes_reduce<float>(sum.x + sum.y, g.log2, 0, sum_of)};
}

/* The rows of a turn: those from `row` to below `end`, as many as the wave's row groups. Lanes after them load nothing. */
DEVICE void load_near(const cross_entropy_args *p, u32x4 *raw, int64_t row, int64_t end, row_group_t g, int loads,
                      tdm_type type) {
  const int64_t bytes = p->groups.cols * tdm_bytes(type), left = end - row, most = WAVE >> g.log2;
  const buffer from = make_buffer((const char *)p->logits + row * bytes, (left < most ? left : most) * bytes);
#pragma unroll
  for (uint32_t n = 0; n < (uint32_t)loads; n++) raw[n] = buffer_load(from, (uint32_t)lane_index() * 16 + n * WAVE * 16);
}

/* Writes them to LDS. The last element of all rows may be half a dword, which a buffer does not have. */
DEVICE void stage_near(const cross_entropy_args *p, uint32_t *rows, const u32x4 *raw, int64_t row, row_group_t g, int loads,
                       tdm_type type) {
#pragma unroll
  for (uint32_t n = 0; n < (uint32_t)loads; n++) *(u32x4 *)(rows + (n * WAVE + (uint32_t)lane_index()) * 4) = raw[n];
  const int64_t left = p->groups.rows - row;
  if (type == TDM_F32 || left > WAVE >> g.log2 || ((left * p->groups.cols) & 1) == 0) return;
  const int last = (int)(left * p->groups.cols) - 1;
  if (lane_index() == 0) rows[last / 2] = load_single((const char *)p->logits + (row * p->groups.cols + last) * 2, type);
}

/* One element in LDS. */
DEVICE float near_element(const uint32_t *rows, uint32_t byte, tdm_type type) {
  const uint32_t word = rows[byte / 4];
  return type == TDM_F32 ? float_of(word) : single_of((byte & 2) != 0 ? word >> 16 : word & 0xffff, type);
}

/* Of each lane the x of lane `from`. */
DEVICE int lane_of(int x, int from) { return __builtin_amdgcn_ds_bpermute(from * 4, x); }

#endif
