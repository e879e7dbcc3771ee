// softmax of rows. A row that fits into a row group's registers is read once, also if it is not whole
// chunks of 16 bytes; a longer one twice. Few long rows are split into parts.
#include "args.h"
#include "hip/device/arguments.h"
#include "hip/device/near_rows.h"
#include "hip/device/softmax.h"

DEVICE void set_pointers(softmax_args *p) { set_global(&p->x), set_global(&p->y); }
DEVICE void set_pointers(softmax_parts_args *p) { set_pointers(&p->rows), set_global(&p->sums); }

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

DEVICE row_batches batches_of_row(const softmax_args *p, int64_t row, row_group_t g, int batch, tdm_type type) {
  const char *at = row_at(p->x, p->ldx, row, g, type);
  return batches_of(at, nothing_compared(type), p->groups.cols, place_row(&p->groups, row, at, g, false, type), g, batch, false,
                    type);
}

// `kept` chunks in each work-item: chunk k of work-item l is the row's chunk k * size + l. A round's are loaded while the one
// before computes.
DEVICE void softmax_registers(softmax_args *p, row_slots *slots, int kept, tdm_type type) {
  row_group_t group = row_group_of(&p->groups);
  const int cols = (int)p->groups.cols, step = chunk_length(type) << group.log2, step_bytes = 16 << group.log2;
  int turn = 0;
  raw_chunk raw[HIP_KEPT_ELEMENTS / 4];
  row_batches r = batches_of_row(p, group.first, group, kept, type);
  load_batch(raw, &r, 0, group, kept, type);
  take_rest(p);
  FOR_ROWS(row, &p->groups, group) {
    row_place place = {0, r.own};
    chunk x[HIP_KEPT_ELEMENTS / 4];
    float max = LEAST_FLOAT;
    f32x2 sum = 0;
#pragma unroll
    for (int k = 0; k < kept; k++) {
      x[k] = chunk_of(raw[k], type);
      max = largest_of(&x[k], max, type);
    }
    r = batches_of_row(p, row + group.step, group, kept, type);
    load_batch(raw, &r, 0, group, kept, type);
    max = lanes_reduce<float>(max, group.log2, max, larger_of);
#pragma unroll
    for (int k = 0; k < kept; k++) sum += exponentials(&x[k], max, type);
    row_sum_t wave = {max, lanes_reduce<float>(sum.x + sum.y, group.log2, 0, sum_of)};
    row_sum_t all = row_of_waves(wave, group, slots, &turn);
    float scale = reciprocal(all.sum);
    if (group.waves > 1) scale *= exponential_of(max - all.max);
    if (kept == 4 && type == TDM_F32) load_rest(p);  // where eight waves of a SIMD have no registers for it
    char *to = (char *)row_at(p->y, p->ldy, row, group, type);
#pragma unroll
    for (int k = 0; k < kept; k++) {
      place.own = in_order(place.own);  // else the masks of the loads stay in registers until here
      store_scaled(to + k * step_bytes, x[k], scale, 0, false, part_of(k * step, cols, place), false, type);
    }
  }
}

// The same for rows that are not whole chunks, if those of x and of y begin alike.
DEVICE void softmax_ragged(softmax_args *p, row_slots *slots, int kept, tdm_type type) {
  row_group_t group = row_group_of(&p->groups);
  const int cols = (int)p->groups.cols;
  int turn = 0;
  raw_chunk raw[HIP_KEPT_ELEMENTS / 4];
  uint32_t single;
  const auto load = [&](int64_t row) {
    const char *at = ragged_at(p->x, p->ldx, row, group, type);
    const ragged_row r = ragged_of(at, cols, row + group.sub < p->groups.rows, group, type);
    load_ragged(raw, &single, at, nothing_compared(type), &r, group, kept, type);
    return r;
  };
  ragged_row next = load(group.first);
  take_rest(p);
  FOR_ROWS(row, &p->groups, group) {
    const ragged_row r = next;
    chunk x[HIP_KEPT_ELEMENTS / 4];
    float one = single_of(single, type), max = larger_of(LEAST_FLOAT, one);
    f32x2 sum = 0;
#pragma unroll
    for (int k = 0; k < kept; k++) {
      x[k] = chunk_of(raw[k], type);
      max = largest_of(&x[k], max, type);
    }
    next = load(row + group.step);
    max = lanes_reduce<float>(max, group.log2, max, larger_of);
#pragma unroll
    for (int k = 0; k < kept; k++) sum += exponentials(&x[k], max, type);
    one = exponential_of(one - max);
    row_sum_t wave = {max, lanes_reduce<float>(sum.x + sum.y + one, group.log2, 0, sum_of)};
    row_sum_t all = row_of_waves(wave, group, slots, &turn);
    float scale = reciprocal(all.sum);
    if (group.waves > 1) scale *= exponential_of(max - all.max);
    char *to = (char *)ragged_at(p->y, p->ldy, row, group, type);
#pragma unroll
    for (int k = 0; k < kept; k++)
      store_scaled(to + ragged_chunk(&r, k, group, type), x[k], scale, 0, false,
                   (chunk_part){0, has_chunk(&r, k, group) ? chunk_length(type) : 0}, false, type);
    if (r.element >= 0) store_element(to, r.element, one * scale, type);
  }
}

