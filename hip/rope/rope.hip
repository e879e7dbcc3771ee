// rope: rotates the pairs of a head by the angle of their position. A work-item takes a chunk of pairs that are side by side;
// or of pairs half a head apart, a chunk of each half. It does so in several runs of heads (args.h) of a position, in which the
// chunk has the same place and angles.
#include "args.h"
#include "hip/device/arguments.h"
#include "hip/device/blocks.h"
#include "hip/device/wait.h"

DEVICE void set_pointers(rope_args *p) { set_global(&p->x), set_global(&p->y), set_global(&p->sincos); }

// What a work-item loads where it has no chunk: no wave may read what another one rotates in place.
__attribute__((constant, aligned(16))) static const uint32_t nothing[4] = {0, 0, 0, 0};

// Where a work-item's chunk of the first run of a part is. Divisions and products of 64 bits take a wave as long as it takes to
// rotate three chunks; so the next place is the sum of the last one and of steps that are the same for all.
typedef struct rope_place {
  block_walk block;
  const char *from;
  char *to;
  int64_t part, angles;  // angles: of the position, in the table
} rope_place;

// Where the lanes of a wave take `packed` heads, each by the lanes of its chunks. Lanes after them are beyond their head.
DEVICE block_walk first_packed(const rope_args *p, tdm_type type) {
  enum { WAVES = HIP_BLOCK_THREADS / WAVE };
  const int length = chunk_length(type), chunks = ((int)p->half + length - 1) / length, lane = lane_index(),
            head = (int)quotient((uint32_t)lane, p->by_chunks), own = head < p->packed ? head : 0;
  const int64_t unit = __builtin_amdgcn_workgroup_id_x();
  return (block_walk){unit, unit * WAVES * p->packed, own == head ? lane - head * chunks : chunks,
                      wave_index() * p->packed + own};
}

// A part of a position. near: there are fewer than HIP_DIVIDED of them, whose products with strides take fewer instructions.
typedef struct rope_row {
  int64_t part, s, batch;
} rope_row;

DEVICE rope_row row_at(const rope_args *p, const block_walk *w, bool near) {
  if (near) {
    const uint32_t row = (uint32_t)row_of(w), position = quotient(row, p->by_parts), batch = quotient(position, p->by_seq);
    return (rope_row){row - position * (uint32_t)p->parts, position - batch * (uint32_t)p->seq, batch};
  }
  const int64_t row = row_of(w), position = quotient_of(row, p->parts, p->by_parts),
                batch = quotient_of(position, p->seq, p->by_seq);
  return (rope_row){row - position * p->parts, position - batch * p->seq, batch};
}

// Where the first run of a row is, in bytes of an array.
DEVICE int64_t offset_of(const rope_args *p, const rope_row *row, const block_walk *w, const tdm_rope_strides *of,
                         tdm_type type) {
  return (row->batch * of->batch + row->s * of->seq + row->part * (p->joined * of->head) + start_of(w, type)) * tdm_bytes(type);
}

// The row is found while the rest of the argument is on its way; not where a wave takes packed heads, which the rest says.
DEVICE rope_row first_row(rope_args *p, block_walk *w, bool packed, bool odd, bool near, tdm_type type) {
  rope_row row;
  if (!odd) *w = first_block(&p->blocks), row = row_at(p, w, near);
  take_rest(p);
  if (!odd && (!packed || p->packed <= 0)) return row;
  *w = first_packed(p, type);
  return row_at(p, w, near);
}

// In bytes of an array: to the next unit, and where a row, a position's parts or a batch's positions are exceeded; from run to
// run of a part.
typedef struct rope_steps {
  int64_t unit, row, position, batch, turn;
} rope_steps;

DEVICE rope_steps steps_of(const rope_args *p, const tdm_rope_strides *of, tdm_type type) {
  const int64_t length = chunk_length(type), bytes = tdm_bytes(type), run = p->joined * of->head * bytes, seq = of->seq * bytes,
                batch = of->batch * bytes;
  return (rope_steps){
      .unit = p->blocks.items_step * length * bytes + p->part_step * run + p->s_step * seq + p->batch_step * batch,
      .row = run - p->blocks.items * length * bytes,
      .position = seq - p->parts * run,
      .batch = batch - p->seq * seq,
      .turn = p->parts * run};
}

