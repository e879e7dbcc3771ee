/* The loop over K of operands of 16 bits that begin anywhere, or at dwords (unaligned.h). */
#ifndef TANDEM_HIP_ENGINE_UNALIGNED_LOOP_H
#define TANDEM_HIP_ENGINE_UNALIGNED_LOOP_H

#include "unaligned.h"

/* A step's fragments. */
template <typename T>
struct odd_fragments {
  fragments a, b;
};

/* What LDS returned has arrived: makes fragments of it, or leaves that to the products. */
template <typename T>
DEVICE void take_step(odd_fragments<T> *x, form of_a, form of_b) {
  take_fragments(x->a, of_a);
  take_fragments(x->b, of_b);
}
template <typename T>
DEVICE void keep_step(odd_fragments<T> *x, form of_a, form of_b) {
  keep_read(x->a, of_a, 0, chunks_of(of_a));
  keep_read(x->b, of_b, 0, chunks_of(of_b));
}

/* Starts reading: with constant offsets, where the reads have room for them. */
DEVICE void read_operand(fragments x, const reader *from, int stage, form f) {
  if (operand_read_of(f) < PAIRS) return read_fragments(x, from, stage, f);
  reader r = *from;
#pragma unroll
  for (int n = 0; n < addresses_of(f); n++) r.address[n] = add_to_lane_here(r.address[n], (uint32_t)stage);
  read_fragments(x, &r, 0, f);
}

/* Half of a step's products, between which other instructions of the step are issued: a matrix instruction takes as long as
 * four of them. */
template <typename T>
DEVICE void multiply_half(tile_sums<T> sums, const odd_fragments<T> *x, int half, tdm_type type) {
  static_assert(T::PARTS == 1 || T::PARTS == 2, "halves");
  const int part = half * T::PARTS / 2, parts = mfma_parts(type) * T::PARTS / 2, first = half * parts % mfma_parts(type);
#pragma unroll
  for (int i = first; i < first + parts; i++)
#pragma unroll
    for (int m = 0; m < T::ROWS; m++)
#pragma unroll
      for (int n = 0; n < T::COLUMNS; n++)
        sums[m][n] = mfma_part(x->b[part * T::OF_B + n], x->a[part * T::ROWS + m], sums[m][n], type, i);
  enum { SOME_VALU = 0x2, SOME_MFMA = 0x8, MFMA_SLOTS = 3 };
#pragma unroll
  for (int n = 0; n < parts * T::ROWS * T::COLUMNS; n++) {
    __builtin_amdgcn_sched_group_barrier(SOME_MFMA, 1, 0);
    __builtin_amdgcn_sched_group_barrier(SOME_VALU, MFMA_SLOTS, 0);
  }
  keep_order();
#pragma unroll
  for (int m = 0; m < T::ROWS; m++)
#pragma unroll
    for (int n = 0; n < T::COLUMNS; n++) sums[m][n] = in_order(sums[m][n]); /* not after the next barrier */
  keep_order();
}

/* Of the arrays, where they are half of a dword. */
typedef struct last_elements {
  uint16_t a, b;
} last_elements;

enum odd_load { LOAD_NEXT, LOAD_LAST, LOAD_NONE };
/* Multiplies the step whose fragments are in `now`. Meanwhile it reads the next one, which is at `stage`, into `after`, writes
 * the one after that to the other stage, from `from`, and starts to load the second one after that into these registers.
 * none: that one is empty. B is read later than A, because the queue of LDS has room for eight reads of two waves. */
