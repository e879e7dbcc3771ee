// cross_entropy of rows: log(sum(exp(row))) - row[target]. A row is read once; a row without a loss is not read, except among
// short rows without gaps between them, which are loaded as one range.
#include "args.h"
#include "hip/device/arguments.h"
#include "hip/device/last.h"
#include "hip/device/near_rows.h"
#include "hip/device/softmax.h"

DEVICE void set_pointers(cross_entropy_args *p) { set_global(&p->logits), set_global(&p->targets), set_global(&p->loss); }
DEVICE void set_pointers(cross_entropy_parts_args *p) {
  set_pointers(&p->rows), set_global(&p->sums), set_global(&p->counters);
}

DEVICE float loss_of(const cross_entropy_args *p, int64_t target, float logit, bool valid, row_sum_t s) {
  if (target == p->ignore) return 0;
  if (!valid) return __builtin_nanf("");  // a target that the row does not have
  return log_normal(s.sum) + (s.max - logit);
}

// The largest logit, the sum and the target's logit of a part of the vocabulary.
DEVICE void store_part_of_row(const cross_entropy_args *p, int64_t row, int64_t target, float logit, row_sum_t s) {
  bool counts = target != p->ignore, known = target >= 0 && target < p->total;
  p->loss[3 * row] = counts ? s.sum == s.sum ? s.max : s.sum : 0;
  p->loss[3 * row + 1] = counts ? s.sum : 0;
  p->loss[3 * row + 2] = counts ? known ? logit : __builtin_nanf("") : 0;
}

// Every lane loads one, also after the last row; and both halves of either type. After a branch it would be waited for at once.
DEVICE int64_t target_of_rows(const cross_entropy_args *p, int64_t row, int64_t rows) {
  const bool exists = row < rows, wide = p->index == TDM_I64;
  const char *at = (const char *)p->targets + (exists ? row : rows - 1) * (wide ? 8 : 4);
  uint32_t low = *(const uint32_t *)at, high = *(const uint32_t *)(at + (wide ? 4 : 0));
  int64_t target = (int64_t)((uint64_t)(wide ? high : (uint32_t)((int32_t)low >> 31)) << 32 | low);
  return exists ? target : -1;
}

DEVICE int64_t target_of(const cross_entropy_args *p, int64_t row) { return target_of_rows(p, row, p->groups.rows); }

// Whether the row has a loss, and so must be read.
DEVICE bool has_loss(const cross_entropy_args *p, int64_t target) {
  return (p->total != 0 || (target >= 0 && target < p->groups.cols)) && target != p->ignore;
}

// Whether this part of the vocabulary has the target.
DEVICE bool has_target(const cross_entropy_args *p, int64_t target) {
  return target >= p->first && target - p->first < p->groups.cols;
}

DEVICE void store_loss(const cross_entropy_args *p, int64_t row, int64_t target, float logit, bool valid, row_sum_t s) {
  if (p->total != 0)
    store_part_of_row(p, row, target, logit, s);
  else
    p->loss[row] = loss_of(p, target, logit, valid, s);
}

typedef struct one_row {
  row_batches batches;
  int before;   // elements of the row before this work-item's first chunk
  int element;  // of ragged_row
  int64_t target;
  bool valid;  // it is read
} one_row;

// ragged: any row, as whole chunks and single elements.
DEVICE one_row row_of(const cross_entropy_args *p, int64_t first, int64_t target, row_group_t group, int batch, bool ragged,
                      tdm_type type) {
  const int64_t cols = p->groups.cols;
  const bool valid = first + group.sub < p->groups.rows && has_loss(p, target);
  if (!ragged) {
    const char *at = row_at(p->logits, p->ldl, first, group, type);
    row_place place = place_row(&p->groups, first, at, group, false, type);
    if (!valid) place.own = 2 * FAR;
    return (one_row){batches_of(at, nothing_compared(type), cols, place, group, batch, false, type), place.own, -1, target,
                     valid};
  }
  const char *at = ragged_at(p->logits, p->ldl, first, group, type);
  const ragged_row r = ragged_of(at, (int)cols, valid, group, type);
  return (one_row){batches_of_ragged(&r, at, nothing_compared(type), cols, group, batch, type),
                   group.lane * chunk_length(type) + r.skew, r.element, target, valid};
}