DEVICE void next_place(rope_place *w, const rope_args *p, const rope_steps *x, const rope_steps *y) {
  const int64_t angles = 2 * p->angles;
  const int sub = w->block.sub;
  next_block(&w->block, &p->blocks);
  const bool row = w->block.sub != sub;
  w->part += p->part_step + row;
  const bool position = w->part >= p->parts;
  w->part -= position ? p->parts : 0;
  w->angles += p->s_step * angles + (position ? angles : 0);
  const bool batch = w->angles >= p->seq * angles;
  w->angles -= batch ? p->seq * angles : 0;
  w->from += x->unit + (row ? x->row : 0) + (position ? x->position : 0) + (batch ? x->batch : 0);
  w->to += y->unit + (row ? y->row : 0) + (position ? y->position : 0) + (batch ? y->batch : 0);
}

// Elements of the part's run number `turn` from the chunk's first one on, a chunk's at most. What is beside them may be another
// work-item's.
DEVICE int left_of(const rope_args *p, const rope_place *w, int turn, bool halves, bool any, tdm_type type) {
  const int length = chunk_length(type);
  const int64_t before = turn * p->parts;
  if (!has_row(&w->block, &p->blocks) || w->part >= p->runs - before) return 0;
  if (!any) return length;
  const int64_t heads = p->heads - (w->part + before) * p->joined,
                elements = halves ? p->half : (heads < p->joined ? heads : p->joined) * 2 * p->half,
                left = elements - start_of(&w->block, type);
  return left < length ? (int)left : length;
}

DEVICE raw_chunk load_own(const char *from, int left, bool any, tdm_type type) {
  if (any) return load_part(from, (chunk_part){0, left}, 0, true, type);
  return load_global(left > 0 ? from : (const char *)nothing);
}

// Of a chunk's pairs, as they are in memory. The table has so many angles that no mask is needed (args.h).
typedef struct chunk_angles {
  raw_chunk cosines[CHUNK_MOST / 4], sines[CHUNK_MOST / 4];
} chunk_angles;

DEVICE int angle_count(bool halves, tdm_type type) { return halves ? chunk_length(type) : chunk_pairs(type); }
DEVICE float angle_at(const raw_chunk *of, int i) { return float_of(of[i / 4].of_4[i % 4]); }

typedef uint32_t angle_pair __attribute__((ext_vector_type(2), aligned(4)));

DEVICE void load_floats(raw_chunk *to, const float *from, int count) {
  if (count == 2) {  // clang would read a memcpy's bytes one by one
    const auto words = *(const __attribute__((address_space(1))) angle_pair *)from;
    to->of_4[0] = words.x, to->of_4[1] = words.y;
    return;
  }
#pragma unroll
  for (int i = 0; i < count / 4; i++) to[i] = load_global((const char *)(from + 4 * i));
}

// back: pairs by which the chunk is before its usual place; below 0: the lane has none.
DEVICE void load_angles(chunk_angles *to, const rope_args *p, const rope_place *w, int back, bool halves, bool odd,
                        tdm_type type) {
  const int count = angle_count(halves, type);
  int64_t pair = back < 0 ? 0 : w->block.item * count - back;
  if (odd && pair >= p->half) pair = 0;  // the lane has none
#pragma unroll
  for (int i = 1; i < CHUNK_MOST / 2; i++) pair -= !halves && pair >= p->half ? p->half : 0;
  const float *cosines = p->sincos + (has_row(&w->block, &p->blocks) ? w->angles : 0) + pair;
  load_floats(to->cosines, cosines, count);
  load_floats(to->sines, cosines + p->angles, count);
}

DEVICE void keep_floats(raw_chunk *of, int count) {
  if (count == 2) {
    const u32x2 words = in_order((u32x2){of->of_4[0], of->of_4[1]});
    of->of_4[0] = words.x, of->of_4[1] = words.y;
  }
#pragma unroll
  for (int i = 0; i < count / 4; i++) of[i].words = in_order(of[i].words);
}

// Until here their registers are theirs: else clang moves them where they are loaded, and waits for that.
DEVICE void keep_angles(chunk_angles *of, bool halves, tdm_type type) {
  keep_floats(of->cosines, angle_count(halves, type));
  keep_floats(of->sines, angle_count(halves, type));
}