// Short rows without gaps between them: a wave loads and stores those of a turn as one range, and loads a turn ahead.
template <int loads>
DEVICE void softmax_near(softmax_args *p, int log2, tdm_type type) {
  SHARED alignas(16) static uint32_t staged[HIP_ROWS_WORKGROUP / WAVE][near_room(loads)];
  row_group_t g = row_group_of(&p->groups);
  g.log2 = log2;  // a constant
  uint32_t *rows = staged[wave_index()];
  const int cols = (int)p->groups.cols, steps = near_steps(cols, g, type);
  const uint32_t stride = 1u << g.log2;
  const near_place place = place_near(cols, g, steps, loads, minus_infinity(type), type);
  u32x4 raw[NEAR_LOADS_MOST];
  load_near(p->x, cols, raw, g.first, p->groups.rows, g, loads, type);
  take_rest(p);
  store_nothing_near(p->y, loads);
  rows[near_nothing(loads)] = minus_infinity(type);
  FOR_ROWS(row, &p->groups, g) {
    uint32_t word[NEAR_KEPT_MOST];
    f32x2 x[NEAR_KEPT_MOST], sum = 0;
    stage_near(p->x, &p->groups, rows, raw, row, g, loads, type);
    load_near(p->x, cols, raw, row + g.step, p->groups.rows, g, loads, type);
    const uint32_t last = (rows[place.last] & place.keep) | place.add;
    float max = largest_in(last, LEAST_FLOAT, type);
    for_kept(place.first, steps - 1, stride, loads, [&](int k, int count, uint32_t at) {
#pragma unroll
      for (int i = 0; i < count; i++) word[k + i] = rows[at + i * stride];
#pragma unroll
      for (int i = 0; i < count; i++) max = largest_in(word[k + i], max, type);
    });
    max = lanes_reduce<float>(max, g.log2, max, larger_of);
    const f32x2 end = exponentials_in(last, max, type);
    for_kept(place.first, steps - 1, stride, loads, [&](int k, int count, uint32_t) {
#pragma unroll
      for (int i = 0; i < count; i++) x[k + i] = exponentials_in(word[k + i], max, type), sum += x[k + i];
    });
    sum += end;
    const float scale = reciprocal(lanes_reduce<float>(sum.x + sum.y, g.log2, 0, sum_of));
    for_kept(place.first, steps - 1, stride, loads, [&](int k, int count, uint32_t at) {
#pragma unroll
      for (int i = 0; i < count; i++) rows[at + i * stride] = word_of_pair(x[k + i] * (f32x2)scale, type);
    });
    put_last_near(rows, &place, loads, word_of_pair(end * (f32x2)scale, type), type);
    store_near(p->y, &p->groups, rows, row, g, loads, type);
  }
}

// Writes a batch of a row of whole chunks; `whole`: the row fills it.
DEVICE void write_batch(char *y, chunk *x, const row_batches *r, int number, row_sum_t s, float scale, row_group_t g, int batch,
                        bool whole, tdm_type type) {
  const int step = chunk_length(type) << g.log2, left = left_in_batch(r, number);
  const int64_t step_bytes = 16LL << g.log2;
#pragma unroll
  for (int k = 0; k < batch; k++) {
    exponentials(&x[k], s.max, type);
    char *to = y + (number * batch + k) * step_bytes;
    store_scaled(to, x[k], scale, 0, false, (chunk_part){0, whole ? chunk_length(type) : left - k * step}, false, type);
  }
}

