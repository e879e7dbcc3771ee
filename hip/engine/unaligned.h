/* A loop over K for operands of 16 bits that begin anywhere, with rows of any length (gemm/tile_loop.h).
 *
 * Loads begin at dwords. Those straight to LDS would leave rows that begin between dwords where they are. So a lane loads 16
 * bytes to registers, and shifts them before it writes them to LDS, where everything is as in tile.h. A row that begins between
 * dwords is loaded from its second element on: the last element of a lane's load is the first one of the next chunk. That of a
 * row's last chunk is the first one of the next step, if rows are along k. Where there is no step before, and across k, a row's
 * first element is loaded alone.
 *
 * LDS has two stages, and the registers of a wave two steps:
 *
 *   begin to read step t from LDS
 *   step t + 1 has arrived in registers: write it to the other stage, which nobody reads since the last barrier
 *   start to load step t + 3 into these registers
 *   multiply step t; barrier
 *
 * A load may end 2 bytes after a row, which is inside of the array in all steps but the last one. That may be the K tail, and
 * is loaded with care: if the array ends between dwords, its last element is loaded alone. Along k, what follows the tail in
 * memory is the next row: the lane puts zeros there. Rows of the array are a chunk apart at least, and K is a chunk. */
#ifndef TANDEM_HIP_ENGINE_UNALIGNED_H
#define TANDEM_HIP_ENGINE_UNALIGNED_H

#include "tile.h"

/* A tile of such operands. A wave with four fragments of sums needs more than 128 registers. */
template <int TILE_M, int TILE_N, int WAVES_M, int WAVES_N>
struct unaligned_tile : tile<TILE_M, TILE_N, WAVES_M, WAVES_N, 2> {
  typedef tile<TILE_M, TILE_N, WAVES_M, WAVES_N, 2> as_tile;
  static constexpr bool UNALIGNED = true;
  static constexpr int OCCUPANCY = as_tile::ROWS * as_tile::COLUMNS < 4 ? 4 : 2;
};

enum { CHUNK_VALUES = CHUNK_BYTES / 2 };

/* The number of chunks that a thread loads for a K step. */
DEVICE constexpr int chunks_of_thread(int lines, int waves) { return lines * PIPE_ROW / (waves * WAVE * CHUNK_BYTES); }
DEVICE constexpr int chunks_of_row(form f) { return row_bytes(f) / CHUNK_BYTES; }

/* The n-th chunk of a lane. A row's chunks are in 16 lanes, which it shares with others: they take turns. */
DEVICE constexpr int rows_beside(form f) { return 16 / chunks_of_row(f); }
DEVICE int odd_row(int n, form f) {
  const int first = (n * f.waves + wave_index()) * (WAVE / chunks_of_row(f));
  return first + lane_index() / 16 * rows_beside(f) + lane_index() % rows_beside(f);
}
DEVICE int odd_chunk(form f) { return lane_index() % 16 / rows_beside(f); }

/* An operand: its base is the dword in which the tile's first line begins, `odd` bytes before it, and `length` and
 * `tail_length` end with its last line. `some` lines of the tile are in the matrix. */
typedef struct odd_lines {
  lines of;
  uint32_t place;    /* of the lane's first chunk in a stage */
  uint32_t selector; /* of v_perm_b32: takes a dword of the chunk from one of the load and the one before */
  uint32_t first;    /* offset of a row's first element, where it is between dwords: of load n in the lane with chunk n */
  bool is_odd;       /* the lane's rows begin between dwords */
  int some, tail, odd;
} odd_lines;

DEVICE int odd_offset(const odd_lines *x, int n, int chunk, form f) {
  return x->odd + odd_row(n, f) * x->of.pitch + chunk * CHUNK_BYTES;
}

