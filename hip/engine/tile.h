/* Tiles of any shape: one loop over K, whose constants are the tile's sizes. gemm (hip/gemm/tile_loop.h) and swiglu share it;
 * docs/gemm-tiles.md says which tile is for what.
 *
 * A workgroup of WAVES_M x WAVES_N waves multiplies TILE_M lines of A by TILE_N lines of B, or of each of PRODUCTS matrices B.
 * LDS has DEPTH stages; each holds a K step of PIPE_ROW bytes along k of the lines of A and of all B. A step has PARTS (2 on
 * gfx950, 1 on gfx942), and while a wave multiplies one, it reads the next one (BETWEEN; else it reads a step at once):
 *
 *   multiply all parts but the last, and between their products read the part after them
 *   multiply the first row of the last part; the stage is read
 *   wait until this wave's loads of the next step have arrived; after the barrier all waves' loads have
 *   multiply the rest; between the products read the next step's first part, and start to load step + DEPTH into this stage:
 *   nobody reads it any more after the barrier
 *
 * With a spare stage (SPARE) the waves meet before the last part, and loads go to the stage of the step before. So reads have
 * all products to come between. It took 375 clocks off 34,588 of 2048x2048x2048 bf16 nt by 128x128 when it was made, and 203
 * off 37,681 in tn.
 *
 * So loads have DEPTH - 1 steps to arrive; by cache lines (cache_lines.h) one less, because a step is in two stages. The K tail
 * is a step like others: lanes load nothing after the end of K. 1000x1000x1000 bf16 nt with rows of 2048 bytes took 17,509
 * predicted clocks on gfx950 this way, and 18,648 when the tail came after the loop. 1024x4096x1024 bf16 tn takes 25,600 on
 * gfx950 and 43,428 on gfx942; with all reads and loads before a step's products it took 32,376 and 54,180. */
#ifndef TANDEM_HIP_ENGINE_TILE_H
#define TANDEM_HIP_ENGINE_TILE_H

#include "hip/device/call.h"
#include "step_ends.h"

/* SPARES: has a spare stage (STAGES) even if it costs a workgroup of the CU. */
template <int TILE_M_, int TILE_N_, int WAVES_M_, int WAVES_N_, int DEPTH_, bool CACHE_LINES_ = false, int PRODUCTS_ = 1,
          bool SPARES = false>
struct tile {
  static constexpr bool CACHE_LINES = CACHE_LINES_; /* loads rows along k by lines (cache_lines.h) */
  static constexpr bool UNALIGNED = false;          /* of an unaligned_tile (unaligned.h) */
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, WAVES_N = WAVES_N_, DEPTH = DEPTH_, PRODUCTS = PRODUCTS_;
  static constexpr int WAVES = WAVES_M_ * WAVES_N_, THREADS = WAVES * WAVE;
  static constexpr int WAVE_M = TILE_M / WAVES_M_, WAVE_N = TILE_N / WAVES_N;
  /* A wave's fragments: of A, of one product's B, and of sums in a row. */
  static constexpr int SIDE = 16, ROWS = WAVE_M / SIDE, OF_B = WAVE_N / SIDE, COLUMNS = PRODUCTS * OF_B;
  static constexpr int A_BYTES = TILE_M * PIPE_ROW, B_BYTES = TILE_N * PIPE_ROW, STAGE = A_BYTES + PRODUCTS * B_BYTES;
  static constexpr int LOADS = loads_of(TILE_M, WAVES) + PRODUCTS * loads_of(TILE_N, WAVES); /* of a thread for a step */
  /* Of these, those that may be on their way when a step is read. */
  static constexpr int LEFT = (DEPTH - (CACHE_LINES ? 3 : 2)) * LOADS;
  static constexpr int PARTS = PIPE_CHUNKS * SIDE / WAVE; /* of a K step: products of a fragment */
  /* Reads and loads come between products (between.h). Where a wave has fewer than 8 products in a step, or two B for one
   * fragment of A, this takes longer: 768x768x768 gemm nt by 32x128 18,970 predicted clocks for 18,222 on gfx942, 16x4096x4096
   * nt by 16x64 24,474 for 24,049 on gfx950, and 512x2048x2048 swiglu nn by 32x64 51,567 for 49,334. */
  static constexpr bool BETWEEN = CACHE_LINES || HIP_READS_BETWEEN(PRODUCTS, ROWS, OF_B, PARTS);
  /* A stage more than the loads need: then waves needn't have read a step when they meet, but the step before it. It must cost
   * no wave. */
  static constexpr bool SPARE = PARTS > 1 && BETWEEN && (SPARES || HIP_SPARES_STAGE(CHIP_LDS_BYTES, STAGE, DEPTH, WAVES));
  static constexpr int STAGES = DEPTH + SPARE, BYTES = STAGES * STAGE;
  /* Waves per SIMD that fit into LDS. Each gets 512 registers divided by this, and at least 128. */
  static constexpr int OCCUPANCY = HIP_WAVES_OF_SIMD(CHIP_LDS_BYTES / BYTES, WAVES);
  /* How many rows fit into the waves' blocks (gemm/store.h). */
  static constexpr int BLOCK_ROWS = BYTES / WAVES / (WAVE_N * 4);
  static constexpr int PASS_ROWS = BLOCK_ROWS >= WAVE_M ? WAVE_M : BLOCK_ROWS >= 64 ? 64 : BLOCK_ROWS >= 32 ? 32 : 16;
  static_assert(LOADS * WAVES * WAVE * CHIP_LOAD_TO_LDS_BYTES == STAGE, "every wave loads as much");
};

