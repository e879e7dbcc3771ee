/* Which queries and keys a workgroup has, and which of the keys its rows see.
 *
 * Flash: a tile of one head's queries, and all keys. Decode: a unit and one key split. The rows of a head of keys are the
 * queries of all heads that share it, head by head, and a unit is a block of up to 128 of them, or 32 in attention_f32.hip:
 * unit = head of keys + heads_kv * (batch + batches * block). Flash in units: the same with up to 256 rows, but a head's rows
 * are filled up to a multiple of 32, so that those of a wave are one head's. `decode` and `block_rows` are constants of each
 * kernel. */
#ifndef TANDEM_HIP_ATTENTION_WORK_H
#define TANDEM_HIP_ATTENTION_WORK_H

#include "args.h"
#include "hip/device/arguments.h"
#include "hip/device/types.h"
#include "key_splits.h"
#include "src/base/order.h"

/* Loads what is read of it here (device/arguments.h). */
DEVICE attention_args attention_args_again(void) { return args_again<attention_args>(nullptr); }

DEVICE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Arrays begin at the first row of their head (in decode q, o and lse at the first row of the first head), k and v at the
 * first key. */
typedef struct attention_work {
  const char *q, *k, *v;
  char *o;
  float *lse;
  int64_t first;           /* first row of the tile or block; of the loops of flash up to 192 columns, of the wave */
  int64_t last;            /* of these loops: the last query of any row of the workgroup */
  int64_t rows;            /* of the head, or of all heads of the group */
  int64_t first_key, keys; /* of the workgroup */
  float *part, *numbers;   /* decode with several key splits: the results of each row; its reference and sum */
  bool decode;
} attention_work;

/* Are there values that some query does not see: of later keys; or, if rows overlap, of the last key, which rows after it have,
 * too? */
DEVICE bool hides_values(const attention_args *a) { return a->causal || a->v_stride.row < a->head_dim; }

/* Loads what find_work() and the first loads need, in one statement: the loads of a second one could wait for the first. The
 * general kernels do not call it: by general256, 2x4x4x100x300x256 f32 took 13 % more predicted clocks on gfx942. */
DEVICE void load_work_arguments(const attention_args *a) {
  asm volatile("" ::"s"(a->q), "s"(a->k), "s"(a->v), "s"(a->group), "s"(a->heads_kv), "s"(a->sq), "s"(a->skv), "s"(a->head_dim),
               "s"(a->q_stride.batch), "s"(a->q_stride.head), "s"(a->q_stride.row), "s"(a->k_stride.batch),
               "s"(a->k_stride.head), "s"(a->k_stride.row), "s"(a->v_stride.batch), "s"(a->v_stride.head), "s"(a->v_stride.row),
               "s"(a->tiles), "s"(a->count), "s"(a->xcds), "s"(a->chunk), "s"(a->band), "s"(a->banded), "s"(a->of_turn.factor),
               "s"(a->of_group.factor), "s"(a->of_tiles.factor), "s"(a->of_heads_kv.factor));
}

/* Heads that share keys and values follow each other, and the order gives them to one XCD, whose L2 then holds their keys.
 * The last tiles come first: causal, they see the most keys, so the workgroups end at about the same time. If the L2 holds the
 * keys of several heads, a band, the last tiles of all of them come first: else a CU could get two long tiles of a short
 * sequence, one of each of two heads, and another CU two short ones. */
DEVICE attention_work find_work(const attention_args *a, int rows, tdm_type type) {
  uint32_t at = tdm_order_remap(__builtin_amdgcn_workgroup_id_x(), a->count, a->xcds, a->chunk);
  const bool banded = at < a->banded;
  uint32_t group = (uint32_t)a->group, band = banded ? a->band : 1, in_turn = band * group;
  uint32_t turn = quotient(at, banded ? a->of_turn : a->of_group), of_band = quotient(turn, a->of_tiles);
  uint32_t within = at - turn * in_turn, in_band = quotient(within, a->of_group), kv = of_band * band + in_band;
  uint32_t batch = quotient(kv, a->of_heads_kv), head_kv = kv - batch * (uint32_t)a->heads_kv;
  uint32_t head = head_kv * group + (within - in_band * group);
  int64_t bytes = tdm_bytes(type);
  attention_work w = {};
  w.first = (int64_t)(a->tiles - 1 - (turn - of_band * a->tiles)) * rows;
  w.rows = a->sq;
  w.keys = a->skv;
  w.q = (const char *)a->q + (batch * a->q_stride.batch + head * a->q_stride.head) * bytes;
  w.k = (const char *)a->k + (batch * a->k_stride.batch + head_kv * a->k_stride.head) * bytes;
  w.v = (const char *)a->v + (batch * a->v_stride.batch + head_kv * a->v_stride.head) * bytes;
  w.o = (char *)a->o + (batch * a->o_stride.batch + head * a->o_stride.head) * bytes;
  w.lse = a->lse == nullptr ? nullptr : a->lse + (batch * a->heads_q + head) * a->sq;
  return w;
}