DEVICE void rotate_beside(chunk *x, const chunk_angles *by, tdm_type type) {
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) {
    const float c = angle_at(by->cosines, i), n = angle_at(by->sines, i);
    x->of[i] = (f32x2){x->of[i].x * c - x->of[i].y * n, x->of[i].x * n + x->of[i].y * c};
  }
}

DEVICE void rotate_apart(chunk *x, chunk *y, const chunk_angles *by, tdm_type type) {
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) {
    const f32x2 a = x->of[i], b = y->of[i], c = {angle_at(by->cosines, 2 * i), angle_at(by->cosines, 2 * i + 1)},
                n = {angle_at(by->sines, 2 * i), angle_at(by->sines, 2 * i + 1)};
    x->of[i] = a * c - b * n;
    y->of[i] = a * n + b * c;
  }
}

// What is loaded of a run: a chunk, or one of each half.
typedef struct rope_chunks {
  raw_chunk of, other;
} rope_chunks;

// ---- Both halves in one load, on chips that swap lanes ----
//
// Where half a head is no whole number of cache lines, a load of the lanes' chunks of one half asks for lines that the load of
// the other half asks for again, and each takes room in the vL1D for all of them. So a load takes both halves of 32 lanes'
// chunks: lanes 0 to 31 load the first half's, lanes 32 to 63 the second half's. Then the waves swap: of a pair of registers
// the upper 32 lanes of one and the lower 32 of the other.

DEVICE void swap_lanes(uint32_t *a, uint32_t *b) {
#if CHIP_LANE_SWAP
  const auto both = __builtin_amdgcn_permlane32_swap(*a, *b, false, false);
  *a = both[0], *b = both[1];
#else
  (void)a, (void)b;
#endif
}

DEVICE void swap_chunks(raw_chunk *a, raw_chunk *b) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint32_t x = a->words[i], y = b->words[i];
    swap_lanes(&x, &y);
    a->words[i] = x, b->words[i] = y;
  }
}

// Where the chunks are that a lane loads or stores, of lanes 0 to 31 and of lanes 32 to 63; 0: there is none.
typedef struct lane_places {
  uint64_t low, high;
} lane_places;

// at, other: of this lane's own chunks of the two halves.
DEVICE lane_places places_of(const char *at, const char *other, bool exists) {
  const uint64_t first = exists ? (uintptr_t)at : 0, second = exists ? (uintptr_t)other : 0;
  uint32_t a[2] = {(uint32_t)first, (uint32_t)(first >> 32)}, b[2] = {(uint32_t)second, (uint32_t)(second >> 32)};
  swap_lanes(&a[0], &b[0]);
  swap_lanes(&a[1], &b[1]);
  return (lane_places){(uint64_t)a[1] << 32 | a[0], (uint64_t)b[1] << 32 | b[0]};
}

// Of halves that are whole dwords, but not whole chunks, the last lane takes the last 16 bytes, which begin in the chunk of the
// lane before. Both load, rotate and store what lies in both chunks, to the same bits; they are lanes of one wave, which loads
// a head before it stores it. Elements by which a lane's chunk is before its usual place; below 0: the lane has no chunk.
DEVICE int back_of(const rope_args *p, const rope_place *w, tdm_type type) {
  const int64_t length = chunk_length(type), left = p->half - start_of(&w->block, type);
  return left <= 0 ? -1 : left < length ? (int)(length - left) : 0;
}

// ---- Halves of an odd number of 16-bit elements ----
//
// The second half begins between two dwords, where 16 bytes would take eight stores. So its chunks begin with the last element
// of the first half, at a dword, and the lanes of a head, which are of one wave, hand on the elements by which they are off.

// Where a lane is in its head. The last lane with pairs loads the second half's last 16 bytes, which begin `back` dwords before
// its chunk.
typedef struct head_lane {
  int next, before;  // lanes, in a circle
  bool last;
  int back;
} head_lane;

DEVICE head_lane head_lane_of(const rope_args *p, const rope_place *w, tdm_type type) {
  const int length = chunk_length(type), half = (int)p->half, count = (half + length - 1) / length, item = (int)w->block.item,
            first = lane_index() - item;
  return (head_lane){item + 1 < count ? first + item + 1 : first, item > 0 ? first + item - 1 : first + count - 1,
                     item + 1 == count, (length - (half + 1) % length) % length / 2};
}