template <typename T, odd_load LOAD, odd_step_kind KIND = PLAIN, bool MULTIPLIES = true>
DEVICE void odd_step(tile_sums<T> sums, odd_fragments<T> *now, odd_fragments<T> *after, const stage_reader *first,
                     LDS char *lds, int stage, held_step<T> *from, odd_state<T> *s, odd_loads *l, bool none,
                     last_elements *last, form of_a, form of_b) {
  LDS char *to = lds + (stage ^ T::STAGE);
  if (MULTIPLIES && !T::SHIFTS) take_step<T>(now, of_a, of_b);
  begin_if_due<T, KIND>(s, of_a, of_b);
  keep_order();
  read_operand(after->a, &first->a.from, stage, of_a);
  keep_order();
  put_operand<T::SHIFTS, KIND>(to, &from->a, &s->a, &l->a, of_a);
  if (MULTIPLIES) multiply_half<T>(sums, now, 0, of_a.type);
  keep_order();
  read_operand(after->b, &first->b.from, stage, of_b);
  keep_order();
  put_operand<T::SHIFTS, KIND>(to + T::A_BYTES, &from->b, &s->b, &l->b, of_b);
  if (MULTIPLIES) multiply_half<T>(sums, now, 1, of_a.type);
  keep_order();
  if (LOAD == LOAD_NEXT) load_held<T>(from, l, none, of_a, of_b);
  if (LOAD == LOAD_LAST) last->a = load_last<T::SHIFTS>(&from->a, &l->a), last->b = load_last<T::SHIFTS>(&from->b, &l->b);
  if (KIND == LAST_STEP) {
    keep_order();
    put_last(to, last->a, &l->a, of_a);
    put_last(to + T::A_BYTES, last->b, &l->b, of_b);
  }
  end_slot();
  if (T::SHIFTS)
    take_step<T>(after, of_a, of_b);
  else
    keep_step<T>(after, of_a, of_b);
}

/* ---- Rows of whole dwords ---- */

/* Where what comes between a step's products is: after which of them a chunk is written, and one is loaded. */
template <typename T>
struct whole_step {
  static constexpr int EACH = mfma_parts(TDM_BF16), OF_PART = T::ROWS * T::COLUMNS, COUNT = T::PARTS * EACH * OF_PART;
  static constexpr int CHUNKS_A = held_step<T>::COUNT_A, CHUNKS = CHUNKS_A + held_step<T>::COUNT_B;
  static constexpr int write_at(int n) { return n * (COUNT / 2) / CHUNKS; }
  static constexpr int load_at(int n) { return COUNT / 2 + n * (COUNT / 2) / CHUNKS; }
};
/* Product I of a step: of which fragments, and which of its instructions. */
template <typename T, int I>
struct whole_product {
  typedef whole_step<T> step;
  static constexpr int M = I % step::OF_PART / T::COLUMNS, N = I % T::COLUMNS;
  static constexpr int PART = I / step::OF_PART / step::EACH, TURN = I / step::OF_PART % step::EACH;
  static constexpr int A = PART * T::ROWS + M, B = PART * T::OF_B + N;
};

DEVICE void make_dwords(u32x4 *made, const u32x4 *read, int chunk, int turn, int each, form f) {
  if (!makes_chunks(f)) return;
#pragma unroll
  for (int w = turn * 4 / each; w < (turn + 1) * 4 / each; w++) made[chunk][w] = in_order(make_dword(read, chunk, w, f));
}
/* What product I is the first to need of what LDS returned. */
template <typename T, int I>
DEVICE void make_for(odd_fragments<T> *made, const odd_fragments<T> *read, form of_a, form of_b) {
  if constexpr (I < whole_step<T>::COUNT) {
    typedef whole_product<T, I> product;
    if (product::N == 0) make_dwords(made->a, read->a, product::A, product::TURN, whole_step<T>::EACH, of_a);
    if (product::M == 0) make_dwords(made->b, read->b, product::B, product::TURN, whole_step<T>::EACH, of_b);
  }
}

