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
 * So loads have DEPTH - 1 steps to arrive. 1024x4096x1024 bf16 tn takes 27,452 predicted clocks on gfx950 and 45,872 on gfx942;
 * with all reads and loads before a step's products it took 32,376 and 54,180. */
#ifndef TANDEM_HIP_ENGINE_TILE_H
#define TANDEM_HIP_ENGINE_TILE_H

#include "between.h"
#include "hip/device/call.h"

template <int TILE_M_, int TILE_N_, int WAVES_M_, int WAVES_N_, int DEPTH_, bool CACHE_LINES_ = false, int PRODUCTS_ = 1>
struct tile {
  static constexpr bool CACHE_LINES = CACHE_LINES_; /* run_cache_lines, of gemm */
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, WAVES_N = WAVES_N_, DEPTH = DEPTH_, PRODUCTS = PRODUCTS_;
  static constexpr int WAVES = WAVES_M_ * WAVES_N_, THREADS = WAVES * WAVE;
  static constexpr int WAVE_M = TILE_M / WAVES_M_, WAVE_N = TILE_N / WAVES_N;
  /* A wave's fragments: of A, of one product's B, and of sums in a row. */
  static constexpr int SIDE = 16, ROWS = WAVE_M / SIDE, OF_B = WAVE_N / SIDE, COLUMNS = PRODUCTS * OF_B;
  static constexpr int A_BYTES = TILE_M * PIPE_ROW, B_BYTES = TILE_N * PIPE_ROW, STAGE = A_BYTES + PRODUCTS * B_BYTES;
  static constexpr int BYTES = DEPTH * STAGE;
  static constexpr int LOADS = loads_of(TILE_M, WAVES) + PRODUCTS * loads_of(TILE_N, WAVES); /* of a thread for a step */
  static constexpr int PARTS = PIPE_CHUNKS * SIDE / WAVE; /* of a K step: products of a fragment */
  /* Reads and loads come between products (between.h). Where a wave has fewer than 8 products in a step, or two B, this takes
   * longer: 768x768x768 gemm nt by 32x128 18,970 predicted clocks for 18,222 on gfx942, 16x4096x4096 nt by 16x64 24,474 for
   * 24,049 on gfx950, and 512x2048x2048 swiglu nn by 32x64 51,567 for 49,334. */
  static constexpr bool BETWEEN = PRODUCTS == 1 && ROWS * COLUMNS * PARTS >= 8;
  /* Waves per SIMD that fit into LDS. Each gets 512 registers divided by this, and at least 128. */
  static constexpr int BY_LDS = CHIP_LDS_BYTES / BYTES * WAVES / 4, OCCUPANCY = BY_LDS < 1 ? 1 : BY_LDS > 4 ? 4 : BY_LDS;
  /* How many rows fit into the waves' blocks (gemm/store.h). */
  static constexpr int BLOCK_ROWS = BYTES / WAVES / (WAVE_N * 4);
  static constexpr int PASS_ROWS = BLOCK_ROWS >= WAVE_M ? WAVE_M : BLOCK_ROWS >= 64 ? 64 : BLOCK_ROWS >= 32 ? 32 : 16;
  static_assert(LOADS * WAVES * WAVE * CHIP_LOAD_TO_LDS_BYTES == STAGE, "every wave loads as much");
};

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

template <typename T>
DEVICE void multiply_step(tile_sums<T> sums, fragments a, b_fragments<T> b, form of_a, form of_b) {
  wait_lds(); /* the fragments have arrived */
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

DEVICE void begin_with(step_order o, lines *x) { x->base = uniform(x->base + o.first * x->step); }

/* How many steps are left at the next turn, when `left` (above 0) are. */
DEVICE int next_turn(step_order o, int left) { return left > o.first ? o.first : 0; }

/* When `left` steps are left: from the last step to step 0, or to the tail, if it is time. */
DEVICE void turn(step_order o, lines *x, int left) {
  int64_t by = 0;
  if (left == o.first) by -= o.steps;
  if (left == 0) by += o.steps - o.first;
  x->base = uniform(x->base + by * x->step); /* in SGPRs, as load_lines needs it */
}

/* Starts the loads of the next step of all B, of which `left` are left. */
template <typename T>
DEVICE void load_b(b_lines<T> *b, LDS char *stage, int left, form of_b) {
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++)
    load_lines(b->of + p, stage + T::A_BYTES + p * T::B_BYTES, step_length(b->of + p, left), of_b);
}