/* Which unit and which of its parts a workgroup has. Parts of a unit are on one XCD, as far as units fill all XCDs: the
 * workgroup that adds them finds them in its L2. Workgroups go to the XCDs round-robin by their number. Blocks of a head of
 * keys are far from each other, and so on one XCD too if the heads fill all XCDs. */
typedef struct part_place {
  uint32_t unit, part, kv, first; /* first: the block's first row */
} part_place;

DEVICE part_place place_of(const attention_args *a, uint32_t unit, uint32_t part, uint32_t block_rows = GENERAL_ROWS) {
  const uint32_t block = quotient(unit, a->of_heads), heads = a->heads;
  return (part_place){unit, part, unit - block * heads, block * block_rows};
}

DEVICE part_place find_place(const attention_args *a, uint32_t block_rows = GENERAL_ROWS) {
  const uint32_t id = __builtin_amdgcn_workgroup_id_x(), round = quotient(id, a->of_round), first = round * a->xcds * a->splits;
  const uint32_t within = id - first, in_turn = quotient(within, a->of_xcds), in_row = quotient(within, a->of_splits);
  if (a->count - first >= a->xcds * a->splits)
    return place_of(a, round * a->xcds + within - in_turn * a->xcds, in_turn, block_rows);
  return place_of(a, round * a->xcds + in_row, within - in_row * a->splits, block_rows);
}

/* The keys of a workgroup's part, and which head of keys it is: all that the waves need that only load. Their first loads wait
 * for it, so it is 32 bits wide where it can be: the scalar unit has no comparison of 64 bits. */
typedef struct part_keys {
  const char *k;
  uint32_t first, keys, batch, head;
} part_keys;

DEVICE part_keys find_keys(const attention_args *a, part_place place, tdm_type type) {
  const uint32_t batch = quotient(place.kv, a->of_heads_kv), head = place.kv - batch * (uint32_t)a->heads_kv;
  const uint32_t first = place.part * (uint32_t)a->split_keys, left = (uint32_t)a->skv - first;
  part_keys p = {nullptr, first, (uint32_t)a->split_keys < left ? (uint32_t)a->split_keys : left, batch, head};
  p.k = (const char *)a->k + (batch * a->k_stride.batch + head * a->k_stride.head + first * a->k_stride.row) * tdm_bytes(type);
  return p;
}
DEVICE const char *find_values(const attention_args *a, const part_keys *p, tdm_type type) {
  const int64_t at = p->batch * a->v_stride.batch + p->head * a->v_stride.head + p->first * a->v_stride.row;
  return (const char *)a->v + at * tdm_bytes(type);
}

/* What find_place() and find_keys() read, for one asm statement that loads all of it at once. find_part() reads more. Of a
 * divisor both numbers: the second one by a load of its own would come 120 clocks later. */
#define DIVISOR(x) "s"(__builtin_bit_cast(uint64_t, x))
#define KEY_FIELDS(a)                                                                                                 \
  "s"(a->k), "s"(a->v), "s"(a->heads_kv), "s"(a->skv), "s"(a->head_dim), "s"(a->count), "s"(a->xcds), "s"(a->splits), \
      "s"(a->split_keys), "s"(a->heads), "s"(a->k_stride.batch), "s"(a->k_stride.head), "s"(a->k_stride.row),         \
      "s"(a->v_stride.batch), "s"(a->v_stride.head), "s"(a->v_stride.row), DIVISOR(a->of_round), DIVISOR(a->of_xcds), \
      DIVISOR(a->of_splits), DIVISOR(a->of_heads), DIVISOR(a->of_heads_kv)
DEVICE void load_key_arguments(const attention_args *a) { asm volatile("" ::KEY_FIELDS(a)); }

/* What find_place(), find_keys() and the loads of keys read of the argument, of a launch for which it is known. Its units are
 * heads of keys: of_heads divides to 0. */