DEVICE uint32_t load_single_of(const one_row *row, bool ragged, tdm_type type) {
  if (!ragged) return 0;
  const char *at =
      row->element >= 0 ? row->batches.at + (int64_t)(row->element - row->before) * tdm_bytes(type) : row->batches.elsewhere;
  return load_single(at, type);
}

// The batch with which a wave begins its rows. Waves that compute alike load the same batch of neighbouring rows at about the
// same time, and where a row's length makes the lines of these few channels of the memory, they wait for those: 3000 f32 got
// 0.77 of the rate of memory when all began with the first batch, predicted. 97 / 256 is near the golden section: any few waves
// side by side begin far apart, and 256 of them with each batch about as often.
DEVICE int first_batch_of_wave(const row_batches *r) {
  const uint32_t wave = __builtin_amdgcn_workgroup_id_x() * (HIP_ROWS_WORKGROUP / WAVE) + (uint32_t)wave_index();
  return (int)((wave * 97 & 255) * (uint32_t)r->count >> 8);
}

// A row is loaded a round ahead, and its target two: whether the row is read depends on it.
DEVICE void cross_entropy_body(cross_entropy_args *p, int batch, bool ragged, tdm_type type) {
  SHARED static row_slots slots;
  row_group_t group = row_group_of(&p->groups);
  raw_chunk raw[BATCH_MOST];
  int turn = 0;
  int64_t mine = group.first + group.sub, first_target = target_of(p, mine), target = target_of(p, mine + group.step);
  take_rest(p);
  one_row now = row_of(p, group.first, first_target, group, batch, ragged, type);
  uint32_t single = load_single_of(&now, ragged, type);
  const int from = first_batch_of_wave(&now.batches);
  load_batch(raw, &now.batches, from, group, batch, type);
  FOR_ROWS(first, &p->groups, group) {
    int64_t row = first + group.sub;
    one_row next = row_of(p, first + group.step, target, group, batch, ragged, type);
    target = target_of(p, row + 2 * group.step);
    const row_sum_t begun = ragged ? sum_of_one(single_of(single, type)) : (row_sum_t){LEAST_FLOAT, 0};
    single = load_single_of(&next, ragged, type);
    // The target's logit: 0 if another part has it.
    bool has = now.valid && has_target(p, now.target);
    float logit =
        load_global_element(has ? now.batches.at : now.batches.elsewhere, has ? now.target - p->first - now.before : 0, type);
    row_sum_t s = sum_row(begun, raw, &now.batches, &next.batches, from, group, &slots, &turn, batch, false, type);
    if (row < p->groups.rows && group.lane == 0) store_loss(p, row, now.target, has ? logit : 0, now.valid, s);
    now = next;
  }
}

// ---- Short rows ----
//
// A turn takes a row for each row group of the wave, and lane j of a group keeps the sum of turn j: each lane ends a row of its
// own, and targets, logarithms and losses of up to 64 rows, which lie side by side, take one instruction each.

enum { TURNS_AT_ONCE = 2, SHORT_MOST = 2 };

typedef struct short_row {
  raw_chunk raw[SHORT_MOST];
  uint32_t single;
} short_row;

typedef struct short_rows {
  short_row of[TURNS_AT_ONCE];
} short_rows;

// Where a work-item's chunks and its single element of a turn's row are, in bytes after the first row of the turn; below 0: it
// has none. They are the same in each turn, because turns have an even number of rows, so that a work-item's rows begin alike.
typedef struct short_place {
  int64_t chunk[SHORT_MOST], single;
} short_place;

DEVICE short_place place_short(const cross_entropy_args *p, row_group_t g, int kept, bool ragged, tdm_type type) {
  const int64_t row = g.sub * p->ldl * tdm_bytes(type);
  short_place place = {{-1, -1}, -1};
  if (!ragged) {
    const int chunks = (int)p->groups.cols / chunk_length(type);
#pragma unroll
    for (int k = 0; k < kept; k++)
      if (g.lane + (k << g.log2) < chunks) place.chunk[k] = row + (g.lane + (k << g.log2)) * 16;
    return place;
  }
  const ragged_row r = ragged_of((const char *)p->logits + row, (int)p->groups.cols, true, g, type);
#pragma unroll
  for (int k = 0; k < kept; k++)
    if (has_chunk(&r, k, g)) place.chunk[k] = row + ragged_chunk(&r, k, g, type);
  if (r.element >= 0) place.single = row + r.element * tdm_bytes(type);
  return place;
}