template <typename T>
DEVICE void begin_all_with(step_order o, lines *a, b_lines<T> *b) {
  begin_with(o, a);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) begin_with(o, b->of + p);
}
template <typename T>
DEVICE void turn_all(step_order o, lines *a, b_lines<T> *b, int left) {
  turn(o, a, left);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) turn(o, b->of + p, left);
}

/* Starts the loads of the first steps, into all stages but the last one. */
template <typename T>
DEVICE void load_first_steps(step_order o, lines *a, b_lines<T> *b, LDS char *mine, form of_a, form of_b) {
#pragma unroll
  for (int s = 0; s < T::DEPTH - 1; s++) {
    load_lines(a, mine + s * T::STAGE, step_length(a, o.steps - s), of_a);
    load_b<T>(b, mine + s * T::STAGE, o.steps - s, of_b);
    turn_all<T>(o, a, b, o.steps - s - 1);
  }
}

/* Where a wave reads its lines of the first stage. */
template <typename T>
DEVICE stage_reader first_stage(LDS char *lds, form of_a, form of_b) {
  const int wave_m = wave_index() / T::WAVES_N * T::WAVE_M, wave_n = wave_index() % T::WAVES_N * T::WAVE_N;
  return (stage_reader){make_reader(lds, wave_m, of_a), make_reader(lds + T::A_BYTES, wave_n, of_b)};
}

/* Starts reading the wave's lines of all B. */
template <typename T>
DEVICE void read_b(b_fragments<T> to, const reader *from, form of_b) {
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) read_fragments(to[p], from, p * T::B_BYTES, of_b);
}

/* Reads the step whose stage begins `stage` bytes after the first. */
template <typename T>
DEVICE void read_step(fragments a, b_fragments<T> b, const stage_reader *first, int stage, form of_a, form of_b) {
  reader from_a = at_stage(&first->a, stage, of_a), from_b = at_stage(&first->b, stage, of_b);
  read_fragments(a, &from_a, 0, of_a);
  read_b<T>(b, &from_b, of_b);
}

template <typename T>
DEVICE void cut_tail_of_all(LDS char *stage, int tail, form of_a, form of_b) {
  cut_tail(stage, tail, of_a);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) cut_tail(stage + T::A_BYTES + p * T::B_BYTES, tail, of_b);
}

/* Reads and starts loads between products. */
template <typename T, tdm_type TYPE>
DEVICE void run_between(tile_sums<T> sums, lines a, b_lines<T> b, int64_t depth, uint32_t begin, LDS char *lds, form of_a,
                        form of_b) {
  const int values = PIPE_ROW / tdm_bytes(of_a.type);
  const int steps = uniform((int)((uint64_t)depth / values)), tail = (int)((uint64_t)depth % values);
  const step_order order = make_step_order(steps, begin);
  begin_all_with<T>(order, &a, &b);
  const stage_reader first = first_stage<T>(lds, of_a, of_b);
  LDS char *mine = lds + wave_place(of_a); /* the wave's parts of a stage; of B's lines, too */
  operands<T> x;
  step_loads<T> loads;

  load_first_steps<T>(order, &a, &b, mine, of_a, of_b);
  keep_order();
  wait_memory<(T::DEPTH - 2) * T::LOADS>(); /* this wave's part of step 0 is in LDS */
  barrier();
  const step_lengths<T> last = lengths_of<T>(&a, &b, steps - (T::DEPTH - 1));
  to_start<T> start = {&first, 0, &loads, &a, &b, mine + (T::DEPTH - 1) * T::STAGE, &last};
  start_first_part<T, TYPE>(&x, &start, of_a, of_b);
  turn_all<T>(order, &a, &b, steps - T::DEPTH);
  keep_order();
  int stage = 0;
#pragma unroll 1
  for (int t = 0; t < steps;) {
    const int now = steps - T::DEPTH - t; /* so many are left to load */
    const int end = now > 0 ? t + now - next_turn(order, now) : now == 0 ? t + 1 : steps;
    const step_lengths<T> lengths = lengths_of<T>(&a, &b, now);
    for (; t < end; t++) {
      if constexpr (T::PARTS > 1)
        multiply_between<T, TYPE, 0>(sums, &x, {&first, (uint32_t)stage, &loads, &a, &b, mine, &lengths}, of_a, of_b);
      LDS char *place = mine + stage;
      stage = stage == (T::DEPTH - 1) * T::STAGE ? 0 : stage + T::STAGE;
      multiply_between<T, TYPE, T::PARTS - 1>(sums, &x, {&first, (uint32_t)stage, &loads, &a, &b, place, &lengths}, of_a, of_b);
    }
    turn_all<T>(order, &a, &b, steps - T::DEPTH - t);
  }
  wait_lds(); /* the first part of the step after the last one, for nothing */
  take_part<T>(&x, 0, 0, T::ROWS, of_a, of_b);
  wait_memory<0>(); /* the tail, and the zeros after the last step: LDS is about to be used for something else */
  if (tail > 0) {
    barrier(); /* all waves have read the step after the last one, for nothing */
    cut_tail_of_all<T>(lds + stage, tail, of_a, of_b);
  }
  sync_lds(); /* the tail is in LDS, and nobody reads or fills another stage any more */
  if (tail == 0) return;

  fragments y;
  b_fragments<T> z;
  read_step<T>(y, z, &first, stage, of_a, of_b);
  multiply_step<T>(sums, y, z, of_a, of_b);
  sync_lds(); /* every wave has its fragments: LDS is free */
}

