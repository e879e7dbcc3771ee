/* The loop over K of operands of 16 bits that begin anywhere, or at dwords (unaligned.h). */
#ifndef TANDEM_HIP_ENGINE_UNALIGNED_LOOP_H
#define TANDEM_HIP_ENGINE_UNALIGNED_LOOP_H

#include "unaligned.h"
#include "whole_step.h"

DEVICE void read_operand(fragments x, const reader *first, int stage, form f) {
  const reader r = reader_at(first, stage, f);
  read_fragments(x, &r, reads_by_offset(f) ? stage : 0, f);
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
  read_operand(after->a, &first->a.from, stage, lds_form<T>(of_a));
  keep_order();
  put_operand<T, KIND>(to, &from->a, &s->a, &l->a, of_a);
  if (MULTIPLIES) multiply_half<T>(sums, now, 0, of_a.type);
  keep_order();
  read_operand(after->b, &first->b.from, stage, lds_form<T>(of_b));
  keep_order();
  put_operand<T, KIND>(to + T::A_BYTES, &from->b, &s->b, &l->b, of_b);
  if (MULTIPLIES) multiply_half<T>(sums, now, 1, of_a.type);
  keep_order();
  if (LOAD == LOAD_NEXT) load_held<T>(from, l, none, of_a, of_b);
  if (LOAD == LOAD_LAST) last->a = load_last<T>(&from->a, &l->a, of_a), last->b = load_last<T>(&from->b, &l->b, of_b);
  if (KIND == LAST_STEP) {
    keep_order();
    put_last<T>(to, last->a, &l->a, of_a);
    put_last<T>(to + T::A_BYTES, last->b, &l->b, of_b);
  }
  end_slot();
  if (T::SHIFTS)
    take_step<T>(after, of_a, of_b);
  else
    keep_step<T>(after, of_a, of_b);
}

/* A step of the loop. */
template <typename T>
DEVICE void next_step(tile_sums<T> sums, odd_fragments<T> *now, odd_fragments<T> *after, const stage_reader *first,
                      LDS char *lds, int stage, held_step<T> *from, odd_state<T> *s, odd_loads *l, whole_loads<T> *loads,
                      last_elements *last, form of_a, form of_b) {
  if constexpr (T::SHIFTS && !T::SPREADS) {
    odd_step<T, LOAD_NEXT>(sums, now, after, first, lds, stage, from, s, l, false, last, of_a, of_b);
  } else {
    whole_step<T>(sums, now, after, first, lds, stage, from, s, l, loads, of_a, of_b);
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
  const stage_reader first = make_stage_reader<T>(lds, &a.of, &of_lines_b, lds_form<T>(of_a), lds_form<T>(of_b));
  keep_order();
  begin_if_due<T, FIRST_STEP>(&s, of_a, of_b);
  put_operand<T, FIRST_STEP>(lds, &even.a, &s.a, &l.a, of_a);
  put_operand<T, FIRST_STEP>(lds + T::A_BYTES, &even.b, &s.b, &l.b, of_b);
  if (T::SHIFTS) s.a.zero = load_first(&a, length_a), s.b.zero = load_first(&b, length_b);
  load_held<T>(&even, &l, empty > 2, of_a, of_b);
  end_slot();
  last_elements last;
  odd_fragments<T> x, y;
  odd_step<T, LOAD_NEXT, PLAIN, false>(sums, &y, &x, &first, lds, 0, &odd, &s, &l, empty > 3, &last, of_a, of_b);
  odd_step<T, LOAD_NEXT>(sums, &x, &y, &first, lds, T::STAGE, &even, &s, &l, empty > 4, &last, of_a, of_b);
  whole_loads<T> loads;
  if (!T::SHIFTS) {
    begin_whole(&loads.a, &a, l.a.of.base, steps);
    begin_whole(&loads.b, &b, l.b.of.base, steps);
    loads.to_wrap = l.to_wrap;
  }
#pragma unroll 1
  for (int t = 5; t < some; t += 2) {
    next_step<T>(sums, &y, &x, &first, lds, 0, &odd, &s, &l, &loads, &last, of_a, of_b);
    next_step<T>(sums, &x, &y, &first, lds, T::STAGE, &even, &s, &l, &loads, &last, of_a, of_b);
  }
  l.a.of.base = last_a, l.b.of.base = last_b;
  odd_step<T, LOAD_LAST>(sums, &y, &x, &first, lds, 0, &odd, &s, &l, false, &last, of_a, of_b);
  odd_step<T, LOAD_NONE>(sums, &x, &y, &first, lds, T::STAGE, &even, &s, &l, false, &last, of_a, of_b);
  odd_step<T, LOAD_NONE, LAST_STEP>(sums, &y, &x, &first, lds, 0, &odd, &s, &l, false, &last, of_a, of_b);

  read_operand(y.a, &first.a.from, T::STAGE, lds_form<T>(of_a));
  read_operand(y.b, &first.b.from, T::STAGE, lds_form<T>(of_b));
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
