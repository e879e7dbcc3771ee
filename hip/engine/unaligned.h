/* Operands of 16 bits that begin anywhere, with rows of any length; the loop over K is in unaligned_loop.h.
 *
 * Loads begin at dwords. Those straight to LDS would leave rows that begin between dwords where they are. So a lane loads 16
 * bytes to registers, and shifts them before it writes them to LDS, where everything is as in tile.h. A row that begins between
 * dwords is loaded from its second element on: the last element of a lane's load is the first one of the next chunk. That of a
 * row's last chunk is the first one of the next step, if rows are along k. Where there is no step before, and across k, a row's
 * first element is loaded alone.
 *
 * LDS has two stages, and the registers of a wave two steps as loaded and two as fragments:
 *
 *   step t is in fragments: multiply it, and meanwhile
 *     read step t + 1 from LDS into the other fragments
 *     step t + 2 has arrived in registers: shift it, and write it to the other stage, which all waves have read
 *   start to load step t + 4 into these registers; barrier
 *
 * One wave of a SIMD issues one instruction in 4 clocks, and a step has about 75. With reads, shifts and products one after the
 * other, 1024x1024x1024 bf16 nt between dwords took 24,044 predicted clocks on gfx950; it takes 19,602. Rows that begin at
 * dwords have kernels that shift nothing (whole_step.h), and on gfx950 transpose what is across k (transpose.h).
 *
 * A load may end 2 bytes after a row, which is inside of the array in all steps but the last one. That may be the K tail, and
 * is loaded with care: if the array ends between dwords, its last element is loaded alone, and written to LDS after the rest.
 * Along k, what follows the tail in memory is the next row: the lane puts zeros there. Rows of the array are a chunk apart at
 * least, and K is a chunk. */
#ifndef TANDEM_HIP_ENGINE_UNALIGNED_H
#define TANDEM_HIP_ENGINE_UNALIGNED_H

#include "tile.h"
#include "transpose.h"

/* A tile of such operands. A wave with four fragments of sums needs more than 128 registers. SHIFTS: rows may begin between
 * dwords; without it nothing is shifted. */
template <int TILE_M, int TILE_N, int WAVES_M, int WAVES_N, bool SHIFTS_ = true>
struct unaligned_tile : tile<TILE_M, TILE_N, WAVES_M, WAVES_N, 2> {
  typedef tile<TILE_M, TILE_N, WAVES_M, WAVES_N, 2> as_tile;
  static constexpr bool UNALIGNED = true, SHIFTS = SHIFTS_;
  static constexpr bool SPREADS = CHIP_TRANSPOSED_LDS_READS; /* a step's reads, writes and loads over the step (whole_step.h) */
  static constexpr bool TRANSPOSES = SPREADS && !SHIFTS;     /* operands across k (transpose.h) */
  static constexpr int OCCUPANCY = as_tile::ROWS * as_tile::COLUMNS < 4 ? 4 : 2;
};

/* The number of chunks that a thread loads for a K step. */
DEVICE constexpr int chunks_of_thread(int lines, int waves) { return lines * PIPE_ROW / (waves * WAVE * CHUNK_BYTES); }
DEVICE constexpr int chunks_of_row(form f) { return row_bytes(f) / CHUNK_BYTES; }

/* The n-th chunk of a lane. A row's chunks are in 16 lanes, which it shares with others: they take turns. Half of the rows
 * begin with the middle of theirs, so that 8 lanes that are neighbours write to all banks of LDS. */
DEVICE constexpr int rows_beside(form f) { return 16 / chunks_of_row(f); }
DEVICE int odd_row(int n, form f) {
  const int first = (n * f.waves + wave_index()) * (WAVE / chunks_of_row(f));
  return first + lane_index() / 16 * rows_beside(f) + lane_index() % rows_beside(f);
}
DEVICE int odd_chunk(form f) {
  const int beside = rows_beside(f), chunk = lane_index() % 16 / beside;
  return beside == 1 ? chunk : (chunk + lane_index() % beside / (beside / 2) * (8 / beside)) % (16 / beside);
}

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

