// softmax of rows. A row that fits into a row group's registers is read once; a longer one twice, and so
// are those that are not whole chunks of 16 bytes.
#include "args.h"
#include "hip/device/softmax.h"

// The number of columns that a row sees, where causal.
DEVICE int64_t columns_seen(const softmax_args *p, int64_t row) {
  int64_t cols = p->groups.cols;
  // Below 2^52 the quotient is wrong by 1 at most. A division of integers would take 40 registers.
  int64_t within = row - (int64_t)((double)row * p->per_causal_row) * p->causal_rows;
  within += within < 0 ? p->causal_rows : within >= p->causal_rows ? -p->causal_rows : 0;
  int64_t seen = within + 1 - p->causal_rows + cols;
  return seen < 0 ? 0 : seen < cols ? seen : cols;
}

// Writes a chunk of y. What a causal row does not see becomes 0, and not x times 0, which may be NaN.
DEVICE void store_scaled(char *at, chunk x, float scale, int seen, bool causal, chunk_part of, bool any, tdm_type type) {
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) x.of[i] *= (f32x2)scale;
  if (causal && !wave_all(seen >= chunk_length(type))) {
#pragma unroll
    for (int i = 0; i < chunk_pairs(type); i++)
      x.of[i] = (f32x2){2 * i < seen ? x.of[i].x : 0, 2 * i + 1 < seen ? x.of[i].y : 0};
  }
  store_part(at, of, raw_of(x, false, type), any, type);
}

// `kept` chunks in each work-item: chunk k of work-item l is the row's chunk k * size + l.
DEVICE void softmax_registers(const softmax_args *p, row_slots *slots, int kept, tdm_type type) {
  row_group_t group = row_group_of(&p->groups);
  const int cols = (int)p->groups.cols, step = chunk_length(type) << group.log2, step_bytes = 16 << group.log2;
  int turn = 0;
  FOR_ROWS(row, &p->groups, group) {
    const char *from = row_at(p->x, p->ldx, row, group, type);
    row_place place = place_row(&p->groups, row, from, group, false, type);
    raw_chunk raw[HIP_KEPT_ELEMENTS / 4];
    chunk x[HIP_KEPT_ELEMENTS / 4];
    float max = LEAST_FLOAT;
    f32x2 sum = 0;
#pragma unroll
    for (int k = 0; k < kept; k++)
      raw[k] = load_part(from + k * step_bytes, part_of(k * step, cols, place), minus_infinity(type), false, type);
#pragma unroll
    for (int k = 0; k < kept; k++) {
      x[k] = chunk_of(raw[k], type);
      max = largest_of(&x[k], max, type);
    }
    max = lanes_reduce<float>(max, group.log2, max, larger_of);
#pragma unroll
    for (int k = 0; k < kept; k++) sum += exponentials(&x[k], max, type);
    row_sum_t wave = {max, lanes_reduce<float>(sum.x + sum.y, group.log2, 0, sum_of)};
    row_sum_t all = row_of_waves(wave, group, slots, &turn);
    float scale = reciprocal(all.sum);
    if (group.waves > 1) scale *= exponential_of(max - all.max);
    char *to = (char *)row_at(p->y, p->ldy, row, group, type);
#pragma unroll
    for (int k = 0; k < kept; k++) {
      place.own = in_order(place.own);  // else the masks of the loads stay in registers until here
      store_scaled(to + k * step_bytes, x[k], scale, 0, false, part_of(k * step, cols, place), false, type);
    }
  }
}

DEVICE void softmax_loop(const softmax_args *p, row_slots *slots, int batch, bool any, tdm_type type) {
  row_group_t group = row_group_of(&p->groups);
  const int64_t cols = p->groups.cols, step = (int64_t)chunk_length(type) << group.log2, step_bytes = 16LL << group.log2;
  const bool causal = any && p->causal_rows != 0;
  int turn = 0;
  FOR_ROWS(row, &p->groups, group) {
    char *y = (char *)row_at(p->y, p->ldy, row, group, type);
    row_place place = place_row(&p->groups, row, y, group, any, type);
    const char *from = row_at(p->x, p->ldx, row, group, type);
    int64_t seen = causal ? columns_seen(p, row + group.sub) : cols;
    row_sum_t s = sum_row(from, seen, place, group, slots, &turn, batch, any, type);
    float scale = reciprocal(s.sum);
    from -= 2 * place.skew, y -= 2 * place.skew;
    for (int64_t before = 0; before < cols + any; before += step, from += step_bytes, y += step_bytes) {
      chunk_part of = part_of(before, seen, place);
      chunk x = chunk_of(load_part(from, of, minus_infinity(type), any, type), type);
      exponentials(&x, s.max, type);
      store_scaled(y, x, scale, of.left, causal, part_of(before, cols, place), any, type);
    }
  }
}

#define SOFTMAX(name, waves, body, ...)          \
  ROWS_KERNEL(waves) void name(softmax_args p) { \
    SHARED static row_slots slots;               \
    body(&p, &slots, __VA_ARGS__);               \
  }
#define OF_16_BITS(word, type)                                  \
  SOFTMAX(softmax_1_##word, 8, softmax_registers, 1, type)      \
  SOFTMAX(softmax_2_##word, 8, softmax_registers, 2, type)      \
  SOFTMAX(softmax_4_##word, 5, softmax_registers, 4, type)      \
  SOFTMAX(softmax_loop_##word, 5, softmax_loop, 4, false, type) \
  SOFTMAX(softmax_any_##word, 6, softmax_loop, 2, true, type)

SOFTMAX(softmax_1_f32, 8, softmax_registers, 1, TDM_F32)
SOFTMAX(softmax_2_f32, 8, softmax_registers, 2, TDM_F32)
SOFTMAX(softmax_4_f32, 8, softmax_registers, 4, TDM_F32)
SOFTMAX(softmax_8_f32, 4, softmax_registers, 8, TDM_F32)
SOFTMAX(softmax_loop_f32, 8, softmax_loop, 4, false, TDM_F32)
SOFTMAX(softmax_any_f32, 8, softmax_loop, 2, true, TDM_F32)
OF_16_BITS(f16, TDM_F16)
OF_16_BITS(bf16, TDM_BF16)
