// rmsnorm of rows, with or without a residual. A row that fits into a row group's registers is read once, also if it is not
// whole chunks of 16 bytes; a longer one twice. Few long rows are split into parts.
#include "hip/device/arguments.h"
#include "hip/device/row_parts.h"
#include "near.h"

DEVICE void set_pointers(rmsnorm_args *p) {
  set_global(&p->x), set_global(&p->beside), set_global(&p->weight);
  set_global(&p->sum), set_global(&p->y);
}

// A chunk of the row that is normalised: x, plus the residual if there is one.
DEVICE chunk sum_of_raw(raw_chunk x, raw_chunk r, bool residual, tdm_type type) {
  chunk s = chunk_of(x, type);
  if (!residual) return s;
  chunk add = chunk_of(r, type);
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) s.of[i] += add.of[i];
  return s;
}

// In f64, in which squares of f32 can't overflow or vanish.
DEVICE double squares(const chunk *s, tdm_type type) {
  double sum = 0;
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) {
    sum = __builtin_fma((double)s->of[i].x, (double)s->of[i].x, sum);
    sum = __builtin_fma((double)s->of[i].y, (double)s->of[i].y, sum);
  }
  return sum;
}

DEVICE double squares_of(const chunk *s, int batch, tdm_type type) {
  double sum = 0;
#pragma unroll
  for (int k = 0; k < batch; k++) sum += squares(&s[k], type);
  return sum;
}

// Writes a chunk of sum and of y.
DEVICE void store_results(char *y, char *sum, chunk s, raw_chunk weight, float inverse, bool residual, chunk_part of, bool any,
                          tdm_type type) {
  if (residual) store_part(sum, of, raw_of(s, false, type), any, type);
  chunk w = chunk_of(weight, type);
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) s.of[i] = s.of[i] * (f32x2)inverse * w.of[i];
  store_part(y, of, raw_of(s, false, type), any, type);
}

enum { BATCH_MOST = 4 };

DEVICE const char *weights_of(const rmsnorm_args *p, bool residual) { return (const char *)(residual ? p->weight : p->beside); }

DEVICE raw_chunk load_weight(const rmsnorm_args *p, int at, row_group_t g, bool residual, tdm_type type) {
  chunk_part of = part_of(at, p->groups.cols, (row_place){0, g.lane * chunk_length(type)});
  return load_part(weights_of(p, residual) + g.lane * 16 + at * tdm_bytes(type), of, 0, false, type);
}

// What is normalised, in batches: x, and the residual if there is one.
typedef struct addends {
  row_batches x, more;
} addends;

DEVICE addends addends_of(const rmsnorm_args *p, int64_t row, row_place place, row_group_t g, bool residual, int batch,
                          bool any, tdm_type type) {
  const int64_t cols = p->groups.cols;
  addends a = {};
  a.x = batches_of(row_at(p->x, p->ldx, row, g, type), nothing_added(), cols, place, g, batch, any, type);
  if (residual) a.more = batches_of(row_at(p->beside, p->ldr, row, g, type), nothing_added(), cols, place, g, batch, any, type);
  return a;
}

DEVICE void load_addends(raw_chunk *x, raw_chunk *more, const addends *a, int number, row_group_t g, bool residual, int batch,
                         tdm_type type) {
  load_batch(x, &a->x, number, g, batch, type);
  if (residual) load_batch(more, &a->more, number, g, batch, type);
}

DEVICE void add_addends(chunk *s, const raw_chunk *x, const raw_chunk *more, bool residual, int batch, tdm_type type) {
#pragma unroll
  for (int k = 0; k < batch; k++) s[k] = sum_of_raw(x[k], more[k], residual, type);
}

// f32 that were loaded, in other registers, so that the next ones are loaded into theirs. If clang takes others for the next
// ones, it copies those, and waits for them.
DEVICE void copy_chunks(chunk *s, int count) {
#pragma unroll
  for (int k = 0; k < count; k++)
#pragma unroll
    for (int i = 0; i < 2; i++) {
      f32x2 x;
      asm volatile("v_mov_b64 %0, %1" : "=v"(x) : "v"(s[k].of[i]));
      s[k].of[i] = x;
    }
}