/* Of the first of the four rows of load n, where they are transposed. Lanes past the last line load that one, so no load of a
 * whole step ends after the array, whatever its buffer's length is compared with. In one instruction with the addition clang
 * would take an addend of 64 bits, whose upper half may be in a register that waits for another operand's load. */
DEVICE uint32_t row_offset(int n, const odd_lines *x, form f) {
  const int k = transposed_k(n / 2, f) + n % 2 * ROWS_OF_LOAD, last = (x->some - 1) & ~1, line = transposed_line(f);
  return in_order((uint32_t)(k * x->of.pitch)) + (uint32_t)(line < last ? line : last) * 2;
}

template <typename T>
DEVICE odd_lines make_odd_lines(const void *matrix, int left, int ld, int line, int tail, form f) {
  const int rows_of_load = f.waves * WAVE / chunks_of_row(f), loads = chunks_of_thread(f.lines, f.waves);
  const int pitch = ld * 2;
  const char *base = (const char *)matrix + (uint64_t)(uint32_t)line * (uint32_t)(f.along_k ? pitch : 2);
  odd_lines x;
  x.some = uniform(left > f.lines ? f.lines : left);
  x.tail = tail;
  x.odd = T::SHIFTS ? (int)(uintptr_t)base & 2 : 0;
  const int here = x.some;
  x.of.base = base - x.odd;
  x.of.step = (uint32_t)(f.along_k ? (int)PIPE_ROW : PIPE_ROW / 2 * pitch);
  x.of.pitch = pitch;
  const int end = x.odd + (f.along_k ? (here - 1) * x.of.pitch + PIPE_ROW : (PIPE_ROW / 2 - 1) * x.of.pitch + here * 2);
  x.of.length = (uint32_t)(end + 3) & ~3u;
  x.of.tail_length = (uint32_t)(x.odd + (f.along_k ? (here - 1) * x.of.pitch + tail * 2 : (tail - 1) * x.of.pitch + here * 2));
  const int offset = odd_offset(&x, 0, odd_chunk(f), f);
  x.is_odd = T::SHIFTS && (offset & 2) != 0;       /* all of them: those of one load are an even number */
  x.selector = x.is_odd ? 0x05040302 : 0x07060504; /* the upper half of one and the lower half of the next; the next */
#pragma unroll
  for (int n = 0; n < loads; n++)
    x.of.offset[n] =
        transposes<T>(f) ? row_offset(n, &x, f) : (uint32_t)(offset + (x.is_odd ? 2 : 0) + n * rows_of_load * x.of.pitch);
  x.place = in_order(transposes<T>(f) ? element_place(transposed_line(f), transposed_k(0, f), lds_form<T>(f))
                                      : element_place(odd_row(0, f), odd_chunk(f) * CHUNK_VALUES, f));
  const int row_of_first = odd_row(0, f) + odd_chunk(f) * rows_of_load;
  x.first = x.is_odd && odd_chunk(f) < loads ? (uint32_t)(x.odd + row_of_first * x.of.pitch) : OUTSIDE;
  return x;
}

/* Chunks of a step as loaded, and the first elements of rows between dwords. */
template <int COUNT>
struct odd_chunks {
  u32x4 of[COUNT];
  uint32_t rows[COUNT * ROWS_OF_LOAD]; /* instead, of those to transpose (load_rows) */
  uint16_t first;
};

/* length: of the buffer, as elements see it. */
DEVICE uint16_t load_first(const odd_lines *x, uint32_t length) {
  return __builtin_amdgcn_raw_buffer_load_b16(make_short_buffer(x->of.base, length), (int)x->first, 0, 0);
}
/* Of two chunks that a lane transposes, one is loaded as dwords of four rows of k, and the other as those of the next four. The
 * last step may end within them. There lanes have the sum of the offsets, because that is compared with the buffer's length. */