// reads: bit j: the row of turn j of this lane's group is read.
DEVICE void load_short(const cross_entropy_args *p, short_rows *rows, const short_place *place, int64_t first, int turn,
                       uint32_t reads, row_group_t g, int kept, bool ragged, tdm_type type) {
  const char *elsewhere = (const char *)nothing_compared(type);
#pragma unroll
  for (int t = 0; t < TURNS_AT_ONCE; t++) {
    const char *at = (const char *)p->logits + (first + ((int64_t)(turn + t) << (6 - g.log2))) * p->ldl * tdm_bytes(type);
    const bool read = (reads >> (turn + t) & 1) != 0;
    short_row *x = &rows->of[t];
#pragma unroll
    for (int k = 0; k < kept; k++) x->raw[k] = load_global(read && place->chunk[k] >= 0 ? at + place->chunk[k] : elsewhere);
    if (ragged) x->single = load_single(read && place->single >= 0 ? at + place->single : elsewhere, type);
  }
}

DEVICE row_sum_t sum_short(const chunk *of, float one, row_group_t g, int kept, bool ragged, tdm_type type) {
  float max = ragged ? larger_of(LEAST_FLOAT, one) : LEAST_FLOAT;
  f32x2 sum = 0;
  chunk x[SHORT_MOST];
#pragma unroll
  for (int k = 0; k < kept; k++) max = largest_of(&of[k], max, type);
  max = lanes_reduce<float>(max, g.log2, max, larger_of);
#pragma unroll
  for (int k = 0; k < kept; k++) {
    x[k] = of[k];
    sum += exponentials(&x[k], max, type);
  }
  const float all = ragged ? sum.x + sum.y + exponential_of(one - max) : sum.x + sum.y;
  return (row_sum_t){max, lanes_reduce<float>(all, g.log2, 0, sum_of)};
}

// Of the lanes of this one's row group.
DEVICE uint32_t group_ballot(bool x, row_group_t g) {
  return (uint32_t)(__builtin_amdgcn_ballot_w64(x) >> (g.sub << g.log2)) & ((1u << (1 << g.log2)) - 1);
}

// Rows are loaded two turns ahead, and targets two blocks: whether a row is read depends on its target.
DEVICE void cross_entropy_short(cross_entropy_args *p, int log2, int kept, bool ragged, tdm_type type) {
  row_group_t g = row_group_of(&p->groups);
  g.log2 = log2;  // a constant
  const int64_t rows = p->groups.rows, block = (int64_t)p->turns << (6 - g.log2), waves = HIP_ROWS_WORKGROUP / WAVE,
                step = (int64_t)p->groups.workgroups * waves * block;
  const int own = (g.lane << (6 - g.log2)) + g.sub;
  const bool ends = g.lane < p->turns;
  int64_t first = ((int64_t)__builtin_amdgcn_workgroup_id_x() * waves + wave_index()) * block;
  int64_t target = target_of(p, first + own), next_target = target_of(p, first + step + own);
  take_rest(p);
  bool valid = ends && first + own < rows && has_loss(p, target);
  uint32_t reads = group_ballot(valid, g);
  const short_place place = place_short(p, g, kept, ragged, type);
  short_rows raw;
  load_short(p, &raw, &place, first, 0, reads, g, kept, ragged, type);
  for (; first < rows; first += step) {
    const int64_t row = first + own;
    const bool next_valid = ends && row + step < rows && has_loss(p, next_target), has = valid && has_target(p, target);
    const uint32_t next_reads = group_ballot(next_valid, g);
    const int64_t after = target_of(p, row + 2 * step);
    const char *elsewhere = (const char *)nothing_compared(type);
    const float logit = load_global_element(has ? (const char *)p->logits + row * p->ldl * tdm_bytes(type) : elsewhere,
                                            has ? target - p->first : 0, type);
    row_sum_t mine = {LEAST_FLOAT, 0};
#pragma unroll 1
    for (int turn = 0; turn < p->turns; turn += TURNS_AT_ONCE) {
      const bool last = turn + TURNS_AT_ONCE >= p->turns;
      chunk x[TURNS_AT_ONCE][SHORT_MOST];
      float one[TURNS_AT_ONCE];
#pragma unroll
      for (int t = 0; t < TURNS_AT_ONCE; t++) {
        chunks_of(x[t], raw.of[t].raw, kept, type);
        one[t] = ragged ? single_of(raw.of[t].single, type) : 0;
      }
      load_short(p, &raw, &place, last ? first + step : first, last ? 0 : turn + TURNS_AT_ONCE, last ? next_reads : reads, g,
                 kept, ragged, type);
#pragma unroll
      for (int t = 0; t < TURNS_AT_ONCE; t++) {
        const row_sum_t s = sum_short(x[t], one[t], g, kept, ragged, type);
        if (g.lane == turn + t) mine = s;
      }
    }
    if (ends && row < rows) store_loss(p, row, target, has ? logit : 0, valid, mine);
    target = next_target, valid = next_valid, reads = next_reads, next_target = after;
  }
}