/* For run_tile, of what loads nothing else. */
struct nothing_more {};
DEVICE void ask_more(nothing_more *) {}

/* Products of the fragments that have arrived. Where one takes several instructions, all products have their first one before
 * any has its second: an instruction that adds to what the one before it has summed begins later. The compiler paired them
 * in some kernels: 128x14336x4096 bf16 nt took 1,900 predicted clocks more on gfx942. */
template <typename T>
DEVICE void multiply_part(tile_sums<T> sums, const fragments a, const b_fragments<T> b, int part, tdm_type type) {
#pragma unroll
  for (int i = 0; i < mfma_parts(type); i++) {
#pragma unroll
    for (int m = 0; m < T::ROWS; m++)
#pragma unroll
      for (int n = 0; n < T::COLUMNS; n++)
        sums[m][n] = mfma_part(b[n / T::OF_B][part * T::OF_B + n % T::OF_B], a[part * T::ROWS + m], sums[m][n], type, i);
    if (mfma_parts(type) > 1) keep_order();
  }
}

/* Multiplies a step, whose fragments have arrived. */
template <typename T>
DEVICE void multiply_arrived(tile_sums<T> sums, fragments a, b_fragments<T> b, form of_a, form of_b) {
  take_fragments(a, of_a);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) take_fragments(b[p], of_b);
  keep_order();
#pragma unroll
  for (int part = 0; part < T::PARTS; part++) multiply_part<T>(sums, a, b, part, of_a.type);
#pragma unroll
  for (int m = 0; m < T::ROWS; m++)
#pragma unroll
    for (int n = 0; n < T::COLUMNS; n++) sums[m][n] = in_order(sums[m][n]); /* not after the next barrier */
  keep_order();
}

template <typename T>
DEVICE void multiply_step(tile_sums<T> sums, fragments a, b_fragments<T> b, form of_a, form of_b) {
  wait_lds();
  multiply_arrived<T>(sums, a, b, of_a, of_b);
}

/* Where in K a tile begins, of 2^TILE_TURN_BITS (tiles.h): the one in row m and column n of tiles. */
DEVICE uint32_t turn_of(uint32_t m, uint32_t n, uint32_t turn_m, uint32_t turn_n) {
  return (m * turn_m + n * turn_n) & ((1u << TILE_TURN_BITS) - 1);
}

/* The order in which a workgroup loads its steps: first, first + 1, ..., steps - 1, 0, ..., first - 1, and the K tail.
 *
 * The workgroups of an XCD that share lines of A or of B begin at different steps (gemm_args.turn_m). If all began at 0,
 * they would ask for a line at the same time, and each of them would wait for HBM with its vL1D full. This way one of them
 * waits, and the others find the line in the L2. 1000x1000x1000 tn bf16 takes 20,474 predicted clocks so, and 25,209
 * otherwise. */
typedef struct step_order {
  int steps, first;
} step_order;

DEVICE step_order make_step_order(int steps, uint32_t begin) {
  return (step_order){.steps = steps, .first = uniform((int)((uint64_t)(uint32_t)steps * begin >> TILE_TURN_BITS))};
}