template <bool LAST, int COUNT>
DEVICE void load_rows(odd_chunks<COUNT> *to, buffer from, const odd_lines *x, int n) {
#pragma unroll
  for (int i = 0; i < ROWS_OF_LOAD; i++) {
    const int row = i * x->of.pitch;
    to->rows[n * ROWS_OF_LOAD + i] =
        __builtin_amdgcn_raw_buffer_load_b32(from, (int)x->of.offset[n] + (LAST ? row : 0), LAST ? 0 : row, 0);
  }
}
/* LAST: of the last step. */
template <typename T, bool LAST, int COUNT>
DEVICE void load_chunks(odd_chunks<COUNT> *to, const odd_lines *x, uint32_t length, form f) {
  buffer from = make_short_buffer(x->of.base, length);
#pragma unroll
  for (int n = 0; n < COUNT; n++) {
    if (!transposes<T>(f))
      to->of[n] = buffer_load(from, x->of.offset[n]);
    else
      load_rows<LAST>(to, from, x, n);
  }
}

/* What the chunks before each row's first one end with: for the next step, of rows along k; and of the rows' beginnings. */
template <int COUNT>
struct odd_ends {
  uint32_t of[COUNT];
  uint16_t begin, zero; /* of the first step, and of step 0 */
};

/* Data-parallel primitives, in 16 lanes. */
enum { ROW_ROTATE_RIGHT = 0x120 };
template <int CONTROL>
DEVICE uint32_t of_lane(uint32_t x) {
  return (uint32_t)__builtin_amdgcn_mov_dpp((int)x, CONTROL, 0xf, 0xf, true);
}
/* Of each lane the value of the chunk before, and of a row's first lane that of its last one. */
template <int BESIDE>
DEVICE uint32_t of_chunk_before(uint32_t x) {
  return of_lane<ROW_ROTATE_RIGHT + BESIDE>(x);
}
/* In the first lane of each row of load N its first element, as the upper half of a dword. */
template <int BESIDE, int N>
DEVICE uint32_t first_of_row(uint16_t first) {
  const uint32_t x = (uint32_t)first << 16;
  if constexpr (N == 0)
    return x;
  else
    return of_lane<ROW_ROTATE_RIGHT + 16 - BESIDE * N>(x);
}

enum odd_step_kind { FIRST_STEP, PLAIN, LAST_STEP };
/* The dword before chunk N, whose upper half is the chunk's first element if its row begins between dwords. */
template <odd_step_kind KIND, int BESIDE, int N, int COUNT>
DEVICE uint32_t dword_before(const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, form f) {
  const uint32_t before = of_chunk_before<BESIDE>(x->of[N][3]),
                 first = f.along_k && KIND != LAST_STEP ? ends->of[N] : first_of_row<BESIDE, N>(x->first);
  ends->of[N] = before;
  return odd_chunk(f) == 0 ? first : before;
}
template <bool SHIFTS, odd_step_kind KIND, int BESIDE, int N, int COUNT>
DEVICE u32x4 shifted_chunk(const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of, form f) {
  const u32x4 w = x->of[N];
  if (!SHIFTS) return w;
  const uint32_t before = dword_before<KIND, BESIDE, N>(x, ends, f);
  return (u32x4){__builtin_amdgcn_perm(w[0], before, of->selector), __builtin_amdgcn_perm(w[1], w[0], of->selector),
                 __builtin_amdgcn_perm(w[2], w[1], of->selector), __builtin_amdgcn_perm(w[3], w[2], of->selector)};
}
/* The same in steps, each of which makes a dword. */
template <int BESIDE, int N, int STEP, int COUNT>
DEVICE void shift_step(u32x4 *to, const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of, form f) {
  uint32_t before;
  if constexpr (STEP == 0)
    before = dword_before<PLAIN, BESIDE, N>(x, ends, f);
  else
    before = x->of[N][STEP - 1];
  (*to)[STEP] = in_order(__builtin_amdgcn_perm(x->of[N][STEP], before, of->selector));
}

/* The last step. Returns the array's last element, if it is half of a dword. */
template <typename T, int COUNT>
DEVICE uint16_t load_last(odd_chunks<COUNT> *to, const odd_lines *x, form f) {
  const uint32_t length = x->of.tail_length;
  load_chunks<T, true>(to, x, length & ~3u, f);
  if (T::SHIFTS) to->first = load_first(x, length);
  return __builtin_amdgcn_raw_buffer_load_b16(make_short_buffer(x->of.base, length), (int)(length & 2 ? length - 2 : OUTSIDE),
                                              0, 0);
}