// A row in batches; of ragged rows, this work-item's single element too.
typedef struct loop_row {
  row_batches batches;
  ragged_row of;
} loop_row;

// The second time a row is read, its first batch is on its way since the end of the first time; as is that of the next row at
// the end of the second. ragged: rows that are not whole chunks, if those of x and of y begin alike.
DEVICE void softmax_loop(softmax_args *p, row_slots *slots, int batch, bool ragged, tdm_type type) {
  row_group_t group = row_group_of(&p->groups);
  const int64_t cols = p->groups.cols;
  raw_chunk raw[BATCH_MOST];
  uint32_t single = 0;
  int turn = 0;
  const auto row_in_batches = [&](int64_t row) {
    if (!ragged) return (loop_row){batches_of_row(p, row, group, batch, type), {}};
    const char *at = ragged_at(p->x, p->ldx, row, group, type);
    const ragged_row of = ragged_of(at, (int)cols, row + group.sub < p->groups.rows, group, type);
    single = load_ragged_single(&of, at, nothing_compared(type), type);
    return (loop_row){batches_of_ragged(&of, at, nothing_compared(type), cols, group, batch, type), of};
  };
  loop_row now = row_in_batches(group.first);
  load_batch(raw, &now.batches, 0, group, batch, type);
  take_rest(p);
  FOR_ROWS(row, &p->groups, group) {
    const row_batches r = now.batches;
    const ragged_row of = now.of;
    const float one = ragged ? single_of(single, type) : 0;
    const row_sum_t begun = ragged ? sum_of_one(one) : (row_sum_t){LEAST_FLOAT, 0};
    now = row_in_batches(row + group.step);
    const row_batches next = now.batches;
    char *begin = (char *)(ragged ? ragged_at(p->y, p->ldy, row, group, type) : row_at(p->y, p->ldy, row, group, type));
    char *y = ragged ? begin + ragged_chunk(&of, 0, group, type) : begin;
    row_sum_t s = sum_row(begun, raw, &r, &r, 0, group, slots, &turn, batch, false, type);
    float scale = reciprocal(s.sum);
    const bool exists = ragged ? row + group.sub < p->groups.rows : r.own < FAR;
    const int whole = batches_of_wave(&r, exists, cols, group, batch, ragged, type);
    chunk x[BATCH_MOST];
    if (ragged && of.element >= 0) store_element(begin, of.element, exponential_of(one - s.max) * scale, type);
    int i = 0;
    for (; i + 1 < whole; i++) {  // without a branch, so that no store is waited for
      chunks_of(x, raw, batch, type);
      load_batch(raw, &r, i + 1, group, batch, type);
      write_batch(y, x, &r, i, s, scale, group, batch, true, type);
    }
    for (; i < r.count; i++) {
      const bool last = i + 1 == r.count;
      const row_batches from = last ? next : r;
      chunks_of(x, raw, batch, type);
      load_batch(raw, &from, last ? 0 : i + 1, group, batch, type);
      write_batch(y, x, &r, i, s, scale, group, batch, false, type);
    }
  }
}

// Writes any row, or a part of one: `cols` elements, of which it sees `seen`, those of r. It ends before `end`, which counts
// the element before rows that begin between two dwords. Where x lies as y does, full batches are loaded ahead, without masks.
DEVICE void write_any(char *y, const row_batches *r, row_sum_t s, int64_t seen, int64_t cols, int64_t end, bool causal,
                      row_place place, row_group_t group, int batch, tdm_type type) {
  const int64_t step = (int64_t)chunk_length(type) << group.log2;
  const float scale = reciprocal(s.sum);
  const int first = first_straight(r, type), whole = is_straight(r, type) ? r->whole : 0;
  raw_chunk raw[BATCH_MOST];
  y -= 2 * place.skew;
  if (first < whole) load_batch(raw, r, first, group, batch, type);
  for (int i = first; i < whole; i++) {
    chunk x[BATCH_MOST];
    chunks_of(x, raw, batch, type);
    load_batch(raw, r, i + 1 < whole ? i + 1 : i, group, batch, type);
    write_batch(y, x, r, i, s, scale, group, batch, true, type);
  }
  for (int64_t i = 0; i * batch * step < end; i++) {
    if (i == first && first < whole) i = whole;
    const int64_t before = i * batch * step;
#pragma unroll 1
    for (int k = 0; k < batch && before + k * step < end; k++) {
      const int64_t at = before + k * step, bytes = at * tdm_bytes(type);
      const chunk_part of = part_of(at, seen, place);
      chunk x = chunk_of(load_part(r->at + bytes, of, minus_infinity(type), true, type), type);
      exponentials(&x, s.max, type);
      store_scaled(y + bytes, x, scale, of.left, causal, part_of(at, cols, place), true, type);
    }
  }
}