// `kept` chunks in each work-item: chunk k of work-item l is the row's chunk k * size + l. They keep their weights too, and
// load a round's chunks while the one before computes; four with a residual have no registers for that. With a residual,
// weights come with the rest of the argument.
DEVICE void rmsnorm_registers(rmsnorm_args *p, bool residual, int kept, tdm_type type) {
  SHARED static double slots[2 * ROW_WAVES_MOST];
  row_group_t group = row_group_of(&p->groups);
  const int cols = (int)p->groups.cols, step = chunk_length(type) << group.log2, step_bytes = 16 << group.log2;
  raw_chunk weight[BATCH_MOST], raw[BATCH_MOST], more[BATCH_MOST];
  int turn = 0;
  const auto addends_at = [&](int64_t row) {
    row_place place = place_row(&p->groups, row, nullptr, group, false, type);
    return addends_of(p, row, place, group, residual, kept, false, type);
  };
  const bool ahead = kept <= 2 || !residual;
  addends a = addends_at(group.first);
  load_addends(raw, more, &a, 0, group, residual, kept, type);
  if (residual) take_rest(p);
  if (ahead)
    for (int k = 0; k < kept; k++) weight[k] = load_weight(p, k * step, group, residual, type);
  if (!residual) take_rest(p);
  FOR_ROWS(row, &p->groups, group) {
    row_place place = {0, a.x.own};
    chunk s[BATCH_MOST];
    double sum = 0;
    add_addends(s, raw, more, residual, kept, type);
    if (type == TDM_F32 && !residual) copy_chunks(s, kept);
    a = addends_at(row + group.step);
    if (ahead) load_addends(raw, more, &a, 0, group, residual, kept, type);
#pragma unroll
    for (int k = 0; k < kept; k++) sum += squares(&s[k], type);
    float inverse = inverse_root(row_group_sum(sum, group, slots, &turn), p);
    char *y = (char *)row_at(p->y, p->ldy, row, group, type), *to = (char *)row_at(p->sum, p->lds, row, group, type);
#pragma unroll
    for (int k = 0; k < kept; k++) {
      place.own = in_order(place.own);  // else the masks of the loads stay in registers until here
      if (!ahead) weight[k] = load_weight(p, k * step, group, residual, type);
      store_results(y + k * step_bytes, to + k * step_bytes, s[k], weight[k], inverse, residual, part_of(k * step, cols, place),
                    false, type);
    }
    if (!ahead) load_addends(raw, more, &a, 0, group, residual, kept, type);
  }
}

DEVICE void load_single_weight(uint32_t *to, const rmsnorm_args *p, int element, bool residual, tdm_type type) {
  *to = load_single(weights_of(p, residual) + (int64_t)(element >= 0 ? element : 0) * tdm_bytes(type), type);
}

// The weights of this work-item's chunks and single element. All of its rows begin like its first one, because a round has an
// even number of rows. Weights of a row whose chunks begin with its second element begin between two dwords.
DEVICE void load_weights(const rmsnorm_args *p, raw_chunk *weight, uint32_t *single, row_group_t g, bool residual, int kept,
                         tdm_type type) {
  const ragged_row r = ragged_of(ragged_at(p->x, p->ldx, g.first, g, type), (int)p->groups.cols, true, g, type);
  const char *from = weights_of(p, residual);
#pragma unroll
  for (int k = 0; k < kept; k++)
    weight[k] = load_shifted(has_chunk(&r, k, g) ? from + ragged_chunk(&r, k, g, type) : (const char *)nothing_added(), type);
  load_single_weight(single, p, r.element, residual, type);
}