template <typename T, int N>
DEVICE void write_whole(LDS char *to, const held_step<T> *from, const odd_loads *l, form of_a, form of_b) {
  constexpr int n = N - whole_step<T>::CHUNKS_A;
  if constexpr (n < 0)
    *chunk_place(to, &l->a, N, of_a) = from->a.of[N];
  else
    *chunk_place(to + T::A_BYTES, &l->b, n, of_b) = from->b.of[n];
}
template <typename T, int N>
DEVICE void load_whole(held_step<T> *to, odd_loads *l, bool none) {
  constexpr int n = N - whole_step<T>::CHUNKS_A;
  if constexpr (n < 0)
    to->a.of[N] = buffer_load(make_short_buffer(l->a.of.base, none ? 0 : l->a.of.length), l->a.of.offset[N]);
  else
    to->b.of[n] = buffer_load(make_short_buffer(l->b.of.base, none ? 0 : l->b.of.length), l->b.of.offset[n]);
  if (n == -1 && !none) next_loads_a(l);
  if (N == whole_step<T>::CHUNKS - 1 && !none) next_loads_b(l);
}
template <typename T, int I, int... N>
DEVICE void move_chunks(numbers<N...>, LDS char *to, held_step<T> *from, odd_loads *l, bool none, form of_a, form of_b) {
  typedef whole_step<T> at;
  ((at::write_at(N) == I ? write_whole<T, N>(to, from, l, of_a, of_b) : (void)0), ...);
  ((at::load_at(N) == I ? load_whole<T, N>(from, l, none) : (void)0), ...);
}

template <typename T, int I>
DEVICE void multiply_whole(tile_sums<T> sums, const odd_fragments<T> *now, odd_fragments<T> *made, odd_fragments<T> *after,
                           const stage_reader *first, LDS char *to, int stage, held_step<T> *from, odd_loads *l, bool none,
                           form of_a, form of_b) {
  typedef whole_product<T, I> product;
  const u32x4 *a = makes_chunks(of_a) ? made->a : now->a, *b = makes_chunks(of_b) ? made->b : now->b;
  f32x4 *sum = &sums[product::M][product::N];
  *sum = in_order(mfma_part(b[product::B], a[product::A], *sum, of_a.type, product::TURN));
  keep_order();
  make_for<T, I + 1>(made, now, of_a, of_b);
  if (I == 0) read_operand(after->b, &first->b.from, stage, of_b);
  keep_order();
  move_chunks<T, I>(up_to<whole_step<T>::CHUNKS>(), to, from, l, none, of_a, of_b);
  keep_order();
}
template <typename T, int... I>
DEVICE void multiply_all_whole(numbers<I...>, tile_sums<T> sums, const odd_fragments<T> *now, odd_fragments<T> *after,
                               const stage_reader *first, LDS char *to, int stage, held_step<T> *from, odd_loads *l, bool none,
                               form of_a, form of_b) {
  odd_fragments<T> made;
  make_for<T, 0>(&made, now, of_a, of_b);
  (multiply_whole<T, I>(sums, now, &made, after, first, to, stage, from, l, none, of_a, of_b), ...);
}

/* As odd_step, but where nothing is shifted, all else comes between products: 1024x1024x1024 bf16 by 64x64 took 20,413
 * predicted clocks in nt on gfx942 and 22,529 in tn, and takes 19,357 and 21,393. */
template <typename T>
DEVICE void next_step(tile_sums<T> sums, odd_fragments<T> *now, odd_fragments<T> *after, const stage_reader *first,
                      LDS char *lds, int stage, held_step<T> *from, odd_state<T> *s, odd_loads *l, bool none,
                      last_elements *last, form of_a, form of_b) {
  if constexpr (T::SHIFTS) {
    odd_step<T, LOAD_NEXT>(sums, now, after, first, lds, stage, from, s, l, none, last, of_a, of_b);
  } else {
    keep_order();
    read_operand(after->a, &first->a.from, stage, of_a);
    keep_order();
    multiply_all_whole<T>(up_to<whole_step<T>::COUNT>(), sums, now, after, first, lds + (stage ^ T::STAGE), stage, from, l,
                          none, of_a, of_b);
    end_slot();
    keep_step<T>(after, of_a, of_b);
  }
}

/* sums += A B over `depth` values of k, of which there are some. begin: as in tile.h.
 *
 * Registers are named by the code, so a turn of the loop takes two steps, and there are six more. For that there are 0 to 5
 * empty steps before the others: they are multiplied while the first loads are on their way. */
