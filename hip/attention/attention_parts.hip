/* The second pass of decode: adds the key splits of each row, in their order. A wave has up to 64 columns of a row of O, one in
 * each lane. Its lanes also have the numbers of up to 64 splits at a time. Where there are many splits, several waves share
 * those of a row, and add their sums through LDS. */
#include "hip/device/buffer.h"
#include "hip/device/lanes.h"
#include "hip/device/wait.h"
#include "work.h"

/* Loads of a lane that are on their way at once: one after the other would take a latency each. */
enum { TOGETHER = PARTS_AT_ONCE };
enum { ALL_LANES = 6 }; /* log2 */
DEVICE float largest_of_lanes(float x) { return lanes_reduce<float>(x, ALL_LANES, -__builtin_inff(), larger_of); }
DEVICE float sum_of_lanes(float x) { return lanes_reduce<float>(x, ALL_LANES, 0, sum_of); }

/* Of TOGETHER splits from `from` on, or of half of them if there are no more; 0 after the last one, because it is outside of
 * the buffer. */
DEVICE void load_parts(float part[TOGETHER], buffer o, uint32_t from, uint32_t splits, uint32_t step, uint32_t offset) {
#pragma unroll
  for (uint32_t n = 0; n < TOGETHER; n++) {
    if (n == TOGETHER / 2 && from + n >= splits) break;
    part[n] = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(o, (int)(offset + (from + n) * step), 0, 0));
  }
}

/* What a wave has added: in each lane a column, relative to 2 to `reference`, and the sum of the probabilities. */
typedef struct wave_parts {
  float x, sum, reference;
} wave_parts;

DEVICE float factor_of(float own, float reference) {
  return reference == -__builtin_inff() ? 1 : __builtin_amdgcn_exp2f(own - reference);
}

/* Splits from `from` to `end`. at: of the lane's column of the row, and of the row's numbers, in bytes. of_split: of the
 * numbers. */
DEVICE wave_parts add_splits(buffer o, buffer numbers, uint32_t from, uint32_t end, uint32_t step, uint32_t of_split,
                             uint32_t at_column, uint32_t at_numbers) {
  const uint32_t lane = (uint32_t)lane_index(), first = at_numbers + (from + lane) * of_split;
  const uint32_t count = end > from ? end - from : 0;
  float next[TOGETHER], factor = 0;
  f32x2 own = __builtin_bit_cast(f32x2, __builtin_amdgcn_raw_buffer_load_b64(numbers, (int)first, 0, 0));
  load_parts(next, o, from, end, step, at_column);
  wave_parts w = {0, 0, lane < count ? own.x : -__builtin_inff()};
  for (uint32_t i = WAVE; i < count; i += WAVE) {
    float other = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(numbers, (int)(first + i * of_split), 0, 0));
    w.reference = i + lane < count ? __builtin_fmaxf(w.reference, other) : w.reference;
  }
  w.reference = largest_of_lanes(w.reference);
  for (uint32_t i = 0; i < count; i += TOGETHER) {
    float part[TOGETHER];
#pragma unroll
    for (uint32_t n = 0; n < TOGETHER; n++) part[n] = next[n];
    if (i + TOGETHER < count) load_parts(next, o, from + i + TOGETHER, end, step, at_column);
    if (i % WAVE == 0) { /* the numbers of the next splits; 0 after the last one */
      if (i > 0)
        own = __builtin_bit_cast(f32x2, __builtin_amdgcn_raw_buffer_load_b64(numbers, (int)(first + i * of_split), 0, 0));
      factor = i + lane < count ? factor_of(own.x, w.reference) : 0;
      w.sum += factor * own.y;
    }
#pragma unroll
    for (uint32_t n = 0; n < TOGETHER; n++) {
      if (n == TOGETHER / 2 && i + n >= count) break;
      w.x += lane_value(factor, (int)((i + n) % WAVE)) * part[n];
    }
  }
  w.sum = sum_of_lanes(w.sum);
  return w;
}

/* What the waves from `first` on have added, all in LDS: `count` of them, that is MOST or half of it. */
template <uint32_t MOST>
DEVICE wave_parts add_waves(LDS f32x2 *numbers, LDS float *columns, uint32_t first, uint32_t count) {
  const uint32_t lane = (uint32_t)lane_index();
  const f32x2 own = numbers[first + (lane < count ? lane : 0)];
  float part[MOST];
#pragma unroll
  for (uint32_t n = 0; n < MOST; n++) {
    if (n == MOST / 2 && n >= count) break;
    part[n] = columns[(first + n) * WAVE + lane];
  }
  wave_parts w = {0, 0, largest_of_lanes(own.x)};
  const float factor = factor_of(own.x, w.reference);
  w.sum = sum_of_lanes(lane < count ? factor * own.y : 0);
#pragma unroll
  for (uint32_t n = 0; n < MOST; n++) {
    if (n == MOST / 2 && n >= count) break;
    w.x += lane_value(factor, (int)n) * part[n];
  }
  return w;
}