DEVICE void begin_with(step_order o, lines *x, form f) { x->base = uniform(x->base + bytes_of_steps(o.first, x, f)); }

/* How many steps are left at the next turn, when `left` (above 0) are. */
DEVICE int next_turn(step_order o, int left) { return left > o.first ? o.first : 0; }

/* When `left` steps are left: from the last step to step 0, or to the tail, if it is time. */
DEVICE void turn(step_order o, lines *x, int left, form f) {
  int by = 0;
  if (left == o.first) by -= o.steps;
  if (left == 0) by += o.steps - o.first;
  x->base = uniform(x->base + bytes_of_steps(by, x, f)); /* in SGPRs, as load_lines needs it */
}

template <typename T>
DEVICE void begin_all_with(step_order o, lines *a, b_lines<T> *b, form of_a, form of_b) {
  begin_with(o, a, of_a);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) begin_with(o, b->of + p, of_b);
}
template <typename T>
DEVICE void turn_all(step_order o, lines *a, b_lines<T> *b, int left, form of_a, form of_b) {
  turn(o, a, left, of_a);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) turn(o, b->of + p, left, of_b);
}
template <typename T>
DEVICE void set_tails(lines *a, b_lines<T> *b, int64_t depth, form of_a, form of_b) {
  set_tail(a, depth, of_a);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) set_tail(b->of + p, depth, of_b);
}

/* How many steps of K are whole, and what is left. Where all loads are of bytes before the end of K or of bytes after it, the
 * tail is a round like others; else it is multiplied after them. */
typedef struct k_steps {
  int whole, rounds, tail, tail_bytes;
  int tails; /* 1: there is a tail */
  int apart; /* 1: it is multiplied after the rounds */
} k_steps;
DEVICE k_steps steps_of(int64_t depth, form of_a, form of_b) {
  const int values = PIPE_ROW / tdm_bytes(of_a.type);
  k_steps k;
  k.whole = uniform((int)((uint64_t)depth / values));
  k.tail = uniform((int)((uint64_t)depth % values));
  k.tail_bytes = k.tail * tdm_bytes(of_a.type);
  k.tails = (int)((uint32_t)(k.tail + values - 1) / (uint32_t)values);
  k.apart = uniform((of_a.along_k || of_b.along_k) && k.tail_bytes % CHIP_LOAD_TO_LDS_BYTES != 0 ? 1 : 0);
  k.rounds = uniform(k.whole + (k.apart != 0 ? 0 : k.tails));
  return k;
}

/* Starts the loads of the next step of all operands. */
template <typename T>
DEVICE void load_step(lines *a, b_lines<T> *b, LDS char *stage, const step_lengths<T> *length, form of_a, form of_b) {
  load_lines(a, stage, length->a, of_a);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) load_lines(b->of + p, stage + T::A_BYTES + p * T::B_BYTES, length->b[p], of_b);
}

/* Starts the loads of the first steps, into all stages but the last one, finds the tail, and starts what else the tile loads.
 * That comes between the first step and the second: workgroups start one after another, and the late ones would queue behind
 * the second step of the early ones. */