// The same for rows that are not whole chunks, if those of all arrays begin alike, and the weights at a dword.
DEVICE void rmsnorm_ragged(rmsnorm_args *p, bool residual, int kept, tdm_type type) {
  SHARED static double slots[2 * ROW_WAVES_MOST];
  row_group_t group = row_group_of(&p->groups);
  const int cols = (int)p->groups.cols;
  raw_chunk raw[BATCH_MOST], more[BATCH_MOST], weight[BATCH_MOST];
  uint32_t single, single_more, single_weight;
  int turn = 0;
  const auto load = [&](int64_t row) {
    const char *at = ragged_at(p->x, p->ldx, row, group, type);
    const ragged_row r = ragged_of(at, cols, row + group.sub < p->groups.rows, group, type);
    load_ragged(raw, &single, at, nothing_added(), &r, group, kept, type);
    if (residual)
      load_ragged(more, &single_more, ragged_at(p->beside, p->ldr, row, group, type), nothing_added(), &r, group, kept, type);
    return r;
  };
  load_weights(p, weight, &single_weight, group, residual, kept, type);
  const bool ahead = kept <= 2 || !residual;  // else there are no registers for it
  ragged_row next = {};
  if (ahead) next = load(group.first);
  if (!residual) take_rest(p);
  FOR_ROWS(row, &p->groups, group) {
    if (!ahead) next = load(row);
    const ragged_row r = next;
    chunk s[BATCH_MOST];
    double sum = 0;
    float one = single_of(single, type) + (residual ? single_of(single_more, type) : 0);
    add_addends(s, raw, more, residual, kept, type);
    if (ahead) next = load(row + group.step);
#pragma unroll
    for (int k = 0; k < kept; k++) sum += squares(&s[k], type);
    sum = __builtin_fma((double)one, (double)one, sum);
    float inverse = inverse_root(row_group_sum(sum, group, slots, &turn), p);
    char *y = (char *)ragged_at(p->y, p->ldy, row, group, type), *to = (char *)ragged_at(p->sum, p->lds, row, group, type);
#pragma unroll
    for (int k = 0; k < kept; k++) {
      const int64_t at = ragged_chunk(&r, k, group, type);
      weight[k].words = in_order(weight[k].words);  // else they stay in registers as f32
      store_results(y + at, to + at, s[k], weight[k], inverse, residual,
                    (chunk_part){0, has_chunk(&r, k, group) ? chunk_length(type) : 0}, false, type);
    }
    if (r.element >= 0) {
      if (residual) store_element(to, r.element, one, type);
      store_element(y, r.element, one * inverse * single_of(single_weight, type), type);
    }
  }
}

// What is loaded of a batch's weights. Those of ragged rows may begin between dwords: `words` begin an element before them
// then. The last one is in the words of the next lane; a lane at an `edge` (a bit for each chunk), after which no chunk follows
// in the next lane, loads it by itself. If all lanes did, they would ask for each line again.
typedef struct weight_batch {
  raw_chunk words[BATCH_MOST];
  uint32_t last[BATCH_MOST];
  uint32_t shift;  // in bits
  uint32_t edge;
} weight_batch;

DEVICE void load_weight_batch(const rmsnorm_args *p, weight_batch *weight, const row_batches *r, uint32_t skew, int number,
                              row_group_t g, bool residual, int batch, bool ragged, tdm_type type) {
  row_batches of = *r;
  of.at = weights_of(p, residual) + g.lane * 16;
  load_batch(weight->words, &of, number, g, batch, type);
  if (!ragged || type == TDM_F32) return;
  const int length = chunk_length(type), step = length << g.log2, left = left_in_batch(&of, number);
  const int64_t step_bytes = 16LL << g.log2;
  const char *at = of.at + 12 + 4 * skew + number * (batch * step_bytes);
  const bool last_lane = ((g.lane + 1) & ((1 << g.log2) - 1) & (WAVE - 1)) == 0;
  weight->shift = 16 * skew;
  weight->edge = 0;
#pragma unroll
  for (int k = 0; k < batch; k++) {
    const bool edge = last_lane || k * step + length >= left;
    weight->last[k] = load_single(edge && k * step < left ? at + k * step_bytes : of.elsewhere, type);
    weight->edge |= edge ? 1u << k : 0;
  }
}