DEVICE attention_args known_args(const attention_first *f, tdm_type type) {
  const int64_t chunk = 16 / tdm_bytes(type);
  attention_args a = {};
  a.k = global_pointer(f->k);
  a.k_stride = {f->k_batch * chunk, f->k_head * chunk, f->k_row * chunk};
  a.heads_kv = f->heads_kv, a.skv = f->skv, a.head_dim = f->chunks * chunk;
  a.count = f->units * f->splits, a.heads = f->units;
  a.xcds = f->xcds, a.splits = f->splits, a.split_keys = f->split_keys;
  a.of_splits = {f->of_splits, f->splits_shift}, a.of_heads_kv = {f->of_heads_kv, f->heads_kv_shift};
  a.of_round = {f->of_round, f->round_shift}, a.of_xcds = {f->of_xcds, f->xcds_shift};
  return a;
}
/* What find_values() reads, asked for and not waited for: it comes while the first keys are found. */
DEVICE attention_args ask_values(void) {
  auto segment = (const volatile attention_args __attribute__((address_space(4))) *)__builtin_amdgcn_kernarg_segment_ptr();
  attention_args a = {};
  a.v = segment->v;
  a.v_stride.batch = segment->v_stride.batch;
  a.v_stride.head = segment->v_stride.head;
  a.v_stride.row = segment->v_stride.row;
  return a;
}
/* Waits for it, here. */
DEVICE void have_values(attention_args *a) {
  keep_order();
  asm volatile("" : "+s"(a->v), "+s"(a->v_stride.batch), "+s"(a->v_stride.head), "+s"(a->v_stride.row));
}
DEVICE void load_part_arguments(const attention_args *a) {
  asm volatile("" ::KEY_FIELDS(a), "s"(a->q), "s"(a->q_stride.batch), "s"(a->q_stride.head), "s"(a->q_stride.row),
               "s"(a->group), DIVISOR(a->of_head_rows), "s"(a->head_rows), "s"(a->group_rows));
}

/* Of a row of a head of keys: the head of the group, and the query. */
typedef struct row_in_group {
  uint32_t head, query;
} row_in_group;

DEVICE row_in_group find_row(const attention_args *a, uint32_t row) {
  const uint32_t head = quotient(row, a->of_head_rows);
  return (row_in_group){head, row - head * a->head_rows};
}

/* One workgroup for each key split of each unit. Without what only find_results() finds: the first loads don't wait for
 * it. */
DEVICE attention_work find_part(const attention_args *a, tdm_type type, uint32_t block_rows = GENERAL_ROWS) {
  load_part_arguments(a);
  const part_place place = find_place(a, block_rows);
  const part_keys part = find_keys(a, place, type);
  const uint32_t batch = quotient(place.kv, a->of_heads_kv), head_kv = place.kv - batch * (uint32_t)a->heads_kv;
  attention_work w = {};
  w.first = place.first;
  w.rows = a->group_rows;
  w.first_key = part.first;
  w.keys = part.keys;
  w.q = (const char *)a->q +
        (batch * a->q_stride.batch + head_kv * (uint32_t)a->group * a->q_stride.head) * (int64_t)tdm_bytes(type);
  w.k = part.k;
  w.v = find_values(a, &part, type);
  w.decode = true;
  return w;
}

/* Flash in units: the wave's queries, from w.first on, and a part of the keys. w.rows is 0 if the unit has none for it. */
DEVICE attention_work find_wave_of_unit(const attention_args *a, tdm_type type) {
  load_part_arguments(a);
  asm volatile("" : : "s"(a->sq), "s"(a->q_stride.row));
  const part_place place = find_place(a, FAST_ROWS);
  const part_keys part = find_keys(a, place, type);
  const uint32_t batch = quotient(place.kv, a->of_heads_kv), head_kv = place.kv - batch * (uint32_t)a->heads_kv;
  const uint32_t row = place.first + (uint32_t)wave_index() * 32, end = place.first + rows_of_block(a, place.first, FAST_ROWS);
  const row_in_group first = find_row(a, place.first), at = find_row(a, row), before_end = find_row(a, end - 1);
  const uint32_t head = head_kv * (uint32_t)a->group + at.head;
  const int64_t bytes = tdm_bytes(type);
  attention_work w = {};
  w.first = at.query;
  w.rows = row < end ? a->sq : 0;
  w.first_key = part.first;
  w.keys = part.keys;
  w.q = (const char *)a->q + (batch * a->q_stride.batch + head * a->q_stride.head) * bytes;
  w.k = part.k;
  w.v = find_values(a, &part, type);
  w.o = (char *)a->o + (batch * a->o_stride.batch + head * a->o_stride.head) * bytes;
  w.lse = a->lse == nullptr ? nullptr : a->lse + (batch * a->heads_q + head) * a->sq;
  w.last = first.head < before_end.head ? a->sq - 1 : least(before_end.query, a->sq - 1);
  return w;
}

