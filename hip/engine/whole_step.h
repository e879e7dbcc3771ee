/* A step of unaligned.h, all of which comes between products: on both chips of operands whose rows begin at dwords, so that
 * nothing is shifted, and on gfx950 of those that are shifted, too. By odd_step of unaligned_loop.h, whose reads, shifts and
 * loads clang places in the halves of a step, 1024x1024x2048 bf16 between dwords took 35,122 predicted clocks on gfx950 in tn
 * and 32,337 in nn. It takes 33,266 and 30,456. */
#ifndef TANDEM_HIP_ENGINE_WHOLE_STEP_H
#define TANDEM_HIP_ENGINE_WHOLE_STEP_H

#include "unaligned.h"

/* What comes between a step's products: each function says after how many of them. On gfx950 reads, writes and loads are spread
 * over the step, because LDS and the vL1D have queues for all waves, and a wave whose instruction finds one full issues no
 * other: with all reads before the second product and all loads after the middle 1024x1024x2048 bf16 tn took 23,472 predicted
 * clocks, and takes 21,894 (together with transpose.h). On gfx942, where a step has half as many products, spreading took up to
 * 2.6 % more. */
template <typename T>
struct whole_order {
  static constexpr int EACH = mfma_parts(TDM_BF16), OF_PART = T::ROWS * T::COLUMNS, COUNT = T::PARTS * EACH * OF_PART;
  static constexpr int CHUNKS_A = held_step<T>::COUNT_A, CHUNKS = CHUNKS_A + held_step<T>::COUNT_B;
  static constexpr int HALVES_A = 2 * T::PARTS * T::ROWS, HALVES = HALVES_A + 2 * T::PARTS * T::OF_B;
  /* Two chunks are made together, of an operand that is transposed or shifted: how many twos A has, and both operands. */
  static constexpr int TWOS_A = T::SPREADS ? CHUNKS_A / 2 : 0, TWOS = T::SPREADS ? CHUNKS / 2 : 0;
  static constexpr int make_at(int two, int step) {
    return (two * CHUNK_STEPS + step) * (COUNT * 5 / 8) / ((TWOS > 0 ? TWOS : 1) * CHUNK_STEPS);
  }
  static constexpr int write_at(int n, bool made) {
    if (!T::SPREADS) return 1 + n * (COUNT / 2) / CHUNKS;
    return made ? make_at(n / 2, CHUNK_STEPS - 1) : COUNT / 2 + n * (COUNT / 4) / CHUNKS;
  }
  /* Of dword n of all chunks; of others, of the chunk that begins with it. */
  static constexpr int load_at(int n, bool made) { /* not before the chunk is written */
    if (!T::SPREADS) return 1 + COUNT / 2 + n * (COUNT / 2) / (4 * CHUNKS);
    const int at = COUNT * 3 / 8 + n * (COUNT * 5 / 8) / (4 * CHUNKS - 1), least = write_at(n / 4, made) + 1;
    return at < least ? least : at;
  }
  /* Before which product the loads of a chunk are needed first. */
  static constexpr int needed_at(int chunk, bool made) { return made ? make_at(chunk / 2, 0) : write_at(chunk, false); }
  static constexpr int read_at(int half) {
    if (!T::SPREADS) return half < HALVES_A ? 0 : 1;
    return half < HALVES_A / 2 ? 0 : half * (COUNT * 3 / 4) / HALVES;
  }
};
/* Product I of a step: of which fragments, and which of its instructions. */
template <typename T, int I>
struct whole_product {
  typedef whole_order<T> step;
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
  if constexpr (I < whole_order<T>::COUNT) {
    typedef whole_product<T, I> product;
    if (product::N == 0) make_dwords(made->a, read->a, product::A, product::TURN, whole_order<T>::EACH, of_a);
    if (product::M == 0) make_dwords(made->b, read->b, product::B, product::TURN, whole_order<T>::EACH, of_b);
  }
}

/* Are an operand's chunks made of what was loaded, dword by dword? They are transposed or shifted. */
template <typename T>
DEVICE constexpr bool makes(bool across_k) {
  return T::SPREADS && (T::SHIFTS || across_k);
}

template <typename T, int N>
DEVICE void write_whole(LDS char *to, const two_chunks *twos, const held_step<T> *from, const odd_loads *l, form of_a,
                        form of_b) {
  constexpr bool is_a = N < whole_order<T>::CHUNKS_A;
  constexpr int n = is_a ? N : N - whole_order<T>::CHUNKS_A;
  const form f = is_a ? of_a : of_b;
  const odd_lines *of = is_a ? &l->a : &l->b;
  LDS char *stage = is_a ? to : to + T::A_BYTES;
  if (transposes<T>(f))
    *transposed_place<T>(stage, of, n / 2, n % 2, f) = twos[N / 2].of[N % 2];
  else if (T::SHIFTS)
    *chunk_place(stage, of, n, f) = twos[N / 2].of[N % 2];
  else if constexpr (is_a)
    *chunk_place(stage, of, n, f) = from->a.of[n];
  else
    *chunk_place(stage, of, n, f) = from->b.of[n];
}