DEVICE uint32_t lane_after(uint32_t word) {
  enum { DPP_LANE_AFTER = 0x130 };
  return (uint32_t)__builtin_amdgcn_update_dpp(0, (int)word, DPP_LANE_AFTER, 0xf, 0xf, true);
}

DEVICE raw_chunk weight_of(const weight_batch *weight, int k, bool ragged, tdm_type type) {
  if (!ragged || type == TDM_F32) return weight->words[k];
  const raw_chunk *words = &weight->words[k];
  const uint32_t next = lane_after(words->of_4[0]), last = (weight->edge >> k & 1) != 0 ? weight->last[k] : next;
  raw_chunk c;
  c.words = shifted_dwords(words->words, last, weight->shift);
  return c;
}

// What is stored of a batch, in registers of its own, so that the next one can be loaded into those of `raw` and `weight`
// before.
typedef struct batch_results {
  raw_chunk y[BATCH_MOST], sum[BATCH_MOST];
} batch_results;

DEVICE void results_of(batch_results *to, chunk *s, const weight_batch *weight, float inverse, bool residual, int batch,
                       bool ragged, tdm_type type) {
#pragma unroll
  for (int k = 0; k < batch; k++) {
    if (residual) {
      to->sum[k] = raw_of(s[k], false, type);
      to->sum[k].words = in_order(to->sum[k].words);
    }
    const chunk w = chunk_of(weight_of(weight, k, ragged, type), type);
#pragma unroll
    for (int i = 0; i < chunk_pairs(type); i++) s[k].of[i] = s[k].of[i] * (f32x2)inverse * w.of[i];
    to->y[k] = raw_of(s[k], false, type);
    to->y[k].words = in_order(to->y[k].words);
  }
}

// `whole`: the row fills the batch.
DEVICE void store_batch(const batch_results *of, char *y, char *to, const row_batches *r, int number, bool residual,
                        row_group_t g, int batch, bool whole, tdm_type type) {
  const int step = chunk_length(type) << g.log2, left = left_in_batch(r, number);
  const int64_t step_bytes = 16LL << g.log2;
#pragma unroll
  for (int k = 0; k < batch; k++) {
    const int64_t at = (number * batch + k) * step_bytes;
    const chunk_part part = {0, whole ? chunk_length(type) : left - k * step};
    if (residual) store_part(to + at, part, of->sum[k], false, type);
    store_part(y + at, part, of->y[k], false, type);
  }
}