// ---- Short rows without gaps between them ----

enum { NEAR_SIMD_WAVES = CHIP_LDS_BANKS == 64 ? 6 : 3 };  // gfx942 has LDS for 3

// Of a row in LDS.
DEVICE row_sum_t sum_near(const uint32_t *rows, const near_place *place, int steps, row_group_t g, int loads, tdm_type type) {
  const uint32_t last = (rows[place->last] & place->keep) | place->add, stride = 1u << g.log2;
  uint32_t word[NEAR_KEPT_MOST];
  float max = largest_in(last, LEAST_FLOAT, type);
  for_kept(place->first, steps - 1, stride, loads, [&](int k, int count, uint32_t at) {
#pragma unroll
    for (int i = 0; i < count; i++) word[k + i] = rows[at + i * stride];
#pragma unroll
    for (int i = 0; i < count; i++) max = largest_in(word[k + i], max, type);
  });
  max = lanes_reduce<float>(max, g.log2, max, larger_of);
  f32x2 sum = exponentials_in(last, max, type);
  for_kept(place->first, steps - 1, stride, loads, [&](int k, int count, uint32_t) {
#pragma unroll
    for (int i = 0; i < count; i++) sum += exponentials_in(word[k + i], max, type);
  });
  return (row_sum_t){max, lanes_reduce<float>(sum.x + sum.y, g.log2, 0, sum_of)};
}

// One element in LDS.
DEVICE float near_element(const uint32_t *rows, uint32_t byte, tdm_type type) {
  const uint32_t word = rows[byte / 4];
  return type == TDM_F32 ? float_of(word) : single_of((byte & 2) != 0 ? word >> 16 : word & 0xffff, type);
}

// Of each lane the x of lane `from`.
DEVICE int lane_of(int x, int from) { return __builtin_amdgcn_ds_bpermute(from * 4, x); }

// What a wave loads of a single row, with the halves of dwords that the row shares with those beside it: `odd` rows have an odd
// number of 16-bit elements. skew: the row begins between two dwords. The last row of all may end with half a dword, which
// stage_half() loads.
DEVICE buffer single_buffer(const cross_entropy_args *p, int64_t row, int64_t end, int odd, int skew, tdm_type type) {
  const int64_t bytes = p->groups.cols * tdm_bytes(type), begin = row * bytes - 2 * skew;
  const int shared = odd != 0 && (skew != 0 || row + 1 < p->groups.rows) ? 2 : 0;
  return make_buffer((const char *)p->logits + begin, row < end ? bytes + shared : 0);
}