DEVICE uint32_t word_of_lane(uint32_t word, int lane) { return (uint32_t)__builtin_amdgcn_ds_bpermute(4 * lane, (int)word); }

// Makes of the words as they are loaded the chunk of each half that the lane rotates. Of the last lane, which has `left` pairs,
// an odd number, dword `left` / 2 begins with the first half's last element. The words are vectors: for elements of a union
// that are chosen like this, clang would take LDS.
DEVICE void take_odd(rope_chunks *x, const head_lane *l, int left) {
  u32x4_at_dword a = x->of.words, b = x->other.words;
  const bool one = l->last && (l->back & 1) != 0, two = l->last && (l->back & 2) != 0;
  b = one ? (u32x4_at_dword){b.y, b.z, b.w, b.w} : b;
  b = two ? (u32x4_at_dword){b.z, b.w, b.z, b.w} : b;
  const uint32_t other = word_of_lane(b.x, l->next);
#pragma unroll
  for (int i = 0; i < 4; i++) a[i] = l->last && i == left >> 1 ? other : a[i];
  x->of.words = a;
  x->other.words = shifted_dwords(b, other, 16);
}

// Stores what a lane rotated, dword by dword where it is not whole chunks.
DEVICE void store_odd(char *to, int64_t half, u32x4_at_dword a, u32x4_at_dword b, const head_lane *l, int left) {
  uint32_t end = a.x;
#pragma unroll
  for (int i = 1; i < 4; i++) end = i == left >> 1 ? a[i] : end;
  const uint32_t before = word_of_lane(l->last ? end << 16 : b.w, l->before);
  raw_chunk first, second;
  first.words = a;
  second.words = shifted_dwords((u32x4){before, b.x, b.y, b.z}, b.w, 16);
  const bool whole = left == CHUNK_MOST;
  store_part(to, (chunk_part){0, whole ? 4 : left >> 1}, first, true, TDM_F32);
  store_part(to + half - 2, (chunk_part){0, whole ? 4 : (left + 1) >> 1}, second, true, TDM_F32);
}

// Where no workgroup has more than one run, nothing is prepared for a next one, which would take longer than the run: 64
// positions of 4 heads of 128 bf16 take 7,754 predicted clocks so, and 9,059 in the loop. EITHER code after a common beginning
// is the shorter way, but of halves clang then spills registers.
typedef enum rope_code { ONE_RUN, LOOP, EITHER } rope_code;
DEVICE bool has_one_run(const rope_args *p) { return p->blocks.units <= p->blocks.workgroups && p->turns == 1; }