// The second time a row is read from its end on: its last batch is still in registers then, and what was read last is in the L2
// if anything is. The next row's first batch is on its way since the end of the second time. A batch's weights are loaded a
// batch ahead too: else the wave would wait for them, and for the batch that it has just begun to load. ragged: rows that are
// not whole chunks, if those of all arrays begin alike, and the weights at a dword.
DEVICE void rmsnorm_loop(rmsnorm_args *p, bool residual, int batch, bool ragged, tdm_type type) {
  SHARED static double slots[2 * ROW_WAVES_MOST];
  row_group_t group = row_group_of(&p->groups);
  const int64_t cols = p->groups.cols;
  raw_chunk raw[BATCH_MOST], more[BATCH_MOST];
  weight_batch weight;
  batch_results results;
  ragged_row of_next = {};
  uint32_t single = 0, single_more = 0, single_weight = 0;
  int turn = 0;
  const auto addends_at = [&](int64_t row) {
    if (!ragged) {
      row_place place = place_row(&p->groups, row, nullptr, group, false, type);
      return addends_of(p, row, place, group, residual, batch, false, type);
    }
    const char *x = ragged_at(p->x, p->ldx, row, group, type), *more = ragged_at(p->beside, p->ldr, row, group, type);
    const ragged_row of = ragged_of(x, (int)cols, row + group.sub < p->groups.rows, group, type);
    const int64_t element = (int64_t)of.element * tdm_bytes(type);
    addends a = {};
    a.x = batches_of_ragged(&of, x, nothing_added(), cols, group, batch, type);
    single = load_single(of.element >= 0 ? x + element : (const char *)nothing_added(), type);
    if (residual) {
      a.more = batches_of_ragged(&of, more, nothing_added(), cols, group, batch, type);
      single_more = load_single(of.element >= 0 ? more + element : (const char *)nothing_added(), type);
    }
    of_next = of;
    return a;
  };
  // f32 as it was loaded: loads before its last use would go to other registers, and be copied from there, which waits for
  // them.
  const bool in_place = type == TDM_F32 && !residual;
  addends a = addends_at(group.first);
  const auto first_weights = [&] {
    if (ragged) load_single_weight(&single_weight, p, of_next.element, residual, type);
    load_weight_batch(p, &weight, &a.x, of_next.skew, a.x.count - 1, group, residual, batch, ragged, type);
  };
  if (!residual) first_weights();
  load_addends(raw, more, &a, 0, group, residual, batch, type);
  take_rest(p);
  if (residual) first_weights();
  FOR_ROWS(row, &p->groups, group) {
    const ragged_row of = of_next;
    const float one = ragged ? single_of(single, type) + (residual ? single_of(single_more, type) : 0) : 0;
    const addends next = addends_at(row + group.step);
    double sum = ragged ? (double)one * (double)one : 0;
    chunk s[BATCH_MOST];
    for (int i = 1; i < a.x.count; i++) {
      add_addends(s, raw, more, residual, batch, type);
      if (in_place) sum = in_order(sum + squares_of(s, batch, type));
      load_addends(raw, more, &a, i, group, residual, batch, type);
      if (!in_place) sum += squares_of(s, batch, type);
    }
    add_addends(s, raw, more, residual, batch, type);
    sum += squares_of(s, batch, type);
    float inverse = inverse_root(row_group_sum(sum, group, slots, &turn), p);
    char *y = (char *)row_at(p->y, p->ldy, row, group, type), *to = (char *)row_at(p->sum, p->lds, row, group, type);
    if (ragged) {
      char *begin = (char *)ragged_at(p->y, p->ldy, row, group, type),
           *sums = (char *)ragged_at(p->sum, p->lds, row, group, type);
      y = begin + ragged_chunk(&of, 0, group, type), to = sums + ragged_chunk(&of, 0, group, type);
      if (of.element >= 0) {
        if (residual) store_element(sums, of.element, one, type);
        store_element(begin, of.element, one * inverse * single_of(single_weight, type), type);
      }
    }
    const bool exists = ragged ? row + group.sub < p->groups.rows : a.x.own < FAR;
    const int whole = batches_of_wave(&a.x, exists, cols, group, batch, ragged, type);
    // The next batch is batch `after` of `from`.
    const auto write = [&](int i, const addends *from, int after, uint32_t skew, bool is_whole, bool is_last) {
      add_addends(s, raw, more, residual, batch, type);
      if (!in_place) load_addends(raw, more, from, after, group, residual, batch, type);
      results_of(&results, s, &weight, inverse, residual, batch, ragged, type);
      load_weight_batch(p, &weight, &from->x, skew, is_last ? from->x.count - 1 : after, group, residual, batch, ragged, type);
      if (in_place) load_addends(raw, more, from, after, group, residual, batch, type);
      store_batch(&results, y, to, &a.x, i, residual, group, batch, is_whole, type);
    };
    int i = a.x.count - 1;
    for (; i > 0 && i >= whole; i--) write(i, &a, i - 1, of.skew, false, false);
    for (; i > 0; i--) write(i, &a, i - 1, of.skew, true, false);  // without a branch, so that no store is waited for
    write(0, &next, 0, of_next.skew, false, true);
    a = next;
  }
}

// Any row, or a part of one. Where x, the residual and their sum lie as y does, the batches that it fills are loaded ahead and
// without masks: those from `first` to below `full`.
typedef struct any_row {
  addends of;
  char *y, *to;        // where this work-item's first chunks of y and of the sum are
  const char *weight;  // and of the weights
  row_place place;
  int first, full;
} any_row;