template <typename T, typename M>
DEVICE void load_first_steps(step_order o, lines *a, b_lines<T> *b, LDS char *mine, int64_t depth, const k_steps *k, M *more,
                             form of_a, form of_b) {
  enum { FIRST = T::DEPTH - 1 };
  if (__builtin_expect(o.steps - o.first >= FIRST, 1)) { /* all whole, and one after the other */
    step_lengths<T> lengths = {a->length, {}};
#pragma unroll
    for (int p = 0; p < T::PRODUCTS; p++) lengths.b[p] = b->of[p].length;
#pragma unroll
    for (int s = 0; s < FIRST; s++) {
      load_step<T>(a, b, mine + s * T::STAGE, &lengths, of_a, of_b);
      if (s == 0) ask_more(more);
    }
  } else {
    set_tails<T>(a, b, depth, of_a, of_b);
#pragma unroll
    for (int s = 0; s < FIRST; s++) {
      if (o.steps == s) {
        const all_row_ends<T> ends = make_all_row_ends<T>(a, b, nullptr, k->tail_bytes, of_a, of_b);
        end_all_loads<T>(a, b, &ends, 0, T::LOADS, of_a, of_b);
      }
      const step_lengths<T> lengths = lengths_of<T>(a, b, o.steps - s);
      load_step<T>(a, b, mine + s * T::STAGE, &lengths, of_a, of_b);
      if (s + 1 < FIRST) turn_all<T>(o, a, b, o.steps - s - 1, of_a, of_b);
    }
    ask_more(more);
  }
  turn_all<T>(o, a, b, o.steps - FIRST, of_a, of_b);
  asm volatile("" : "+s"(depth)); /* here, while the loads are on their way */
  set_tails<T>(a, b, depth, of_a, of_b);
}
/* By cache lines, the first step is in two stages. */
template <typename T, typename M>
DEVICE void load_first_lines(const line_order *o, lines *a, b_lines<T> *b, LDS char *mine, int tail, M *more, form of_a,
                             form of_b) {
  if (o->first > 0 && o->first + T::DEPTH - 1 <= line_of_end(o)) { /* all alike */
    const step_lengths<T> lengths = {a->length, {b->of->length}};
#pragma unroll
    for (int s = 0; s < T::DEPTH - 1; s++) {
      load_step<T>(a, b, mine + s * T::STAGE, &lengths, of_a, of_b);
      if (s == 1) ask_more(more);
    }
  } else {
    const all_row_ends<T> ends = make_all_row_ends<T>(a, b, o, tail, of_a, of_b);
#pragma unroll
    for (int s = 0; s < T::DEPTH - 1; s++) {
      step_lengths<T> lengths;
      begin_slot_of_a<T>(a, &ends, o, s, &lengths, of_a, of_b);
      begin_slot_of_b<T>(b, &ends, o, s, &lengths, of_a, of_b);
      load_step<T>(a, b, mine + s * T::STAGE, &lengths, of_a, of_b);
    }
    ask_more(more);
  }
  a->base = uniform(a->base);
  b->of->base = uniform(b->of->base);
}

/* Where a wave reads its lines. */
template <typename T>
DEVICE stage_reader make_stage_reader(LDS char *lds, const lines *a, const b_lines<T> *b, form of_a, form of_b) {
  const int wave_m = wave_index() / T::WAVES_N * T::WAVE_M, wave_n = wave_index() % T::WAVES_N * T::WAVE_N;
  if (T::CACHE_LINES)
    return (stage_reader){make_slice_reader(lds, wave_m, a, of_a), make_slice_reader(lds + T::A_BYTES, wave_n, b->of, of_b)};
  return (stage_reader){{make_reader(lds, wave_m, of_a), {}}, {make_reader(lds + T::A_BYTES, wave_n, of_b), {}}};
}

template <typename T>
DEVICE int stage_after(int stage) {
  return stage == (T::STAGES - 1) * T::STAGE ? 0 : stage + T::STAGE;
}
template <typename T>
DEVICE stages stages_of(int stage) {
  return (stages){(uint32_t)stage, T::CACHE_LINES ? (uint32_t)stage_after<T>(stage) : 0};
}

/* Reads a step. */
template <typename T>
DEVICE void read_step(fragments a, b_fragments<T> b, const stage_reader *first, int stage, form of_a, form of_b) {
  const stages s = stages_of<T>(stage);
  reader from_a = at_step<T>(&first->a, s, 0, addresses_of(of_a), of_a),
         from_b = at_step<T>(&first->b, s, 0, addresses_of(of_b), of_b);
  read_fragments(a, &from_a, 0, of_a);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) read_fragments(b[p], &from_b, p * T::B_BYTES, of_b);
}

/* Multiplies the tail, if it is not among the rounds. This wave's loads of it have arrived. */
template <typename T>
DEVICE void multiply_tail(tile_sums<T> sums, const k_steps *k, const stage_reader *first, LDS char *lds, int stage, form of_a,
                          form of_b) {
  const bool apart = k->apart != 0;
  if (!T::CACHE_LINES && apart) {
    barrier(); /* all waves have read the step after the last one, for nothing */
    cut_tail(lds + stage, k->tail, of_a);
#pragma unroll
    for (int p = 0; p < T::PRODUCTS; p++) cut_tail(lds + stage + T::A_BYTES + p * T::B_BYTES, k->tail, of_b);
  }
  sync_lds(); /* the tail is in LDS, and nobody reads or fills another stage any more */
  if (!apart) return;

  fragments x;
  b_fragments<T> y;
  read_step<T>(x, y, first, stage, of_a, of_b);
  if (T::CACHE_LINES) {
    wait_lds();
    keep_read(x, of_a, 0, chunks_of(of_a));
    keep_read(y[0], of_b, 0, chunks_of(of_b));
    cut_fragments(x, k->tail_bytes, of_a);
    cut_fragments(y[0], k->tail_bytes, of_b);
  }
  multiply_step<T>(sums, x, y, of_a, of_b);
  sync_lds(); /* every wave has its fragments: LDS is free */
}