/* Loads of whole steps, from a buffer that holds all of them. So the next step is an addition to the offsets. With a base of 64
 * bits it would be a new buffer, and 14 scalar instructions for both operands. gemm_shifted.c sees to it that 32 bits are
 * enough. */
template <int COUNT>
struct whole_lines {
  buffer from;
  uint32_t offset[COUNT], step, wrap;
};
template <typename T>
struct whole_loads {
  whole_lines<held_step<T>::COUNT_A> a;
  whole_lines<held_step<T>::COUNT_B> b;
  int to_wrap;
};
template <int COUNT>
DEVICE void begin_whole(whole_lines<COUNT> *w, const odd_lines *x, const char *next, int steps) {
  const uint32_t step = x->of.step, length = steps > 0 ? x->of.length + (uint32_t)(steps - 1) * step : 0;
  w->from = make_short_buffer(x->of.base, length);
  w->step = step, w->wrap = (uint32_t)(1 - steps) * step;
#pragma unroll
  for (int n = 0; n < COUNT; n++) w->offset[n] = x->of.offset[n] + (uint32_t)(next - x->of.base);
}
template <int COUNT>
DEVICE void next_whole(whole_lines<COUNT> *w, bool wraps) {
  const uint32_t by = wraps ? w->wrap : w->step;
#pragma unroll
  for (int n = 0; n < COUNT; n++) w->offset[n] = add_to_lane_here(w->offset[n], by);
}
/* The load of dword N of an operand's, or of the chunk that begins with it. */
template <typename T, int N, int COUNT>
DEVICE void load_dword(odd_chunks<COUNT> *to, buffer from, const uint32_t *offset, int pitch, form f) {
  if (transposes<T>(f))
    to->rows[N] = __builtin_amdgcn_raw_buffer_load_b32(from, (int)offset[N / ROWS_OF_LOAD], N % ROWS_OF_LOAD * pitch, 0);
  else if (N % ROWS_OF_LOAD == 0)
    to->of[N / ROWS_OF_LOAD] = buffer_load(from, offset[N / ROWS_OF_LOAD]);
}
template <typename T, int N, int COUNT>
DEVICE void load_dword_of(odd_chunks<COUNT> *to, const whole_lines<COUNT> *whole, const odd_lines *x, form f) {
  if constexpr (T::SHIFTS) {
    load_dword<T, N>(to, make_short_buffer(x->of.base, x->of.length), x->of.offset, x->of.pitch, f);
    if (N == 4 * COUNT - 1 && !f.along_k) to->first = load_first(x, x->of.length);
  } else {
    load_dword<T, N>(to, whole->from, whole->offset, x->of.pitch, f);
  }
}
/* Dword N of a step's, A's first. */
template <typename T, int N>
DEVICE void load_whole(held_step<T> *to, whole_loads<T> *l, odd_loads *of, form of_a, form of_b) {
  constexpr int n = N - ROWS_OF_LOAD * whole_order<T>::CHUNKS_A;
  if constexpr (n < 0)
    load_dword_of<T, N>(&to->a, &l->a, &of->a, of_a);
  else
    load_dword_of<T, n>(&to->b, &l->b, &of->b, of_b);
  if (N < ROWS_OF_LOAD * whole_order<T>::CHUNKS - 1) return;
  if (T::SHIFTS) {
    next_loads_a(of);
    next_loads_b(of);
    return;
  }
  l->to_wrap--;
  next_whole(&l->a, l->to_wrap == 0);
  next_whole(&l->b, l->to_wrap == 0);
}
/* How many loads of chunks from `begin` to `end` come after fewer than i products. Of an operand that is shifted across k, the
 * rows' first elements are the last one. */
template <typename T>
DEVICE constexpr int loads_before(int i, int begin, int end, bool across) {
  const bool made = makes<T>(across);
  int count = 0;
  for (int n = 4 * begin; n < 4 * end; n++)
    if ((T::TRANSPOSES && across) || n % 4 == 0) count += whole_order<T>::load_at(n, made) < i;
  return count + (T::SHIFTS && across && whole_order<T>::load_at(4 * end - 1, made) < i);
}
/* Waits for an operand's loads of two steps before, if its chunks are first used after I products: once for all of them, where
 * the compiler would wait for each. Loads arrive in order. Newer than A's are B's of that step, both operands' of the step
 * before this one, and those that this step has started. A, B: is this operand across k? */