// y, to, weight: if chunks begin with the row.
DEVICE any_row any_row_of(addends of, char *y, char *to, const char *weight, row_place place, bool residual, tdm_type type) {
  y -= 2 * place.skew, to -= 2 * place.skew, weight -= 2 * place.skew;
  const bool alike = wave_all(!residual || type == TDM_F32 || !(is_between_dwords(of.more.at) || is_between_dwords(to)));
  const int full = alike && is_straight(&of.x, type) ? of.x.whole : 0;
  return (any_row){of, y, to, weight, place, 1, full};
}

DEVICE double squares_of_any(const any_row *w, bool residual, row_group_t group, int batch, tdm_type type) {
  const addends *a = &w->of;
  raw_chunk raw[BATCH_MOST], more[BATCH_MOST];
  chunk s[BATCH_MOST];
  double sum = 0;
  if (w->full > w->first) load_addends(raw, more, a, w->first, group, residual, batch, type);
  for (int i = w->first; i < w->full; i++) {
    add_addends(s, raw, more, residual, batch, type);
    load_addends(raw, more, a, i + 1 < w->full ? i + 1 : i, group, residual, batch, type);
#pragma unroll
    for (int k = 0; k < batch; k++) sum += squares(&s[k], type);
  }
  for (int i = 0; i < a->x.count; i++) {
    if (i == w->first && w->full > w->first) i = w->full;
    if (i == a->x.count) break;
    load_any_batch(raw, &a->x, i, group, batch, 0, type);
    if (residual) load_any_batch(more, &a->more, i, group, batch, 0, type);
#pragma unroll
    for (int k = 0; k < batch; k++) {
      s[k] = sum_of_raw(raw[k], more[k], residual, type);
      sum += squares(&s[k], type);
    }
  }
  return sum;
}

DEVICE void write_any(const any_row *w, float inverse, bool residual, row_group_t group, int batch, tdm_type type) {
  const addends *a = &w->of;
  const int step = chunk_length(type) << group.log2;
  const int64_t step_bytes = 16LL << group.log2;
  raw_chunk raw[BATCH_MOST], more[BATCH_MOST];
  chunk s[BATCH_MOST];
  if (w->full > w->first) load_addends(raw, more, a, w->first, group, residual, batch, type);
  for (int i = w->first; i < w->full; i++) {
    raw_chunk weight[BATCH_MOST];
    const int64_t at = i * batch * step_bytes;
#pragma unroll
    for (int k = 0; k < batch; k++) weight[k] = load_shifted(w->weight + at + k * step_bytes, type);
    add_addends(s, raw, more, residual, batch, type);
    load_addends(raw, more, a, i + 1 < w->full ? i + 1 : i, group, residual, batch, type);
#pragma unroll
    for (int k = 0; k < batch; k++)
      store_results(w->y + at + k * step_bytes, w->to + at + k * step_bytes, s[k], weight[k], inverse, residual,
                    (chunk_part){-1, chunk_length(type)}, false, type);
  }
  for (int i = 0; i < a->x.count; i++) {
    if (i == w->first && w->full > w->first) i = w->full;
    if (i == a->x.count) break;
#pragma unroll 1
    for (int k = 0; k < batch; k++) {
      const int64_t at = (i * batch + k) * step_bytes;
      chunk_part of = {i == 0 && k == 0 ? -w->place.own : -1, left_in_row(&a->x, i, group, batch, type) - k * step};
      if (!wave_any(of.left > 0)) break;
      raw_chunk one = load_part(a->x.at + at, of, 0, true, type), other = raw_fill(0);
      raw_chunk weight = load_part(w->weight + at, of, 0, true, type);
      if (residual) other = load_part(a->more.at + at, of, 0, true, type);
      store_results(w->y + at, w->to + at, sum_of_raw(one, other, residual, type), weight, inverse, residual, of, true, type);
    }
  }
}