/* Reads and starts loads between products. */
template <typename T, tdm_type TYPE, typename M>
DEVICE void run_between(tile_sums<T> sums, lines a, b_lines<T> b, int64_t depth, uint32_t begin, LDS char *lds, form of_a,
                        form of_b, M *more) {
  const k_steps k = steps_of(depth, of_a, of_b);
  /* By cache lines, a tail apart is what was loaded last. */
  const step_order order = make_step_order(k.whole, T::CACHE_LINES && k.apart != 0 ? 0 : begin);
  const line_order line_order = {k.whole + k.tails, order.first, k.tails};
  begin_all_with<T>(order, &a, &b, of_a, of_b);
  LDS char *mine = lds + wave_place(of_a); /* the wave's parts of a stage; of B's lines, too */
  operands<T> x;
  step_loads<T> loads;
  step_reader reader;
  step_lengths<T> lengths;
  const int later = loads_b_later<T>() ? 1 : 0;
  int next_a = 0, next_b = 0; /* by cache lines: the steps from which A's and B's loads are others */

  if constexpr (T::CACHE_LINES)
    load_first_lines<T>(&line_order, &a, &b, mine, k.tail_bytes, more, of_a, of_b);
  else
    load_first_steps<T>(order, &a, &b, mine, depth, &k, more, of_a, of_b);
  const stage_reader first = make_stage_reader<T>(lds, &a, &b, of_a, of_b);
  const all_row_ends<T> ends = make_all_row_ends<T>(&a, &b, &line_order, k.tail_bytes, of_a, of_b);
  if constexpr (T::CACHE_LINES) {
    next_a = begin_slot_of_a<T>(&a, &ends, &line_order, T::DEPTH - 1, &lengths, of_a, of_b) - 1;
    if (!later) next_b = begin_slot_of_b<T>(&b, &ends, &line_order, T::DEPTH - 1, &lengths, of_a, of_b) - 1;
  } else {
    end_next_loads<T>(&a, &b, &ends, k.whole - (T::DEPTH - 1), of_a, of_b);
    lengths = lengths_of<T>(&a, &b, k.whole - (T::DEPTH - 1));
  }
  keep_order();
  wait_memory<T::LEFT>(); /* this wave's part of step 0 is in LDS */
  barrier();
  to_start<T> start = {&first, &reader, stages_of<T>(0), &loads, &a, &b, mine + (T::DEPTH - 1) * T::STAGE, &lengths};
  start_first_part<T, TYPE>(&x, &start, of_a, of_b);
  if (!T::CACHE_LINES) turn_all<T>(order, &a, &b, k.whole - T::DEPTH, of_a, of_b);
  keep_order();
  int stage = 0;
  LDS char *place = mine + (T::DEPTH - 1) * T::STAGE, *spare = mine + T::DEPTH * T::STAGE; /* of loads: now, and next */
#pragma unroll 1
  for (int t = 0; t < k.rounds;) {
    int end = k.rounds;
    if constexpr (T::CACHE_LINES) {
      if (t == next_a) next_a += begin_slot_of_a<T>(&a, &ends, &line_order, t + T::DEPTH, &lengths, of_a, of_b);
      if (t == next_b) next_b += begin_slot_of_b<T>(&b, &ends, &line_order, t + T::DEPTH - later, &lengths, of_a, of_b);
      if (next_a < end) end = next_a;
      if (next_b < end) end = next_b;
    } else {
      const int now = k.whole - T::DEPTH - t; /* so many are left to load */
      if (now > 0) end = t + now - next_turn(order, now);
      if (now == 0 && k.tail > 0) end = t + 1;
      end_next_loads<T>(&a, &b, &ends, now, of_a, of_b);
      lengths = lengths_of<T>(&a, &b, now);
    }
    for (; t < end; t++) {
      if constexpr (T::PARTS > 1)
        multiply_between<T, TYPE, 0>(sums, &x, {&first, &reader, stages_of<T>(stage), &loads, &a, &b, place, &lengths}, of_a,
                                     of_b);
      place = T::SPARE ? spare : mine + stage;
      spare = mine + stage;
      stage = stage_after<T>(stage);
      multiply_between<T, TYPE, T::PARTS - 1>(sums, &x, {&first, &reader, stages_of<T>(stage), &loads, &a, &b, place, &lengths},
                                              of_a, of_b);
    }
    if (!T::CACHE_LINES && t < k.rounds) turn_all<T>(order, &a, &b, k.whole - T::DEPTH - t, of_a, of_b);
  }
  wait_lds(); /* the first part of the step after the last one, for nothing */
  take_rows<T>(&x, 0, 0, T::ROWS, of_a);
  take_columns<T>(&x, 0, 0, T::COLUMNS, of_b);
  wait_memory<0>(); /* the tail, and the zeros after the last step: LDS is about to be used for something else */
  multiply_tail<T>(sums, &k, &first, lds, stage, of_a, of_b);
}

