/* The second pass of decode: adds the key splits of each row, in their order. A wave has up to 64 columns of a row of O, one in
 * each lane. Its lanes also have the numbers of up to 64 splits at a time. */
#include "hip/device/buffer.h"
#include "work.h"

enum { TOGETHER = 16 }; /* loads of a lane that are on their way at once: one after the other would take a latency each */

DEVICE float of_lane(float x, uint32_t lane) {
  return __builtin_bit_cast(float, __builtin_amdgcn_readlane(__builtin_bit_cast(int, x), (int)lane));
}

/* Of the first `count` lanes, in all lanes. */
DEVICE float largest_of_lanes(float x, uint32_t count) {
  for (uint32_t mask = 1; mask < WAVE && mask < count; mask *= 2) x = __builtin_fmaxf(x, of_other_lane(x, (int)mask));
  return of_lane(x, 0);
}
DEVICE float sum_of_lanes(float x, uint32_t count) {
  for (uint32_t mask = 1; mask < WAVE && mask < count; mask *= 2) x += of_other_lane(x, (int)mask);
  return of_lane(x, 0);
}

/* Of TOGETHER splits from `from` on, or of half of them if there are no more; 0 after the last one, because it is outside of
 * the buffer. */
DEVICE void load_parts(float part[TOGETHER], buffer o, uint32_t from, uint32_t splits, uint32_t step, uint32_t offset) {
#pragma unroll
  for (uint32_t n = 0; n < TOGETHER; n++) {
    if (n == TOGETHER / 2 && from + n >= splits) break;
    part[n] = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(o, (int)(offset + (from + n) * step), 0, 0));
  }
}

/* The grid has a row of workgroups for each unit, so nothing is divided before the loads. All parts have less than 2^32
 * bytes: at most MOST_ROUNDS workgroups of 128 rows for each compute unit (clocks.c). */
DEVICE void parts_body(const attention_args *a, tdm_type type) {
  typedef float f32x2 __attribute__((ext_vector_type(2)));
  const uint32_t head_dim = (uint32_t)a->head_dim, rows = rows_of_part(a, a->block_rows), splits = a->splits;
  const uint32_t one = (uint32_t)__builtin_amdgcn_workgroup_id_y(), waves = PARTS_WAVES(head_dim),
                 lane = (uint32_t)lane_index();
  const uint32_t unit = __builtin_amdgcn_workgroup_id_x() * (PARTS_THREADS / WAVE) + (uint32_t)wave_index();
  const uint32_t row = unit / waves, column = unit % waves * WAVE + lane, step = rows * head_dim * (uint32_t)sizeof(float);
  if (one * splits >= a->count) return;
  const part_place place = place_of(a, one, 0, a->block_rows);
  if (row >= rows_of_block(a, place.first, a->block_rows)) return;
  buffer o = make_short_buffer((const char *)a->parts + one * splits * step, splits * step);
  buffer numbers = make_short_buffer((const char *)a->parts + a->count * step + one * splits * rows * sizeof(f32x2),
                                     splits * rows * (uint32_t)sizeof(f32x2));
  float next[TOGETHER], sum = 0, x = 0, factor = 0;
  const uint32_t of_split = rows * (uint32_t)sizeof(f32x2), first = row * (uint32_t)sizeof(f32x2) + lane * of_split;
  f32x2 own = __builtin_bit_cast(f32x2, __builtin_amdgcn_raw_buffer_load_b64(numbers, (int)first, 0, 0));
  const uint32_t offset = (row * head_dim + column) * (uint32_t)sizeof(float);
  load_parts(next, o, 0, splits, step, offset);
  float reference = lane < splits ? own.x : -__builtin_inff();
  for (uint32_t i = WAVE; i < splits; i += WAVE) {
    float other = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(numbers, (int)(first + i * of_split), 0, 0));
    reference = i + lane < splits ? __builtin_fmaxf(reference, other) : reference;
  }
  reference = largest_of_lanes(reference, splits);
  for (uint32_t i = 0; i < splits; i += TOGETHER) {
    float part[TOGETHER];
#pragma unroll
    for (uint32_t n = 0; n < TOGETHER; n++) part[n] = next[n];
    if (i + TOGETHER < splits) load_parts(next, o, i + TOGETHER, splits, step, offset);
    if (i % WAVE == 0) { /* the numbers of the next splits; 0 after the last one */
      if (i > 0)
        own = __builtin_bit_cast(f32x2, __builtin_amdgcn_raw_buffer_load_b64(numbers, (int)(first + i * of_split), 0, 0));
      factor = reference == -__builtin_inff() ? 1 : __builtin_amdgcn_exp2f(own.x - reference);
      factor = i + lane < splits ? factor : 0;
      sum += factor * own.y;
    }
#pragma unroll
    for (uint32_t n = 0; n < TOGETHER; n++) {
      if (n == TOGETHER / 2 && i + n >= splits) break;
      x += of_lane(factor, (i + n) % WAVE) * part[n];
    }
  }
  sum = sum_of_lanes(sum, splits);
  if (column >= head_dim) return;
  const row_in_group at = find_row(a, place.first + row);
  const uint32_t batch = quotient(place.kv, a->of_heads_kv), query = at.query;
  const uint32_t head = (place.kv - batch * (uint32_t)a->heads_kv) * (uint32_t)a->group + at.head;
  bool any = !a->causal || query + a->skv >= a->sq;
  int64_t to = batch * a->o_stride.batch + head * a->o_stride.head + query * a->o_stride.row + column;
  store_element(a->o, to, any ? x / sum : 0, type);
  if (a->lse != nullptr && column == 0) a->lse[(batch * a->heads_q + head) * a->sq + query] = log_sum(reference, sum);
}

#define PARTS_KERNEL(name, type) \
  KERNEL WORKGROUP(PARTS_THREADS, 8) void name(attention_args a) { parts_body(&a, type); }
PARTS_KERNEL(parts_f32, TDM_F32)
PARTS_KERNEL(parts_f16, TDM_F16)
PARTS_KERNEL(parts_bf16, TDM_BF16)