DEVICE void rmsnorm_any(rmsnorm_args *p, bool residual, int batch, tdm_type type) {
  SHARED static double slots[2 * ROW_WAVES_MOST];
  take_rest(p);
  row_group_t group = row_group_of(&p->groups);
  int turn = 0;
  FOR_ROWS(row, &p->groups, group) {
    char *y = (char *)row_at(p->y, p->ldy, row, group, type), *to = (char *)row_at(p->sum, p->lds, row, group, type);
    row_place place = place_row(&p->groups, row, y, group, true, type);
    const any_row w = any_row_of(addends_of(p, row, place, group, residual, batch, true, type), y, to,
                                 weights_of(p, residual) + group.lane * 16, place, residual, type);
    double sum = squares_of_any(&w, residual, group, batch, type);
    write_any(&w, inverse_root(row_group_sum(sum, group, slots, &turn), p), residual, group, batch, type);
  }
}

// ---- Rows that are split over workgroups: any rows ----

DEVICE any_row row_of_part(const rmsnorm_args *p, const row_part *part, int batch, tdm_type type) {
  const bool residual = p->residual != nullptr;
  const char *x = part_at(p->x, p->ldx, part, type), *r = residual ? part_at(p->residual, p->ldr, part, type) : x;
  addends of = {batches_of_part(x, nothing_added(), part->cols, part, batch, type),
                batches_of_part(r, nothing_added(), part->cols, part, batch, type)};
  if (!residual) of.more.own += 2 * FAR;
  any_row w =
      any_row_of(of, (char *)part_at(p->y, p->ldy, part, type), (char *)part_at(p->sum, p->lds, part, type),
                 (const char *)p->weight + part->start * tdm_bytes(type) + part->group.lane * 16, part->place, residual, type);
  // Weights that begin between dwords are read from the element before a chunk on, which the first one doesn't have.
  w.first = part->place.skew || (part->start == 0 && type != TDM_F32 && is_between_dwords(w.weight)) ? 1 : 0;
  return w;
}

DEVICE void rmsnorm_sums(const rmsnorm_parts_args *p, int batch, tdm_type type) {
  SHARED static double slots[2 * ROW_WAVES_MOST];
  const row_part part = part_of_rows(&p->parts, p->rows.y, p->rows.ldy, type);
  const any_row w = row_of_part(&p->rows, &part, batch, type);
  int turn = 0;
  double sum =
      row_group_sum(squares_of_any(&w, p->rows.residual != nullptr, part.group, batch, type), part.group, slots, &turn);
  if (thread_index() == 0) p->sums[__builtin_amdgcn_workgroup_id_x()] = sum;
}

DEVICE void rmsnorm_parts(const rmsnorm_parts_args *p, int batch, tdm_type type) {
  const row_part part = part_of_rows(&p->parts, p->rows.y, p->rows.ldy, type);
  const any_row w = row_of_part(&p->rows, &part, batch, type);
  const double *sums = p->sums + part.row * p->parts.parts;
  double sum = 0;
  for (int i = lane_index(); i < p->parts.parts; i += WAVE) sum += sums[i];
  sum = lanes_reduce<double>(sum, 6, 0, sum_of);
  write_any(&w, inverse_root(sum, &p->rows), p->rows.residual != nullptr, part.group, batch, type);
}

#define PARTS(word, waves, type)                                                                    \
  PARTS_KERNEL(waves) void rmsnorm_sums_##word(rmsnorm_parts_args p) { rmsnorm_sums(&p, 2, type); } \
  PARTS_KERNEL(waves) void rmsnorm_parts_##word(rmsnorm_parts_args p) { rmsnorm_parts(&p, 2, type); }
PARTS(f32, 6, TDM_F32)
PARTS(f16, 6, TDM_F16)
PARTS(bf16, 6, TDM_BF16)

#define RMSNORM(name, waves, body, ...)                  \
  ROWS_KERNEL(waves) void name(ARGUMENT(rmsnorm_args)) { \
    rmsnorm_args p = ARGUMENT_OF(rmsnorm_args);          \
    body(&p, __VA_ARGS__);                               \
  }