// A wave takes neighbouring rows, in turns of a row for each of its row groups, and loads them a turn ahead. Lane j of a group
// keeps the sum of turn j, as above. Of single rows with an odd number of 16-bit elements every second one begins between two
// dwords; so two waves share as many rows as both have turns, and each takes those that begin alike.
template <int loads>
DEVICE void cross_entropy_near(cross_entropy_args *p, int log2, tdm_type type) {
  enum { WAVES = HIP_ROWS_WORKGROUP / WAVE };
  SHARED alignas(16) static uint32_t staged[WAVES][near_nothing(loads) + 4];
  row_group_t g = row_group_of(&p->groups);
  g.log2 = log2;
  uint32_t *at = staged[wave_index()];
  const bool single = log2 == 6 && type != TDM_F32;
  const int cols = (int)p->groups.cols, steps = near_steps(cols, g, type), wave = wave_index(), odd = single ? cols & 1 : 0,
            skew = wave & odd, own = ((g.lane << (6 - g.log2)) + g.sub) << odd;
  const int64_t at_once = WAVE >> g.log2, most = p->turns * at_once, step = at_once << odd,
                begin = ((int64_t)__builtin_amdgcn_workgroup_id_x() * WAVES + (wave - skew)) * most, first = begin + skew,
                end = begin + (most << odd) < p->groups.rows ? begin + (most << odd) : p->groups.rows;
  if (first >= end) return;
  const near_place place = single ? place_near_at(2 * skew, cols, g, steps, loads, minus_infinity(type), type)
                                  : place_near(cols, g, steps, loads, minus_infinity(type), type);
  const auto load = [&](u32x4 *raw, int64_t row) {
    const buffer from =
        single ? single_buffer(p, row, end, odd, skew, type) : near_buffer(p->logits, p->groups.cols, row, end, g, type);
    load_words(raw, from, loads);
  };
  int64_t target = target_of(p, first + own);
  u32x4 raw[NEAR_LOADS_MOST];
  load(raw, first);
  take_rest(p);
  at[near_nothing(loads)] = minus_infinity(type);
  for (int64_t block = first; block < end; block += WAVE << odd) {
    const int64_t row = block + own, next_target = target_of(p, row + (WAVE << odd));
    const bool ends = row < end, valid = ends && has_loss(p, target), has = valid && has_target(p, target);
    const int byte = has ? (int)(target - p->first) * tdm_bytes(type) : -1;
    row_sum_t mine = {LEAST_FLOAT, 0};
    float logit = 0;
    int64_t now = block;
#pragma unroll 1
    for (int turn = 0; turn < 1 << g.log2 && now < end; turn++, now += step) {
      stage_words(at, raw, loads);
      if (skew == 0) stage_half(p->logits, &p->groups, at, now, g, type);
      load(raw, now + step);
      const int of_turn = lane_of(byte, (g.sub << g.log2) + turn);
      const float one = near_element(at, place.begin + (uint32_t)(of_turn < 0 ? 0 : of_turn), type);
      const row_sum_t s = sum_near(at, &place, steps, g, loads, type);
      if (g.lane == turn) mine = s, logit = one;
    }
    if (ends) store_loss(p, row, target, has ? logit : 0, valid, mine);
    target = next_target;
  }
}

// ---- Rows that are split over workgroups: any rows ----

DEVICE float *logit_of(const cross_entropy_parts_args *p, int64_t row) {
  return p->sums + 2 * p->parts.rows * (int64_t)p->parts.parts + row;
}

// The workgroup whose part has the target's logit reads that, too: its line is on its way. The last workgroup of a row joins
// the parts; it would have to wait for the target first. A row without a loss is read as well, for nobody waits for its target.
DEVICE void cross_entropy_parts(cross_entropy_parts_args *p, tdm_type type) {
  SHARED static row_slots slots;
  const row_part w = part_of_rows(&p->parts, p->rows.logits, p->rows.ldl, type);
  const char *at = part_begin(p->rows.logits, p->rows.ldl, &w, type);
  const int64_t target = target_of_rows(&p->rows, w.row, p->parts.rows);
  loaded_part part = load_first_of_part(at, w.cols, w.group, type);
  take_rest(p);
  const bool has = has_target(&p->rows, target);
  const int64_t element = has ? target - p->rows.first - w.start : -1;
  if (element >= 0 && element < w.cols && thread_index() == 0) *logit_of(p, w.row) = load_global_element(at, element, type);
  store_part_sum(p->sums, sum_of_part(&part, w.group, &slots, type));
  if (wave_index() > 0) return;
  if (!is_last_of((GLOBAL uint32_t *)p->counters + w.row, (uint32_t)p->parts.parts, (uint32_t)lane_index())) return;
  const row_sum_t s = sum_of_parts(p->sums, w.row, p->parts.parts);
  const float logit = has ? *logit_of(p, w.row) : 0;
  if (lane_index() == 0) store_loss(&p->rows, w.row, target, logit, has_loss(&p->rows, target), s);
}