// Any rows, causal ones too.
DEVICE void softmax_any(softmax_args *p, row_slots *slots, int batch, tdm_type type) {
  take_rest(p);
  row_group_t group = row_group_of(&p->groups);
  const int64_t cols = p->groups.cols;
  const bool causal = p->causal_rows != 0;
  int turn = 0;
  FOR_ROWS(row, &p->groups, group) {
    char *y = (char *)row_at(p->y, p->ldy, row, group, type);
    row_place place = place_row(&p->groups, row, y, group, true, type);
    const char *from = row_at(p->x, p->ldx, row, group, type);
    int64_t seen = causal ? columns_seen(p, row + group.sub) : cols;
    raw_chunk raw[BATCH_MOST];
    row_batches r = batches_of(from, nothing_compared(type), seen, place, group, batch, true, type);
    row_sum_t s = sum_row((row_sum_t){LEAST_FLOAT, 0}, raw, &r, &r, 0, group, slots, &turn, batch, true, type);
    write_any(y, &r, s, seen, cols, cols + 1, causal, place, group, batch, type);
  }
}

// ---- Rows that are split over workgroups: any rows ----

// Of what a row sees, this part's share.
DEVICE int64_t seen_of_part(const softmax_parts_args *p, const row_part *w) {
  if (p->rows.causal_rows == 0) return w->cols;
  const int64_t seen = columns_seen(&p->rows, w->row) - w->start;
  return seen < 0 ? 0 : seen < w->cols ? seen : w->cols;
}

DEVICE void softmax_sums(softmax_parts_args *p, row_slots *slots, tdm_type type) {
  if (p->rows.causal_rows != 0) take_rest(p);
  const row_part w = part_of_rows(&p->parts, p->rows.x, p->rows.ldx, type);
  loaded_part part = load_first_of_part(part_begin(p->rows.x, p->rows.ldx, &w, type), seen_of_part(p, &w), w.group, type);
  take_rest(p);
  store_part_sum(p->sums, sum_of_part(&part, w.group, slots, type));
}

// Parts of rows that x and y have alike, and that see all columns, are loaded ahead.
DEVICE void softmax_parts(const softmax_parts_args *p, tdm_type type) {
  const row_part w = part_of_rows(&p->parts, p->rows.y, p->rows.ldy, type);
  const char *from = part_begin(p->rows.x, p->rows.ldx, &w, type);
  char *y = (char *)part_begin(p->rows.y, p->rows.ldy, &w, type);
  const bool causal = p->rows.causal_rows != 0;
  if (causal || (type != TDM_F32 && is_between_dwords(from) != is_between_dwords(y))) {
    const row_sum_t s = sum_of_parts(p->sums, w.row, p->parts.parts);
    const int64_t seen = seen_of_part(p, &w);
    const int first = w.group.lane * 16;
    const row_batches r = batches_of_part(from + first, nothing_compared(type), seen, &w, 2, type);
    write_any(y + first, &r, s, seen, w.cols, w.cols + w.place.skew, causal, w.place, w.group, 2, type);
    return;
  }
  loaded_part part = load_first_of_part(from, w.cols, w.group, type);
  const row_sum_t s = sum_of_parts(p->sums, w.row, p->parts.parts);
  const float scale = reciprocal(s.sum);
  if (part.of.element >= 0)
    store_element(y, part.of.element, exponential_of(single_of(part.single, type) - s.max) * scale, type);
  y += ragged_chunk(&part.of, 0, w.group, type);
  for (int i = 0; i < part.batches.count; i++) {
    chunk x[BATCH_MOST];
    chunks_of(x, part.raw, BATCH_MOST, type);
    if (i + 1 < part.batches.count) load_batch(part.raw, &part.batches, i + 1, w.group, BATCH_MOST, type);
    write_batch(y, x, &part.batches, i, s, scale, w.group, BATCH_MOST, false, type);
  }
}