DEVICE odd_lines make_odd_lines(const void *matrix, int64_t count, int64_t ld, int64_t line, int tail, form f) {
  const int rows_of_load = f.waves * WAVE / chunks_of_row(f), loads = chunks_of_thread(f.lines, f.waves);
  const char *base = (const char *)matrix + (f.along_k ? line * ld : line) * 2;
  odd_lines x;
  x.some = uniform(count - line > f.lines ? f.lines : (int)(count - line));
  x.tail = tail;
  x.odd = (int)(uintptr_t)base & 2;
  const int here = x.some;
  x.of.base = base - x.odd;
  x.of.step = f.along_k ? PIPE_ROW : PIPE_ROW * ld;
  x.of.pitch = (int)ld * 2;
  const int end = x.odd + (f.along_k ? (here - 1) * x.of.pitch + PIPE_ROW : (PIPE_ROW / 2 - 1) * x.of.pitch + here * 2);
  x.of.length = (uint32_t)(end + 3) & ~3u;
  x.of.tail_length = (uint32_t)(x.odd + (f.along_k ? (here - 1) * x.of.pitch + tail * 2 : (tail - 1) * x.of.pitch + here * 2));
  const int offset = odd_offset(&x, 0, odd_chunk(f), f);
  x.is_odd = (offset & 2) != 0;                    /* all of them: those of one load are an even number */
  x.selector = x.is_odd ? 0x05040302 : 0x07060504; /* the upper half of one and the lower half of the next; the next */
#pragma unroll
  for (int n = 0; n < loads; n++) x.of.offset[n] = (uint32_t)(offset + (x.is_odd ? 2 : 0) + n * rows_of_load * x.of.pitch);
  x.place =
      in_order((uint32_t)(odd_row(0, f) * row_bytes(f) + place_of((uint32_t)odd_row(0, f), odd_chunk(f), f) * CHUNK_BYTES));
  const int row_of_first = odd_row(0, f) + odd_chunk(f) * rows_of_load;
  x.first = x.is_odd && odd_chunk(f) < loads ? (uint32_t)(x.odd + row_of_first * x.of.pitch) : OUTSIDE;
  return x;
}

/* Chunks of a step as loaded, and the first elements of rows between dwords. */
template <int COUNT>
struct odd_chunks {
  u32x4 of[COUNT];
  uint16_t first;
};

/* length: of the buffer, as elements see it. */
DEVICE uint16_t load_first(const odd_lines *x, uint32_t length) {
  return __builtin_amdgcn_raw_buffer_load_b16(make_short_buffer(x->of.base, length), (int)x->first, 0, 0);
}
template <int COUNT>
DEVICE void load_chunks(odd_chunks<COUNT> *to, const odd_lines *x, uint32_t length) {
  buffer from = make_short_buffer(x->of.base, length);
#pragma unroll
  for (int n = 0; n < COUNT; n++) to->of[n] = buffer_load(from, x->of.offset[n]);
}

/* What the chunks before each row's first one end with: for the next step, of rows along k; and of the rows' beginnings. */
template <int COUNT>
struct odd_ends {
  uint32_t of[COUNT];
  uint16_t begin, zero; /* of the first step, and of step 0 */
};

/* Data-parallel primitives, in 16 lanes. */
template <int CONTROL>
DEVICE uint32_t of_lane(uint32_t x) {
  return (uint32_t)__builtin_amdgcn_update_dpp((int)x, (int)x, CONTROL, 0xf, 0xf, false);
}
/* Of each lane the value of the chunk before, and of a row's first lane that of its last one. */
template <int BESIDE>
DEVICE uint32_t of_chunk_before(uint32_t x) {
  enum { ROW_ROTATE_RIGHT = 0x120 };
  return of_lane<ROW_ROTATE_RIGHT + BESIDE>(x);
}
/* In the first lane of each row of load N its first element, as the upper half of a dword. */
template <int BESIDE, int N>
DEVICE uint32_t first_of_row(uint16_t first) {
  enum { ROW_SHIFT_LEFT = 0x100 };
  const uint32_t x = (uint32_t)first << 16;
  if constexpr (N == 0)
    return x;
  else
    return of_lane<ROW_SHIFT_LEFT + BESIDE * N>(x);
}