#define PARTS(word, type)                                                               \
  PARTS_KERNEL(6) void cross_entropy_parts_##word(ARGUMENT(cross_entropy_parts_args)) { \
    cross_entropy_parts_args p = ARGUMENT_OF(cross_entropy_parts_args);                 \
    cross_entropy_parts(&p, type);                                                      \
  }
PARTS(f32, TDM_F32)
PARTS(f16, TDM_F16)
PARTS(bf16, TDM_BF16)

#define CROSS_ENTROPY(name, waves, body, ...)                  \
  ROWS_KERNEL(waves) void name(ARGUMENT(cross_entropy_args)) { \
    cross_entropy_args p = ARGUMENT_OF(cross_entropy_args);    \
    body(&p, __VA_ARGS__);                                     \
  }
#define SHORT(name, waves, log2, kept, ragged, type)                                    \
  KERNEL WORKGROUP(HIP_ROWS_WORKGROUP, waves) void name(ARGUMENT(cross_entropy_args)) { \
    cross_entropy_args p = ARGUMENT_OF(cross_entropy_args);                             \
    cross_entropy_short(&p, log2, kept, ragged, type);                                  \
  }
#define SHORT_ROWS(word, type)                                      \
  SHORT(cross_entropy_short_8x1_##word, 8, 3, 1, false, type)       \
  SHORT(cross_entropy_short_8x2_##word, 5, 3, 2, false, type)       \
  SHORT(cross_entropy_short_16x1_##word, 8, 4, 1, false, type)      \
  SHORT(cross_entropy_short_ragged_8x1_##word, 8, 3, 1, true, type) \
  SHORT(cross_entropy_short_ragged_16x1_##word, 8, 4, 1, true, type)

CROSS_ENTROPY(cross_entropy_f32, 5, cross_entropy_body, 4, false, TDM_F32)
CROSS_ENTROPY(cross_entropy_f16, 4, cross_entropy_body, 4, false, TDM_F16)
CROSS_ENTROPY(cross_entropy_bf16, 4, cross_entropy_body, 4, false, TDM_BF16)
// Rows that are not whole chunks of 16 bytes, or begin between two dwords.
CROSS_ENTROPY(cross_entropy_ragged_f32, 5, cross_entropy_body, 4, true, TDM_F32)
CROSS_ENTROPY(cross_entropy_ragged_f16, 4, cross_entropy_body, 4, true, TDM_F16)
CROSS_ENTROPY(cross_entropy_ragged_bf16, 4, cross_entropy_body, 4, true, TDM_BF16)
SHORT_ROWS(f32, TDM_F32)
SHORT_ROWS(f16, TDM_F16)
SHORT_ROWS(bf16, TDM_BF16)
#define NEAR(each, name, type)                                                                    \
  KERNEL WORKGROUP(HIP_ROWS_WORKGROUP, NEAR_SIMD_WAVES) void name(ARGUMENT(cross_entropy_args)) { \
    cross_entropy_args p = ARGUMENT_OF(cross_entropy_args);                                       \
    each(p.groups.group_log2, cross_entropy_near, &p, type);                                      \
  }
NEAR(EACH_NEAR_2, cross_entropy_near_2_f32, TDM_F32)
NEAR(EACH_NEAR_2, cross_entropy_near_2_f16, TDM_F16)
NEAR(EACH_NEAR_2, cross_entropy_near_2_bf16, TDM_BF16)
NEAR(EACH_NEAR_4_FROM_2, cross_entropy_near_4_f32, TDM_F32)
NEAR(EACH_NEAR_4_FROM_2, cross_entropy_near_4_f16, TDM_F16)
NEAR(EACH_NEAR_4_FROM_2, cross_entropy_near_4_bf16, TDM_BF16)