/* The same, but reads a whole step and starts loads before its products. */
template <typename T>
DEVICE void run_whole_steps(tile_sums<T> sums, lines a, b_lines<T> b, int64_t depth, uint32_t begin, LDS char *lds, form of_a,
                            form of_b) {
  const int values = PIPE_ROW / tdm_bytes(of_a.type);
  const int steps = uniform((int)((uint64_t)depth / values)), tail = (int)((uint64_t)depth % values);
  const step_order order = make_step_order(steps, begin);
  begin_all_with<T>(order, &a, &b);
  const stage_reader first = first_stage<T>(lds, of_a, of_b);
  LDS char *mine = lds + wave_place(of_a); /* the wave's parts of a stage; of B's lines, too */
  fragments x;
  b_fragments<T> y;

  load_first_steps<T>(order, &a, &b, mine, of_a, of_b);
  int stage = 0, filled = (T::DEPTH - 1) * T::STAGE;
#pragma unroll 1
  for (int t = 0; t < steps;) {
    const int now = steps - (T::DEPTH - 1) - t; /* so many are left to load */
    const int end = now > 0 ? t + now - next_turn(order, now) : steps;
    for (; t < end; t++) {
      wait_memory<(T::DEPTH - 2) * T::LOADS>(); /* this wave's part of the step is in LDS */
      barrier();                                /* and every other wave's part; and all waves have read the previous step */
      read_step<T>(x, y, &first, stage, of_a, of_b);
      const int left = steps - (T::DEPTH - 1) - t;
      load_lines(&a, mine + filled, step_length(&a, left), of_a);
      load_b<T>(&b, mine + filled, left, of_b);
      multiply_step<T>(sums, x, y, of_a, of_b);
      filled = stage;
      stage = stage == (T::DEPTH - 1) * T::STAGE ? 0 : stage + T::STAGE;
    }
    turn_all<T>(order, &a, &b, steps - (T::DEPTH - 1) - t);
  }
  wait_memory<0>(); /* the tail, and the zeros after the last step: LDS is about to be used for something else */
  if (tail > 0) cut_tail_of_all<T>(lds + stage, tail, of_a, of_b);
  sync_lds(); /* the tail is in LDS, and nobody reads or fills another stage any more */
  if (tail == 0) return;

  read_step<T>(x, y, &first, stage, of_a, of_b);
  multiply_step<T>(sums, x, y, of_a, of_b);
  sync_lds(); /* every wave has its fragments: LDS is free */
}

/* sums += A B, for each B, over `depth` values of k, from the positions of a and b on. begin: the part of them to begin
 * with. */
template <typename T, tdm_type TYPE>
DEVICE void run_tile(tile_sums<T> sums, lines a, b_lines<T> b, int64_t depth, uint32_t begin, LDS char *lds, form of_a,
                     form of_b) {
  if constexpr (T::BETWEEN)
    run_between<T, TYPE>(sums, a, b, depth, begin, lds, of_a, of_b);
  else
    run_whole_steps<T>(sums, a, b, depth, begin, lds, of_a, of_b);
}

#endif