/* The same, but reads a whole step and starts loads before its products. */
template <typename T, typename M>
DEVICE void run_whole_steps(tile_sums<T> sums, lines a, b_lines<T> b, int64_t depth, uint32_t begin, LDS char *lds, form of_a,
                            form of_b, M *more) {
  static_assert(!T::CACHE_LINES, "tiles by cache lines read between products");
  const k_steps k = steps_of(depth, of_a, of_b);
  const step_order order = make_step_order(k.whole, begin);
  begin_all_with<T>(order, &a, &b, of_a, of_b);
  LDS char *mine = lds + wave_place(of_a); /* the wave's parts of a stage; of B's lines, too */
  fragments x;
  b_fragments<T> y;

  load_first_steps<T>(order, &a, &b, mine, depth, &k, more, of_a, of_b);
  const stage_reader first = make_stage_reader<T>(lds, &a, &b, of_a, of_b);
  const all_row_ends<T> ends = make_all_row_ends<T>(&a, &b, nullptr, k.tail_bytes, of_a, of_b);
  int stage = 0, filled = (T::DEPTH - 1) * T::STAGE;
#pragma unroll 1
  for (int t = 0; t < k.rounds;) {
    const int now = k.whole - (T::DEPTH - 1) - t; /* so many are left to load */
    int end = k.rounds;
    if (now > 0) end = t + now - next_turn(order, now);
    if (now == 0 && k.tail > 0) end = t + 1;
    if (now == 0) end_all_loads<T>(&a, &b, &ends, 0, T::LOADS, of_a, of_b);
    const step_lengths<T> lengths = lengths_of<T>(&a, &b, now);
    for (; t < end; t++) {
      wait_memory<T::LEFT>(); /* this wave's part of the step is in LDS */
      barrier();              /* and every other wave's part; and all waves have read the previous step */
      read_step<T>(x, y, &first, stage, of_a, of_b);
      load_step<T>(&a, &b, mine + filled, &lengths, of_a, of_b);
      multiply_step<T>(sums, x, y, of_a, of_b);
      filled = stage;
      stage = stage_after<T>(stage);
    }
    if (t < k.rounds) turn_all<T>(order, &a, &b, k.whole - (T::DEPTH - 1) - t, of_a, of_b);
  }
  wait_memory<0>(); /* the tail, and the zeros after the last step: LDS is about to be used for something else */
  multiply_tail<T>(sums, &k, &first, lds, stage, of_a, of_b);
}

/* sums += A B, for each B, over `depth` values of k, from the positions of a and b on. begin: the part of them to begin
 * with. ask_more(more) starts what else the tile loads. */
template <typename T, tdm_type TYPE, typename M>
DEVICE void run_tile(tile_sums<T> sums, lines a, b_lines<T> b, int64_t depth, uint32_t begin, LDS char *lds, form of_a,
                     form of_b, M *more) {
  if constexpr (T::BETWEEN)
    run_between<T, TYPE>(sums, a, b, depth, begin, lds, of_a, of_b, more);
  else
    run_whole_steps<T>(sums, a, b, depth, begin, lds, of_a, of_b, more);
}

#endif