enum odd_step_kind { FIRST_STEP, PLAIN, LAST_STEP };
template <odd_step_kind KIND, int BESIDE, int N, int COUNT>
DEVICE u32x4 shifted_chunk(const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of, form f) {
  const u32x4 w = x->of[N];
  const uint32_t before = of_chunk_before<BESIDE>(w[3]),
                 first = f.along_k && KIND != LAST_STEP ? ends->of[N] : first_of_row<BESIDE, N>(x->first),
                 least = odd_chunk(f) == 0 ? first : before;
  ends->of[N] = before;
  return (u32x4){__builtin_amdgcn_perm(w[0], least, of->selector), __builtin_amdgcn_perm(w[1], w[0], of->selector),
                 __builtin_amdgcn_perm(w[2], w[1], of->selector), __builtin_amdgcn_perm(w[3], w[2], of->selector)};
}

/* What the last step has of a lane's n-th chunk: so many elements, if above 0, and the array's last one, to be loaded alone. */
typedef struct last_chunk {
  int count;
  bool ends;
} last_chunk;
DEVICE last_chunk last_chunk_of(const odd_lines *x, int n, form f) {
  const int rows = f.along_k ? x->some : x->tail, of_row = f.along_k ? x->tail : x->some, row = odd_row(n, f);
  const int count = row < rows ? of_row - odd_chunk(f) * CHUNK_VALUES : 0;
  return (last_chunk){count, row == rows - 1 && count > 0 && count <= CHUNK_VALUES && (x->of.tail_length & 2) != 0};
}

template <int COUNT>
DEVICE uint32_t load_last(odd_chunks<COUNT> *to, const odd_lines *x, form f) {
  uint32_t offset = OUTSIDE;
#pragma unroll
  for (int n = 0; n < COUNT; n++)
    if (last_chunk_of(x, n, f).ends) offset = x->of.tail_length - 2;
  load_chunks(to, x, x->of.tail_length & ~3u);
  to->first = load_first(x, x->of.tail_length);
  return __builtin_amdgcn_raw_buffer_load_b16(make_short_buffer(x->of.base, x->of.tail_length), (int)offset, 0, 0);
}

/* Before it is shifted: puts in the element that was loaded alone. It is the first half of its dword. */
template <int COUNT>
DEVICE void put_last(odd_chunks<COUNT> *to, uint32_t last, const odd_lines *x, form f) {
#pragma unroll
  for (int n = 0; n < COUNT; n++) {
    const last_chunk c = last_chunk_of(x, n, f);
#pragma unroll
    for (int d = 0; d < 4; d++)
      if (c.ends && (c.count - 1) / 2 == d && !(x->is_odd && c.count == 1)) to->of[n][d] = last;
  }
}
DEVICE u32x4 cut_chunk(u32x4 x, const odd_lines *of, int n, form f) {
  if (!f.along_k) return x; /* the rows after the last k are 0 */
  const int count = last_chunk_of(of, n, f).count;
#pragma unroll
  for (int d = 0; d < 4; d++) {
    const int left = count - 2 * d;
    x[d] = left > 1 ? x[d] : left > 0 ? x[d] & 0xffff : 0;
  }
  return x;
}

template <odd_step_kind KIND, int BESIDE, int N, int COUNT>
DEVICE void put_chunk(LDS char *stage, const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of, form f) {
  const u32x4 chunk = shifted_chunk<KIND, BESIDE, N>(x, ends, of, f);
  *(LDS u32x4 *)(stage + of->place + N * f.waves * WAVE * CHUNK_BYTES) = KIND != LAST_STEP ? chunk : cut_chunk(chunk, of, N, f);
}
template <odd_step_kind KIND, int BESIDE, int COUNT, int... N>
DEVICE void put_chunks(numbers<N...>, LDS char *stage, const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of,
                       form f) {
  (put_chunk<KIND, BESIDE, N>(stage, x, ends, of, f), ...);
}
template <int BESIDE, int COUNT, int... N>
DEVICE void begin_chunks(numbers<N...>, odd_ends<COUNT> *ends, uint16_t first) {
  ((ends->of[N] = first_of_row<BESIDE, N>(first)), ...);
}

/* A step in registers. */
template <typename T>
struct held_step {
  static constexpr int COUNT_A = chunks_of_thread(T::TILE_M, T::WAVES), COUNT_B = chunks_of_thread(T::TILE_N, T::WAVES);
  odd_chunks<COUNT_A> a;
  odd_chunks<COUNT_B> b;
};