/* The grid has a row of workgroups for each unit, so nothing is divided before the loads. All parts have less than 2^32
 * bytes: at most MOST_ROUNDS workgroups of 128 rows for each compute unit (clocks.c). */
template <int THREADS>
DEVICE void parts_body(const attention_args *a, tdm_type type) {
  enum { WAVES = THREADS / WAVE };
  SHARED static f32x2 numbers_of_waves[WAVES];
  SHARED static float columns_of_waves[WAVES * WAVE];
  const uint32_t head_dim = (uint32_t)a->head_dim, rows = rows_of_part(a, a->block_rows), splits = a->splits;
  const uint32_t one = (uint32_t)__builtin_amdgcn_workgroup_id_y(), waves = PARTS_WAVES(head_dim),
                 lane = (uint32_t)lane_index(), wave = (uint32_t)wave_index();
  const uint32_t bits = a->sharing_log2, share = wave & ((1u << bits) - 1);
  const uint32_t unit = (__builtin_amdgcn_workgroup_id_x() * WAVES + wave) >> bits;
  const uint32_t row = unit / waves, column = unit % waves * WAVE + lane, step = rows * head_dim * (uint32_t)sizeof(float);
  const uint32_t each = (splits + (1u << bits) - 1) >> bits, from = share * each,
                 end = from + each < splits ? from + each : splits;
  if (one * splits >= a->count) return;
  const part_place place = place_of(a, one, 0, a->block_rows);
  if (row >= rows_of_block(a, place.first, a->block_rows)) return;
  buffer o = make_short_buffer((const char *)a->parts + one * splits * step, end * step);
  buffer numbers = make_short_buffer((const char *)a->parts + a->count * step + one * splits * rows * sizeof(f32x2),
                                     end * rows * (uint32_t)sizeof(f32x2));
  wave_parts w = add_splits(o, numbers, from, end, step, rows * (uint32_t)sizeof(f32x2),
                            (row * head_dim + column) * (uint32_t)sizeof(float), row * (uint32_t)sizeof(f32x2));
  if (bits > 0) {
    LDS f32x2 *all_numbers = (LDS f32x2 *)numbers_of_waves;
    LDS float *all_columns = (LDS float *)columns_of_waves;
    all_columns[wave * WAVE + lane] = w.x;
    if (lane == 0) all_numbers[wave] = (f32x2){w.reference, w.sum};
    sync_lds();
    if (share > 0) return;
    w = add_waves<WAVES>(all_numbers, all_columns, wave, 1u << bits);
  }
  const row_in_group at = find_row(a, place.first + row);
  if (column >= head_dim || at.query >= (uint32_t)a->sq) return; /* what fills up a head's rows (work.h) */
  const uint32_t batch = quotient(place.kv, a->of_heads_kv), query = at.query;
  const uint32_t head = (place.kv - batch * (uint32_t)a->heads_kv) * (uint32_t)a->group + at.head;
  bool any = !a->causal || query + a->skv >= a->sq;
  int64_t to = batch * a->o_stride.batch + head * a->o_stride.head + query * a->o_stride.row + column;
  store_element(a->o, to, any ? w.x / w.sum : 0, type);
  if (a->lse != nullptr && column == 0) a->lse[(batch * a->heads_q + head) * a->sq + query] = log_sum(w.reference, w.sum);
}

#define PARTS_KERNEL(name, threads, type) \
  KERNEL WORKGROUP(threads, 8) void name(attention_args a) { parts_body<threads>(&a, type); }
PARTS_KERNEL(parts_f32, PARTS_THREADS, TDM_F32)
PARTS_KERNEL(parts_f16, PARTS_THREADS, TDM_F16)
PARTS_KERNEL(parts_bf16, PARTS_THREADS, TDM_BF16)
PARTS_KERNEL(many_parts_f32, MANY_PARTS_THREADS, TDM_F32)
PARTS_KERNEL(many_parts_f16, MANY_PARTS_THREADS, TDM_F16)
PARTS_KERNEL(many_parts_bf16, MANY_PARTS_THREADS, TDM_BF16)