#define PARTS(word, type)                                                  \
  PARTS_KERNEL(6) void softmax_sums_##word(ARGUMENT(softmax_parts_args)) { \
    softmax_parts_args p = ARGUMENT_OF(softmax_parts_args);                \
    SHARED static row_slots slots;                                         \
    softmax_sums(&p, &slots, type);                                        \
  }                                                                        \
  PARTS_KERNEL(6) void softmax_parts_##word(softmax_parts_args p) { softmax_parts(&p, type); }
PARTS(f32, TDM_F32)
PARTS(f16, TDM_F16)
PARTS(bf16, TDM_BF16)

#define SOFTMAX(name, waves, body, ...)                  \
  ROWS_KERNEL(waves) void name(ARGUMENT(softmax_args)) { \
    softmax_args p = ARGUMENT_OF(softmax_args);          \
    SHARED static row_slots slots;                       \
    body(&p, &slots, __VA_ARGS__);                       \
  }
// Rows whose work-items have no last chunk, or of eight no last two, have code that loads and computes none.
#define RAGGED(name, waves, kept, fewer, type)           \
  ROWS_KERNEL(waves) void name(ARGUMENT(softmax_args)) { \
    softmax_args p = ARGUMENT_OF(softmax_args);          \
    SHARED static row_slots slots;                       \
    if (ragged_steps(&p.groups, type) <= fewer)          \
      softmax_ragged(&p, &slots, fewer, type);           \
    else                                                 \
      softmax_ragged(&p, &slots, kept, type);            \
  }
#define OF_16_BITS(word, type)                                        \
  SOFTMAX(softmax_1_##word, 8, softmax_registers, 1, type)            \
  SOFTMAX(softmax_2_##word, 8, softmax_registers, 2, type)            \
  SOFTMAX(softmax_4_##word, 5, softmax_registers, 4, type)            \
  SOFTMAX(softmax_ragged_1_##word, 8, softmax_ragged, 1, type)        \
  SOFTMAX(softmax_ragged_2_##word, 8, softmax_ragged, 2, type)        \
  RAGGED(softmax_ragged_4_##word, 5, 4, 3, type)                      \
  SOFTMAX(softmax_loop_##word, 5, softmax_loop, 4, false, type)       \
  SOFTMAX(softmax_ragged_loop_##word, 4, softmax_loop, 4, true, type) \
  SOFTMAX(softmax_any_##word, 6, softmax_any, 2, type)

SOFTMAX(softmax_1_f32, 8, softmax_registers, 1, TDM_F32)
SOFTMAX(softmax_2_f32, 8, softmax_registers, 2, TDM_F32)
SOFTMAX(softmax_4_f32, 8, softmax_registers, 4, TDM_F32)
SOFTMAX(softmax_8_f32, 4, softmax_registers, 8, TDM_F32)
SOFTMAX(softmax_ragged_1_f32, 8, softmax_ragged, 1, TDM_F32)
SOFTMAX(softmax_ragged_2_f32, 8, softmax_ragged, 2, TDM_F32)
RAGGED(softmax_ragged_4_f32, 6, 4, 3, TDM_F32)
RAGGED(softmax_ragged_8_f32, 4, 8, 6, TDM_F32)
SOFTMAX(softmax_loop_f32, 8, softmax_loop, 4, false, TDM_F32)
SOFTMAX(softmax_ragged_loop_f32, 4, softmax_loop, 4, true, TDM_F32)
SOFTMAX(softmax_any_f32, 8, softmax_any, 2, TDM_F32)
OF_16_BITS(f16, TDM_F16)
OF_16_BITS(bf16, TDM_BF16)

#define NEAR(word, type)                                                                                  \
  KERNEL WORKGROUP(HIP_ROWS_WORKGROUP, NEAR_2_WAVES) void softmax_near_2_##word(ARGUMENT(softmax_args)) { \
    softmax_args p = ARGUMENT_OF(softmax_args);                                                           \
    EACH_NEAR_2(p.groups.group_log2, softmax_near, &p, type)                                              \
  }                                                                                                       \
  KERNEL WORKGROUP(HIP_ROWS_WORKGROUP, NEAR_4_WAVES) void softmax_near_4_##word(ARGUMENT(softmax_args)) { \
    softmax_args p = ARGUMENT_OF(softmax_args);                                                           \
    EACH_NEAR_4(p.groups.group_log2, softmax_near, &p, type)                                              \
  }
NEAR(f32, TDM_F32)
NEAR(f16, TDM_F16)
NEAR(bf16, TDM_BF16)