// A chunk is loaded while the one before is rotated and stored, also from one unit of work to the next. Two sets of registers
// take turns: if one were copied to the other, the wave would wait for what it has just begun to load.
DEVICE void rope_runs(const rope_args *p, const block_walk *first_of, const rope_row *row, rope_code code, bool halves,
                      bool any, bool odd, tdm_type type) {
  const int64_t half = p->half * tdm_bytes(type);
  rope_steps x_steps = {}, y_steps = {};
  rope_place w = {*first_of, (const char *)p->x + offset_of(p, row, first_of, &p->of_x, type), nullptr, row->part,
                  row->s * (2 * p->angles)};
  const int back = halves && !any && !odd ? back_of(p, &w, type) : 0, before = back > 0 ? back * tdm_bytes(type) : 0;
  w.from -= before;
  chunk_angles angles;
  load_angles(&angles, p, &w, back, halves, odd, type);
  int left = back < 0 ? 0 : left_of(p, &w, 0, halves, any || odd, type), turn = 0;
  const head_lane lane = odd ? head_lane_of(p, &w, type) : (head_lane){};
  const int64_t other = odd ? half - 2 - (lane.last ? 4 * lane.back : 0) : half;
  rope_chunks first, second;
  const bool swaps = CHIP_LANE_SWAP && halves && !any;
  const auto load = [&](rope_chunks *to, const char *from) {
    if (swaps) {
      const lane_places at = places_of(from, from + other, left > 0);
      to->of = load_own((const char *)at.low, at.low != 0, false, type);
      to->other = load_own((const char *)at.high, at.high != 0, false, type);
      return;
    }
    to->of = load_own(from, left, any, type);
    if (halves) to->other = load_own(from + other, left, any, type);
  };
  const auto run = [&](rope_chunks *now, rope_chunks *next) {
    const bool last = next != nullptr && turn + 1 == p->turns;
    const int own = left;
    char *const to = w.to + turn * y_steps.turn;
    if (next != nullptr) {
      if (last) next_place(&w, p, &x_steps, &y_steps);
      turn = last ? 0 : turn + 1;
      left = back < 0 ? 0 : left_of(p, &w, turn, halves, any || odd, type);
      load(next, w.from + turn * x_steps.turn);
    }
    now->of.words = in_order(now->of.words);  // here all lanes need them, and after a branch some, which is one more wait
    if (halves) now->other.words = in_order(now->other.words);
    keep_angles(&angles, halves, type);
    if (swaps) swap_chunks(&now->of, &now->other);
    if (odd) take_odd(now, &lane, own);
    chunk x = chunk_of(now->of, type), y = halves ? chunk_of(now->other, type) : (chunk){};
    if (halves)
      rotate_apart(&x, &y, &angles, type);
    else
      rotate_beside(&x, &angles, type);
    raw_chunk to_x = raw_of(x, false, type), to_y = raw_of(y, false, type);
    to_x.words = in_order(to_x.words);
    if (halves) to_y.words = in_order(to_y.words);
    if (last) load_angles(&angles, p, &w, back, halves, odd, type);  // into the same registers: a second set would be spilled
    if (odd) {
      store_odd(to, half, to_x.words, to_y.words, &lane, own);
      return;
    }
    if (swaps) {
      const lane_places at = places_of(to, to + half, own > 0);
      swap_chunks(&to_x, &to_y);
      store_part((char *)at.low, (chunk_part){0, at.low != 0}, to_x, false, type);
      store_part((char *)at.high, (chunk_part){0, at.high != 0}, to_y, false, type);
      return;
    }
    store_part(to, (chunk_part){0, own}, to_x, any, type);
    if (halves) store_part(to + half, (chunk_part){0, own}, to_y, any, type);
  };
  // The first loads do not wait for where they go; in the loop of halves that would cost registers.
  if (code != LOOP) load(&first, w.from), keep_order();
  w.to = (char *)p->y + offset_of(p, row, first_of, &p->of_y, type) - before;
  if (code == LOOP) load(&first, w.from);
  if (code == ONE_RUN || (code == EITHER && has_one_run(p))) {
    run(&first, nullptr);
    return;
  }
  x_steps = steps_of(p, &p->of_x, type), y_steps = steps_of(p, &p->of_y, type);
  while (w.block.unit < p->blocks.units) {
    run(&first, &second);
    run(&second, &first);  // perhaps after the last unit, where no lane has a chunk: a second way out would cost waits
  }
}

DEVICE void rope_body(rope_args *p, bool halves, bool any, bool odd, tdm_type type) {
  block_walk w;
  const rope_row row = first_row(p, &w, halves && !any, odd, !any, type);
  if (!halves)
    rope_runs(p, &w, &row, EITHER, halves, any, odd, type);
  else if (has_one_run(p))
    rope_runs(p, &w, &row, ONE_RUN, halves, any, odd, type);
  else
    rope_runs(p, &w, &row, LOOP, halves, any, odd, type);
}

#define ROPE(name, waves, halves, any, odd, type)                             \
  KERNEL WORKGROUP(HIP_BLOCK_THREADS, waves) void name(ARGUMENT(rope_args)) { \
    rope_args p = ARGUMENT_OF(rope_args);                                     \
    rope_body(&p, halves, any, odd, type);                                    \
  }
#define ROPES(name, halves, waves, any_waves)                   \
  ROPE(name##_f32, waves, halves, false, false, TDM_F32)        \
  ROPE(name##_f16, waves, halves, false, false, TDM_F16)        \
  ROPE(name##_bf16, waves, halves, false, false, TDM_BF16)      \
  ROPE(name##_any_f32, any_waves, halves, true, false, TDM_F32) \
  ROPE(name##_any_f16, any_waves, halves, true, false, TDM_F16) \
  ROPE(name##_any_bf16, any_waves, halves, true, false, TDM_BF16)

ROPES(rope_interleaved, false, 7, 6)
ROPES(rope_half, true, 6, 5)
ROPE(rope_half_odd_f16, 5, true, false, true, TDM_F16)
ROPE(rope_half_odd_bf16, 5, true, false, true, TDM_BF16)