/* Writes it to its place in LDS: the wave that wrote its chunk, after that. */
template <typename T>
DEVICE void put_last(LDS char *stage, uint16_t last, const odd_lines *x, form f) {
  if ((x->of.tail_length & 2) == 0) return;
  const form in_lds = lds_form<T>(f);
  const int row = (in_lds.along_k ? x->some : x->tail) - 1, n = (in_lds.along_k ? x->tail : x->some) - 1;
  const int wave = transposes<T>(f) ? wave_of_k(n, f) : row / (WAVE / chunks_of_row(f)) % f.waves;
  if (wave != wave_index() || lane_index() > 0) return;
  *(LDS uint16_t *)(stage + element_place(row, n, in_lds)) = last;
}

/* Bits of the lane's chunks that are before the end of K, in the last step of rows along k. */
DEVICE u32x4 tail_bits(const odd_lines *x, form f) {
  u32x4 bits;
#pragma unroll
  for (int d = 0; d < 4; d++) {
    const int left = x->tail - odd_chunk(f) * CHUNK_VALUES - 2 * d;
    bits[d] = left > 1 ? ~0u : left > 0 ? 0xffff : 0;
  }
  return bits;
}

/* Where the lane's n-th chunk goes. */
DEVICE LDS u32x4 *chunk_place(LDS char *stage, const odd_lines *of, int n, form f) {
  return (LDS u32x4 *)(stage + of->place + n * f.waves * WAVE * CHUNK_BYTES);
}
template <bool SHIFTS, odd_step_kind KIND, int BESIDE, int N, int COUNT>
DEVICE void put_chunk(LDS char *stage, const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of, u32x4 bits,
                      form f) {
  const u32x4 chunk = shifted_chunk<SHIFTS, KIND, BESIDE, N>(x, ends, of, f);
  *chunk_place(stage, of, N, f) = KIND == LAST_STEP && f.along_k ? chunk & bits : chunk;
}
template <bool SHIFTS, odd_step_kind KIND, int BESIDE, int COUNT, int... N>
DEVICE void put_chunks(numbers<N...>, LDS char *stage, const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of,
                       form f) {
  const u32x4 bits = KIND == LAST_STEP && f.along_k ? tail_bits(of, f) : (u32x4){};
  (put_chunk<SHIFTS, KIND, BESIDE, N>(stage, x, ends, of, bits, f), ...);
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

template <typename T, int COUNT>
DEVICE void load_operand(odd_chunks<COUNT> *to, const odd_lines *x, bool none, form f) {
  const uint32_t length = none ? 0 : x->of.length;
  load_chunks<T, false>(to, x, length, f);
  if (T::SHIFTS && !f.along_k) to->first = load_first(x, length);
}
/* After A's loads of a step, and after B's, which come later. */
DEVICE void next_loads_a(odd_loads *l) {
  l->to_wrap--;
  l->a.of.base = advance_here(l->a.of.base, l->to_wrap == 0 ? l->wrap_a : l->a.of.step);
}
DEVICE void next_loads_b(odd_loads *l) {
  l->b.of.base = advance_here(l->b.of.base, l->to_wrap == 0 ? l->wrap_b : l->b.of.step);
}
/* none: an empty step, of zeros that come without traffic. */
template <typename T>
DEVICE void load_held(held_step<T> *to, odd_loads *l, bool none, form of_a, form of_b) {
  load_operand<T>(&to->a, &l->a, none, of_a);
  load_operand<T>(&to->b, &l->b, none, of_b);
  if (none) return;
  next_loads_a(l);
  next_loads_b(l);
}

/* What steps leave for the next ones. After `left` more of them, one is written that has none before it: first the one that the
 * order of loads begins with, and `to_zero` steps later step 0, if that is another one. */
template <typename T>
struct odd_state {
  odd_ends<held_step<T>::COUNT_A> a;
  odd_ends<held_step<T>::COUNT_B> b;
  int left, to_zero, begun;
};
/* Where the lane's n-th two chunks go that it has transposed, the first or the second. */
template <typename T>
DEVICE LDS u32x4 *transposed_place(LDS char *stage, const odd_lines *of, int n, int which, form f) {
  const uint32_t place = n == 0 ? of->place : element_place(transposed_line(f), transposed_k(n, f), lds_form<T>(f));
  return (LDS u32x4 *)(stage + place + which * PIPE_ROW);
}
template <typename T, int COUNT, int... STEP>
DEVICE void put_two(numbers<STEP...>, LDS char *stage, const odd_chunks<COUNT> *x, const odd_lines *of, int n, form f) {
  two_chunks two;
  (transpose_step<STEP>(&two, x->rows + n * CHUNK_VALUES), ...);
  *transposed_place<T>(stage, of, n, 0, f) = two.of[0];
  *transposed_place<T>(stage, of, n, 1, f) = two.of[1];
}

/* In each of 16 lanes there is a chunk of a row of 16, 8 or 4 chunks. */
template <typename T, odd_step_kind KIND, int COUNT>
DEVICE void put_operand(LDS char *stage, const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of, form f) {
  constexpr bool SHIFTS = T::SHIFTS;
  if (transposes<T>(f)) {
#pragma unroll
    for (int n = 0; n < COUNT / 2; n++) put_two<T>(up_to<CHUNK_STEPS>(), stage, x, of, n, f);
    return;
  }
  switch (rows_beside(f)) {
    case 1: put_chunks<SHIFTS, KIND, 1>(up_to<COUNT>(), stage, x, ends, of, f); break;
    case 2: put_chunks<SHIFTS, KIND, 2>(up_to<COUNT>(), stage, x, ends, of, f); break;
    case 4: put_chunks<SHIFTS, KIND, 4>(up_to<COUNT>(), stage, x, ends, of, f); break;
  }
}
template <int COUNT>
DEVICE void begin_rows(odd_ends<COUNT> *ends, bool zero, form f) {
  if (!f.along_k) return;
  enum { BESIDE = 16 * CHUNK_BYTES / PIPE_ROW };
  const uint16_t first = zero ? ends->zero : ends->begin;
  begin_chunks<BESIDE>(up_to<COUNT>(), ends, first);
}

/* Before a step is written. */
template <typename T, odd_step_kind KIND>
DEVICE void begin_if_due(odd_state<T> *s, form of_a, form of_b) {
  if (!T::SHIFTS || KIND == LAST_STEP || !(of_a.along_k || of_b.along_k)) return;
  if (__builtin_expect(s->left == 0, 0)) {
    begin_rows(&s->a, s->begun != 0, of_a);
    begin_rows(&s->b, s->begun != 0, of_b);
    s->left = s->begun ? 0 : s->to_zero;
    s->begun = 1;
  }
  s->left--;
}

/* A step's fragments. */
template <typename T>
struct odd_fragments {
  fragments a, b;
};

/* What LDS returned has arrived: makes fragments of it, or leaves that to the products. */
template <typename T>
DEVICE void take_step(odd_fragments<T> *x, form of_a, form of_b) {
  take_fragments(x->a, lds_form<T>(of_a));
  take_fragments(x->b, lds_form<T>(of_b));
}
template <typename T>
DEVICE void keep_step(odd_fragments<T> *x, form of_a, form of_b) {
  keep_read(x->a, lds_form<T>(of_a), 0, chunks_of(of_a));
  keep_read(x->b, lds_form<T>(of_b), 0, chunks_of(of_b));
}

/* Where a stage is read: by constant offsets, where the reads have room for them. Of the others the addresses have it. */
DEVICE bool reads_by_offset(form f) { return operand_read_of(f) < PAIRS; }
DEVICE reader reader_at(const reader *first, int stage, form f) {
  reader r = *first;
  if (reads_by_offset(f)) return r;
#pragma unroll
  for (int n = 0; n < addresses_of(f); n++) r.address[n] = add_to_lane_here(r.address[n], (uint32_t)stage);
  return r;
}

/* The values of k in the last step. */
DEVICE int last_values(int64_t depth) { return uniform((int)((uint64_t)(depth - 1) % (PIPE_ROW / 2)) + 1); }

#endif