template <typename T, int I, bool A, bool B>
DEVICE void wait_for_chunks(void) {
  typedef whole_order<T> step;
  constexpr int all_a = loads_before<T>(step::COUNT + 2, 0, step::CHUNKS_A, A),
                all_b = loads_before<T>(step::COUNT + 2, step::CHUNKS_A, step::CHUNKS, B);
  constexpr int since = loads_before<T>(I, 0, step::CHUNKS_A, A) + loads_before<T>(I, step::CHUNKS_A, step::CHUNKS, B);
  if constexpr (I == step::needed_at(step::CHUNKS_A, makes<T>(B)))
    wait_memory<all_a + all_b + since>();
  else if constexpr (I == step::needed_at(0, makes<T>(A)))
    wait_memory<all_a + 2 * all_b + since>();
}
template <typename T, int I>
DEVICE void wait_for_chunks(form of_a, form of_b) {
  const bool a = !of_a.along_k, b = !of_b.along_k;
  if (!a && !b) wait_for_chunks<T, I, false, false>();
  if (!a && b) wait_for_chunks<T, I, false, true>();
  if (a && !b) wait_for_chunks<T, I, true, false>();
  if (a && b) wait_for_chunks<T, I, true, true>();
}

template <typename T, int HALF>
DEVICE void read_whole(odd_fragments<T> *to, step_reader *at, const stage_reader *first, int stage, form of_a, form of_b) {
  typedef whole_order<T> step;
  constexpr bool is_a = HALF < step::HALVES_A;
  constexpr int half = is_a ? HALF : HALF - step::HALVES_A;
  const form f = lds_form<T>(is_a ? of_a : of_b);
  reader *r = is_a ? &at->a : &at->b;
  if (half == 0) *r = reader_at(is_a ? &first->a.from : &first->b.from, stage, f);
  read_chunk_half(is_a ? to->a : to->b, r, reads_by_offset(f) ? stage : 0, f, half / 2, half % 2);
}

/* What a wave needs between products. */
template <typename T>
struct whole_moves {
  const odd_fragments<T> *now;
  odd_fragments<T> *made, *after;
  two_chunks *twos; /* on their way from loads to LDS */
  const stage_reader *first;
  step_reader *at;
  LDS char *to;
  int stage;
  held_step<T> *from;
  odd_state<T> *state;
  odd_loads *l;
  whole_loads<T> *loads;
};
template <int BESIDE, int TWO, int STEP, int COUNT>
DEVICE void shift_two(two_chunks *to, const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of, form f) {
  shift_step<BESIDE, 2 * TWO, STEP>(&to->of[0], x, ends, of, f);
  shift_step<BESIDE, 2 * TWO + 1, STEP>(&to->of[1], x, ends, of, f);
}
/* A step of two chunks of an operand's. */
template <typename T, int TWO, int STEP, int COUNT>
DEVICE void make_step(two_chunks *to, const odd_chunks<COUNT> *x, odd_ends<COUNT> *ends, const odd_lines *of, form f) {
  if (transposes<T>(f)) {
    transpose_step<STEP>(to, x->rows + TWO * CHUNK_VALUES);
    return;
  }
  switch (rows_beside(f)) {
    case 1: shift_two<1, TWO, STEP>(to, x, ends, of, f); break;
    case 2: shift_two<2, TWO, STEP>(to, x, ends, of, f); break;
    case 4: shift_two<4, TWO, STEP>(to, x, ends, of, f); break;
  }
}
template <typename T, int I, int S>
DEVICE void make_if_due(const whole_moves<T> *m, form of_a, form of_b) {
  typedef whole_order<T> step;
  constexpr int two = S / CHUNK_STEPS, part = S % CHUNK_STEPS;
  if constexpr (step::make_at(two, part) == I) {
    if constexpr (two < step::TWOS_A) {
      if (makes<T>(!of_a.along_k)) make_step<T, two, part>(m->twos + two, &m->from->a, &m->state->a, &m->l->a, of_a);
    } else {
      if (makes<T>(!of_b.along_k))
        make_step<T, two - step::TWOS_A, part>(m->twos + two, &m->from->b, &m->state->b, &m->l->b, of_b);
    }
  }
}
template <typename T, int I, int... S>
DEVICE void make_chunks_at(numbers<S...>, const whole_moves<T> *m, form of_a, form of_b) {
  (make_if_due<T, I, S>(m, of_a, of_b), ...);
}
template <typename T, int I, int N>
DEVICE void write_if_due(const whole_moves<T> *m, form of_a, form of_b) {
  typedef whole_order<T> step;
  constexpr bool due[2] = {step::write_at(N, false) == I, step::write_at(N, true) == I};
  if (due[makes<T>(!(N < step::CHUNKS_A ? of_a : of_b).along_k)]) write_whole<T, N>(m->to, m->twos, m->from, m->l, of_a, of_b);
}
template <typename T, int I, int N>
DEVICE void load_if_due(const whole_moves<T> *m, form of_a, form of_b) {
  typedef whole_order<T> step;
  constexpr bool due[2] = {step::load_at(N, false) == I, step::load_at(N, true) == I};
  if (due[makes<T>(!(N / 4 < step::CHUNKS_A ? of_a : of_b).along_k)]) load_whole<T, N>(m->from, m->loads, m->l, of_a, of_b);
}
template <typename T, int I, int... N>
DEVICE void write_chunks(numbers<N...>, const whole_moves<T> *m, form of_a, form of_b) {
  (write_if_due<T, I, N>(m, of_a, of_b), ...);
}
template <typename T, int I, int... N>
DEVICE void load_chunks_at(numbers<N...>, const whole_moves<T> *m, form of_a, form of_b) {
  (load_if_due<T, I, N>(m, of_a, of_b), ...);
}
template <typename T, int I, int... N>
DEVICE void read_halves(numbers<N...>, const whole_moves<T> *m, form of_a, form of_b) {
  ((whole_order<T>::read_at(N) == I ? read_whole<T, N>(m->after, m->at, m->first, m->stage, of_a, of_b) : (void)0), ...);
}
template <typename T, int I>
DEVICE void between_whole(const whole_moves<T> *m, form of_a, form of_b) {
  typedef whole_order<T> step;
  keep_order();
  make_for<T, I>(m->made, m->now, of_a, of_b);
  read_halves<T, I>(up_to<step::HALVES>(), m, of_a, of_b);
  keep_order();
  wait_for_chunks<T, I>(of_a, of_b);
  keep_order();
  if constexpr (T::SPREADS) make_chunks_at<T, I>(up_to<step::TWOS * CHUNK_STEPS>(), m, of_a, of_b);
  write_chunks<T, I>(up_to<step::CHUNKS>(), m, of_a, of_b);
  load_chunks_at<T, I>(up_to<4 * step::CHUNKS>(), m, of_a, of_b);
  keep_order();
}