/* From where in memory the next step comes. */
typedef struct odd_loads {
  odd_lines a, b;
  int64_t wrap_a, wrap_b; /* bytes from the last of the whole steps to step 0 */
  int to_wrap;            /* so many are loaded before that */
} odd_loads;

template <int COUNT>
DEVICE void load_operand(odd_chunks<COUNT> *to, const odd_lines *x, bool none, form f) {
  const uint32_t length = none ? 0 : x->of.length;
  load_chunks(to, x, length);
  if (!f.along_k) to->first = load_first(x, length);
}
/* none: an empty step, of zeros that come without traffic. */
template <typename T>
DEVICE void load_held(held_step<T> *to, odd_loads *l, bool none, form of_a, form of_b) {
  load_operand(&to->a, &l->a, none, of_a);
  load_operand(&to->b, &l->b, none, of_b);
  if (none) return;
  const bool wraps = --l->to_wrap == 0;
  l->a.of.base = advance_here(l->a.of.base, wraps ? l->wrap_a : l->a.of.step);
  l->b.of.base = advance_here(l->b.of.base, wraps ? l->wrap_b : l->b.of.step);
}

/* What steps leave for the next ones; `to_begin` steps are written before the first one of K, and `to_zero` before step 0. */
template <typename T>
struct odd_state {
  odd_ends<held_step<T>::COUNT_A> a;
  odd_ends<held_step<T>::COUNT_B> b;
  int to_begin, to_zero;
};
/* In each of 16 lanes there is a chunk of a row of 16, 8 or 4 chunks. */
template <odd_step_kind KIND, int COUNT>
DEVICE void put_operand(LDS char *stage, const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of, form f) {
  switch (rows_beside(f)) {
    case 1: put_chunks<KIND, 1>(up_to<COUNT>(), stage, x, ends, of, f); break;
    case 2: put_chunks<KIND, 2>(up_to<COUNT>(), stage, x, ends, of, f); break;
    case 4: put_chunks<KIND, 4>(up_to<COUNT>(), stage, x, ends, of, f); break;
  }
}
template <int COUNT>
DEVICE void begin_rows(odd_ends<COUNT> *ends, bool zero, form f) {
  if (!f.along_k) return;
  enum { BESIDE = 16 * CHUNK_BYTES / PIPE_ROW };
  const uint16_t first = zero ? ends->zero : ends->begin;
  begin_chunks<BESIDE>(up_to<COUNT>(), ends, first);
}

template <typename T, odd_step_kind KIND = PLAIN>
DEVICE void put_held(LDS char *stage, const held_step<T> *x, odd_state<T> *s, const odd_loads *l, form of_a, form of_b) {
  if (KIND != LAST_STEP && (of_a.along_k || of_b.along_k)) {
    const bool zero = KIND == PLAIN && s->to_zero == 0;
    if (s->to_begin == 0 || zero) {
      begin_rows(&s->a, zero, of_a);
      begin_rows(&s->b, zero, of_b);
    }
    s->to_begin--, s->to_zero--;
  }
  put_operand<KIND>(stage, &x->a, &s->a, &l->a, of_a);
  put_operand<KIND>(stage + T::A_BYTES, &x->b, &s->b, &l->b, of_b);
}

template <typename T>
DEVICE void read_odd_step(fragments x, b_fragments<T> y, const stage_reader *first, int stage, form of_a, form of_b) {
  read_step<T>(x, y, first, stage, of_a, of_b);
  keep_order();
}
/* LDS serves the reads before the writes that were issued after them, so these need not be done. */
template <typename T>
DEVICE void multiply_odd_step(tile_sums<T> sums, fragments x, b_fragments<T> y, form of_a, form of_b) {
  keep_order();
  wait_lds_but(held_step<T>::COUNT_A + held_step<T>::COUNT_B);
  multiply_arrived<T>(sums, x, y, of_a, of_b);
  end_slot();
}
/* Multiplies the step at `stage`, and meanwhile writes `next` to the other stage. */
template <typename T>
DEVICE void odd_step(tile_sums<T> sums, const stage_reader *first, LDS char *lds, int stage, held_step<T> *next,
                     odd_state<T> *s, odd_loads *l, form of_a, form of_b) {
  fragments x;
  b_fragments<T> y;
  read_odd_step<T>(x, y, first, stage, of_a, of_b);
  put_held<T>(lds + (stage ^ T::STAGE), next, s, l, of_a, of_b);
  keep_order();
  load_held<T>(next, l, false, of_a, of_b);
  multiply_odd_step<T>(sums, x, y, of_a, of_b);
}