template <typename T, typename M>
DEVICE void run_unaligned(tile_sums<T> sums, odd_lines a, odd_lines b, int64_t depth, uint32_t begin, LDS char *lds, form of_a,
                          form of_b, M *more) {
  static_assert(T::STAGES == 2 && T::PRODUCTS == 1, "two stages");
  const int steps = uniform((int)((uint64_t)(depth - 1) / (PIPE_ROW / 2))), some = (steps < 5 ? 5 : steps) | 1;
  const int empty = some - steps;
  const step_order order = make_step_order(steps, begin);
  const char *last_a = uniform(a.of.base + bytes_of_steps(steps, &a.of, of_a)),
             *last_b = uniform(b.of.base + bytes_of_steps(steps, &b.of, of_b));
  odd_loads l = {a, b, bytes_of_steps(1 - steps, &a.of, of_a), bytes_of_steps(1 - steps, &b.of, of_b), steps - order.first};
  odd_state<T> s = {};
  s.left = empty, s.to_zero = order.first > 0 ? steps - order.first : 0, s.begun = 0;
  held_step<T> even, odd;
  begin_with(order, &l.a.of, of_a);
  begin_with(order, &l.b.of, of_b);
  const uint32_t length_a = steps > 0 ? a.of.length : 0, length_b = steps > 0 ? b.of.length : 0;
  const odd_lines begin_a = l.a, begin_b = l.b;
  load_held<T>(&even, &l, empty > 0, of_a, of_b);
  if (T::SHIFTS) s.a.begin = load_first(&begin_a, length_a), s.b.begin = load_first(&begin_b, length_b);
  ask_more(more);
  load_held<T>(&odd, &l, empty > 1, of_a, of_b);
  const b_lines<T> of_lines_b = {{b.of}};
  const stage_reader first = make_stage_reader<T>(lds, &a.of, &of_lines_b, of_a, of_b);
  keep_order();
  begin_if_due<T, FIRST_STEP>(&s, of_a, of_b);
  put_operand<T::SHIFTS, FIRST_STEP>(lds, &even.a, &s.a, &l.a, of_a);
  put_operand<T::SHIFTS, FIRST_STEP>(lds + T::A_BYTES, &even.b, &s.b, &l.b, of_b);
  if (T::SHIFTS) s.a.zero = load_first(&a, length_a), s.b.zero = load_first(&b, length_b);
  load_held<T>(&even, &l, empty > 2, of_a, of_b);
  end_slot();
  last_elements last;
  odd_fragments<T> x, y;
  odd_step<T, LOAD_NEXT, PLAIN, false>(sums, &y, &x, &first, lds, 0, &odd, &s, &l, empty > 3, &last, of_a, of_b);
  next_step<T>(sums, &x, &y, &first, lds, T::STAGE, &even, &s, &l, empty > 4, &last, of_a, of_b);
#pragma unroll 1
  for (int t = 5; t < some; t += 2) {
    next_step<T>(sums, &y, &x, &first, lds, 0, &odd, &s, &l, false, &last, of_a, of_b);
    next_step<T>(sums, &x, &y, &first, lds, T::STAGE, &even, &s, &l, false, &last, of_a, of_b);
  }
  l.a.of.base = last_a, l.b.of.base = last_b;
  odd_step<T, LOAD_LAST>(sums, &y, &x, &first, lds, 0, &odd, &s, &l, false, &last, of_a, of_b);
  odd_step<T, LOAD_NONE>(sums, &x, &y, &first, lds, T::STAGE, &even, &s, &l, false, &last, of_a, of_b);
  odd_step<T, LOAD_NONE, LAST_STEP>(sums, &y, &x, &first, lds, 0, &odd, &s, &l, false, &last, of_a, of_b);

  read_operand(y.a, &first.a.from, T::STAGE, of_a);
  read_operand(y.b, &first.b.from, T::STAGE, of_b);
  keep_order();
  if (!T::SHIFTS) take_step<T>(&x, of_a, of_b);
  multiply_half<T>(sums, &x, 0, of_a.type);
  multiply_half<T>(sums, &x, 1, of_a.type);
  end_slot();
  take_step<T>(&y, of_a, of_b);
  multiply_half<T>(sums, &y, 0, of_a.type);
  multiply_half<T>(sums, &y, 1, of_a.type);
}

#endif