/* Where the workgroup stores its rows. */
DEVICE void find_results(const attention_args *a, attention_work *w, tdm_type type, uint32_t block_rows = GENERAL_ROWS) {
  const part_place place = find_place(a, block_rows);
  const uint32_t batch = quotient(place.kv, a->of_heads_kv);
  const uint32_t head = (place.kv - batch * (uint32_t)a->heads_kv) * (uint32_t)a->group;
  w->o = (char *)a->o + (batch * a->o_stride.batch + head * a->o_stride.head) * (int64_t)tdm_bytes(type);
  w->lse = a->lse == nullptr ? nullptr : a->lse + (batch * a->heads_q + head) * a->sq;
  if (a->splits > 1) {
    w->part = part_results(a, place.unit * a->splits + place.part);
    w->numbers = part_numbers(a, place.unit * a->splits + place.part, block_rows);
  }
}

/* The offset in elements from the first row of an array to row `row` of the workgroup's rows. */
DEVICE int64_t row_offset(const attention_args *a, const attention_work *w, const tdm_attention_strides *s, int64_t row) {
  if (!w->decode) return row * s->row;
  const row_in_group at = find_row(a, (uint32_t)row);
  return at.head * s->head + at.query * s->row;
}

/* How many of the workgroup's keys query `query` of a head sees; they are the first ones. */
DEVICE int64_t keys_seen_by(const attention_args *a, const attention_work *w, int64_t query) {
  const int64_t seen = least(a->causal ? query + 1 + a->skv - a->sq - w->first_key : w->keys, w->keys);
  return seen < 0 ? 0 : seen;
}

/* The same for row `row`. Rows after the last one see none. */
DEVICE int64_t keys_seen(const attention_args *a, const attention_work *w, int64_t row) {
  if (row >= w->rows) return 0;
  return keys_seen_by(a, w, w->decode ? find_row(a, (uint32_t)row).query : row);
}

/* The number of keys that all of the rows from `first` on see, or fewer. */
DEVICE int64_t keys_seen_by_all(const attention_args *a, const attention_work *w, int64_t first) {
  if (first >= w->rows) return 0;
  if (!w->decode) return keys_seen(a, w, first);
  const row_in_group at = find_row(a, (uint32_t)first);
  return keys_seen_by(a, w, at.query + 32 <= (uint32_t)a->sq ? at.query : 0);
}

/* The number of keys that any of `rows` rows from `first` on sees, or more. */
DEVICE int64_t keys_seen_by_any(const attention_args *a, const attention_work *w, int64_t first, int rows) {
  if (first >= w->rows) return 0;
  if (!w->decode) return keys_seen(a, w, least(first + rows, w->rows) - 1);
  const uint32_t last = find_row(a, (uint32_t)first).query + (uint32_t)rows; /* if they are of one head */
  return keys_seen_by(a, w, last < (uint32_t)a->sq ? last - 1 : a->sq - 1);
}

/* The same float of lane ^ mask. */
DEVICE float of_other_lane(float x, int mask) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane_index() ^ mask) * 4, __builtin_bit_cast(int, x)));
}

/* The same float of lane ^ 32, which has the other keys of the same query. */
DEVICE float other_half(float x) {
#if CHIP_LANE_SWAP
  u32x2 both = __builtin_bit_cast(
      u32x2, __builtin_amdgcn_permlane32_swap(__builtin_bit_cast(uint32_t, x), __builtin_bit_cast(uint32_t, x), false, false));
  return __builtin_bit_cast(float, lane_index() < 32 ? both[1] : both[0]);
#else
  return of_other_lane(x, 32);
#endif
}

/* The natural logarithm of the sum of exponentials. For the sum 0 it is minus infinity, whatever the reference. */
DEVICE float log_sum(float reference, float sum) { return (reference + __builtin_amdgcn_logf(sum)) * 0x1.62e43p-1f; }

#endif