/* sums += A B over `depth` values of k, of which there are some. begin: as in tile.h.
 *
 * Registers are named by the code, so a turn of the loop takes two steps, and three more after it. For that there are 0 to 3
 * empty steps before the others: they are multiplied while the first loads are on their way. */
template <typename T>
DEVICE void run_unaligned(tile_sums<T> sums, odd_lines a, odd_lines b, int64_t depth, uint32_t begin, LDS char *lds, form of_a,
                          form of_b) {
  static_assert(T::DEPTH == 2 && T::PRODUCTS == 1, "two stages");
  const int steps = uniform((int)((uint64_t)(depth - 1) / (PIPE_ROW / 2))), some = (steps < 3 ? 3 : steps) | 1;
  const int empty = some - steps;
  const step_order order = make_step_order(steps, begin);
  const char *last_a = uniform(a.of.base + steps * a.of.step), *last_b = uniform(b.of.base + steps * b.of.step);
  odd_loads l = {a, b, (1 - steps) * a.of.step, (1 - steps) * b.of.step, steps - order.first};
  odd_state<T> s = {};
  s.to_begin = empty, s.to_zero = order.first > 0 ? some - order.first : -1;
  held_step<T> even, odd;
  begin_with(order, &l.a.of);
  begin_with(order, &l.b.of);
  const uint32_t length_a = steps > 0 ? a.of.length : 0, length_b = steps > 0 ? b.of.length : 0;
  s.a.begin = load_first(&l.a, length_a), s.b.begin = load_first(&l.b, length_b);
  load_held<T>(&even, &l, empty > 0, of_a, of_b);
  load_held<T>(&odd, &l, empty > 1, of_a, of_b);
  s.a.zero = load_first(&a, length_a), s.b.zero = load_first(&b, length_b);
  const b_lines<T> of_lines_b = {{b.of}};
  const stage_reader first = make_stage_reader<T>(lds, &a.of, &of_lines_b, of_a, of_b);
  keep_order();
  put_held<T, FIRST_STEP>(lds, &even, &s, &l, of_a, of_b);
  load_held<T>(&even, &l, empty > 2, of_a, of_b);
  end_slot();
#pragma unroll 1
  for (int t = 3; t < some; t += 2) {
    odd_step<T>(sums, &first, lds, 0, &odd, &s, &l, of_a, of_b);
    odd_step<T>(sums, &first, lds, T::STAGE, &even, &s, &l, of_a, of_b);
  }
  fragments x;
  b_fragments<T> y;
  read_odd_step<T>(x, y, &first, 0, of_a, of_b);
  put_held<T>(lds + T::STAGE, &odd, &s, &l, of_a, of_b);
  l.a.of.base = last_a, l.b.of.base = last_b;
  const uint32_t end_a = load_last(&odd.a, &l.a, of_a), end_b = load_last(&odd.b, &l.b, of_b);
  multiply_odd_step<T>(sums, x, y, of_a, of_b);

  read_odd_step<T>(x, y, &first, T::STAGE, of_a, of_b);
  put_held<T>(lds, &even, &s, &l, of_a, of_b);
  multiply_odd_step<T>(sums, x, y, of_a, of_b);

  read_odd_step<T>(x, y, &first, 0, of_a, of_b);
  put_last(&odd.a, end_a, &l.a, of_a);
  put_last(&odd.b, end_b, &l.b, of_b);
  put_held<T, LAST_STEP>(lds + T::STAGE, &odd, &s, &l, of_a, of_b);
  multiply_odd_step<T>(sums, x, y, of_a, of_b);

  read_odd_step<T>(x, y, &first, T::STAGE, of_a, of_b);
  multiply_step<T>(sums, x, y, of_a, of_b);
  end_slot();
}

/* The values of k in the last step. */
DEVICE int last_values(int64_t depth) { return uniform((int)((uint64_t)(depth - 1) % (PIPE_ROW / 2)) + 1); }

#endif