// Without a residual, and with one, which is one array more to load.
#define EACH(name, waves, body, kept, type)               \
  RMSNORM(rmsnorm_##name, waves, body, false, kept, type) \
  RMSNORM(rmsnorm_residual_##name, waves, body, true, kept, type)
// Ragged rows with a residual load their weights first, so they read their argument before that: 64x10001 bf16 takes 270
// predicted clocks less so.
#define WHOLE_ARGUMENT(name, waves, body, ...) \
  ROWS_KERNEL(waves) void name(rmsnorm_args p) { body(&p, __VA_ARGS__); }
#define RAGGED(name, waves, kept, type)                             \
  RMSNORM(rmsnorm_##name, waves, rmsnorm_ragged, false, kept, type) \
  WHOLE_ARGUMENT(rmsnorm_residual_##name, waves, rmsnorm_ragged, true, kept, type)
// Rows whose work-items have no fourth chunk have code that loads and computes none.
#define RAGGED_4(name, waves, type)                                \
  ROWS_KERNEL(waves) void rmsnorm_##name(ARGUMENT(rmsnorm_args)) { \
    rmsnorm_args p = ARGUMENT_OF(rmsnorm_args);                    \
    if (ragged_steps(&p.groups, type) <= 3)                        \
      rmsnorm_ragged(&p, false, 3, type);                          \
    else                                                           \
      rmsnorm_ragged(&p, false, 4, type);                          \
  }                                                                \
  WHOLE_ARGUMENT(rmsnorm_residual_##name, waves, rmsnorm_ragged, true, 4, type)
// Ragged rows with a residual have registers for one chunk at a time.
#define LOOP(name, waves, ragged, type)                                \
  RMSNORM(rmsnorm_##name, waves, rmsnorm_loop, false, 2, ragged, type) \
  RMSNORM(rmsnorm_residual_##name, waves, rmsnorm_loop, true, ragged ? 1 : 2, ragged, type)
#define OF_16_BITS(word, type)                  \
  EACH(1_##word, 8, rmsnorm_registers, 1, type) \
  EACH(2_##word, 5, rmsnorm_registers, 2, type) \
  EACH(4_##word, 4, rmsnorm_registers, 4, type) \
  RAGGED(ragged_1_##word, 7, 1, type)           \
  RAGGED(ragged_2_##word, 4, 2, type)           \
  RAGGED_4(ragged_4_##word, 4, type)            \
  LOOP(loop_##word, 4, false, type)             \
  LOOP(ragged_loop_##word, 4, true, type)       \
  EACH(any_##word, 4, rmsnorm_any, 2, type)

EACH(1_f32, 8, rmsnorm_registers, 1, TDM_F32)
EACH(2_f32, 6, rmsnorm_registers, 2, TDM_F32)
EACH(4_f32, 5, rmsnorm_registers, 4, TDM_F32)
RAGGED(ragged_1_f32, 7, 1, TDM_F32)
RAGGED(ragged_2_f32, 4, 2, TDM_F32)
RAGGED_4(ragged_4_f32, 4, TDM_F32)
LOOP(loop_f32, 4, false, TDM_F32)
LOOP(ragged_loop_f32, 4, true, TDM_F32)
EACH(any_f32, 4, rmsnorm_any, 2, TDM_F32)
OF_16_BITS(f16, TDM_F16)
OF_16_BITS(bf16, TDM_BF16)

#define NEAR(word, type)                                                                                  \
  KERNEL WORKGROUP(HIP_ROWS_WORKGROUP, NEAR_2_WAVES) void rmsnorm_near_2_##word(ARGUMENT(rmsnorm_args)) { \
    rmsnorm_args p = ARGUMENT_OF(rmsnorm_args);                                                           \
    EACH_NEAR_2(p.groups.group_log2, rmsnorm_near, &p, type)                                              \
  }                                                                                                       \
  KERNEL WORKGROUP(HIP_ROWS_WORKGROUP, NEAR_4_WAVES) void rmsnorm_near_4_##word(ARGUMENT(rmsnorm_args)) { \
    rmsnorm_args p = ARGUMENT_OF(rmsnorm_args);                                                           \
    EACH_NEAR_4(p.groups.group_log2, rmsnorm_near, &p, type)                                              \
  }
NEAR(f32, TDM_F32)
NEAR(f16, TDM_F16)
NEAR(bf16, TDM_BF16)