template <typename T, int I>
DEVICE void multiply_whole(tile_sums<T> sums, const whole_moves<T> *m, form of_a, form of_b) {
  typedef whole_product<T, I> product;
  const u32x4 *a = makes_chunks(of_a) ? m->made->a : m->now->a, *b = makes_chunks(of_b) ? m->made->b : m->now->b;
  f32x4 *sum = &sums[product::M][product::N];
  *sum = in_order(mfma_part(b[product::B], a[product::A], *sum, of_a.type, product::TURN));
  between_whole<T, I + 1>(m, of_a, of_b);
}
template <typename T, int... I>
DEVICE void multiply_all_whole(numbers<I...>, tile_sums<T> sums, const whole_moves<T> *m, form of_a, form of_b) {
  typedef whole_order<T> order;
  enum { LAST_LOAD = 4 * order::CHUNKS - 1 };
  static_assert(order::load_at(LAST_LOAD, false) <= order::COUNT && order::load_at(LAST_LOAD, true) <= order::COUNT,
                "all loads come after a product");
  between_whole<T, 0>(m, of_a, of_b);
  (multiply_whole<T, I>(sums, m, of_a, of_b), ...);
}

/* Multiplies a step, as odd_step of unaligned_loop.h does. By that 1024x1024x1024 bf16 took 20,413 predicted clocks in nt on
 * gfx942 and 22,529 in tn, and 19,357 and 21,393 by this when it was made (64x64). */
template <typename T>
DEVICE void whole_step(tile_sums<T> sums, odd_fragments<T> *now, odd_fragments<T> *after, const stage_reader *first,
                       LDS char *lds, int stage, held_step<T> *from, odd_state<T> *s, odd_loads *l, whole_loads<T> *loads,
                       form of_a, form of_b) {
  odd_fragments<T> made;
  step_reader at;
  two_chunks twos[whole_order<T>::TWOS + 1];
  const whole_moves<T> m = {now, &made, after, twos, first, &at, lds + (stage ^ T::STAGE), stage, from, s, l, loads};
  begin_if_due<T, PLAIN>(s, of_a, of_b);
  multiply_all_whole<T>(up_to<whole_order<T>::COUNT>(), sums, &m, of_a, of_b);
  end_slot();
  keep_step<T>(after, of_a, of_b);
}

#endif
