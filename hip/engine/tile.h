/* Tiles of any shape: one loop over K, whose constants are the tile's sizes. gemm (hip/gemm/tile_loop.h) and swiglu share it;
 * docs/gemm-tiles.md says which tile is for what.
 *
 * A workgroup of WAVES_M x WAVES_N waves multiplies TILE_M lines of A by TILE_N lines of B, or of each of PRODUCTS matrices B.
 * LDS has DEPTH stages; each holds a K step of PIPE_ROW bytes along k of the lines of A and of all B. A step:
 *
 *   wait until this wave's loads of the step have arrived; after the barrier all waves' loads have
 *   read the step's fragments from its stage
 *   start to load step + DEPTH - 1 into the stage that was read one step before: nobody reads it any more after the barrier
 *   multiply
 *
 * So loads have DEPTH - 1 steps to arrive. While a wave waits between its reads and its products, a wave of another
 * workgroup on the same SIMD works. */
#ifndef TANDEM_HIP_ENGINE_TILE_H
#define TANDEM_HIP_ENGINE_TILE_H

#include "hip/device/call.h"
#include "lines.h"

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
  /* Waves per SIMD that fit into LDS. Each gets 512 registers divided by this, and at least 128. */
  static constexpr int BY_LDS = CHIP_LDS_BYTES / BYTES * WAVES / 4, OCCUPANCY = BY_LDS < 1 ? 1 : BY_LDS > 4 ? 4 : BY_LDS;
  /* How many rows fit into the waves' blocks (gemm/store.h). */
  static constexpr int BLOCK_ROWS = BYTES / WAVES / (WAVE_N * 4);
  static constexpr int PASS_ROWS = BLOCK_ROWS >= WAVE_M ? WAVE_M : BLOCK_ROWS >= 64 ? 64 : BLOCK_ROWS >= 32 ? 32 : 16;
  static_assert(LOADS * WAVES * WAVE * CHIP_LOAD_TO_LDS_BYTES == STAGE, "every wave loads as much");
};

/* Sums of a wave: in each row those of the first product, then those of the second. */
template <typename T>
using tile_sums = f32x4[T::ROWS][T::COLUMNS];

/* The lines of all B, and what a wave has of them. */
template <typename T>
struct b_lines {
  lines of[T::PRODUCTS];
};
template <typename T>
using b_fragments = fragments[T::PRODUCTS];

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

/* The reader of the stage that begins `bytes` after the first. */
DEVICE reader at_stage(const reader *first, int bytes, form f) {
  reader r = *first;
#pragma unroll
  for (int n = 0; n < addresses_of(f); n++) r.address[n] += (uint32_t)bytes;
  return r;
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

/* Starts reading the wave's lines of all B. */
template <typename T>
DEVICE void read_b(b_fragments<T> to, const reader *from, form of_b) {
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) read_fragments(to[p], from, p * T::B_BYTES, of_b);
}

/* sums += A B, for each B, over `depth` values of k, from the positions of a and b on. begin: the part of them to begin
 * with. */
template <typename T>
DEVICE void run_tile(tile_sums<T> sums, lines a, b_lines<T> b, int64_t depth, uint32_t begin, LDS char *lds, form of_a,
                     form of_b) {
  const int values = PIPE_ROW / tdm_bytes(of_a.type);
  const int steps = uniform((int)((uint64_t)depth / values)), tail = (int)((uint64_t)depth % values);
  const step_order order = make_step_order(steps, begin);
  begin_with(order, &a);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) begin_with(order, b.of + p);
  const int wave_m = wave_index() / T::WAVES_N * T::WAVE_M, wave_n = wave_index() % T::WAVES_N * T::WAVE_N;
  const reader first_a = make_reader(lds, wave_m, of_a), first_b = make_reader(lds + T::A_BYTES, wave_n, of_b);
  LDS char *mine = lds + wave_place(of_a); /* the wave's parts of a stage; of B's lines, too */
  fragments x;
  b_fragments<T> y;

#pragma unroll
  for (int s = 0; s < T::DEPTH - 1; s++) {
    load_lines(&a, mine + s * T::STAGE, step_length(&a, steps - s), of_a);
    load_b<T>(&b, mine + s * T::STAGE, steps - s, of_b);
    turn(order, &a, steps - s - 1);
#pragma unroll
    for (int p = 0; p < T::PRODUCTS; p++) turn(order, b.of + p, steps - s - 1);
  }
  int stage = 0, filled = (T::DEPTH - 1) * T::STAGE;
#pragma unroll 1
  for (int t = 0; t < steps;) {
    const int now = steps - (T::DEPTH - 1) - t; /* so many are left to load */
    const int end = now > 0 ? t + now - next_turn(order, now) : steps;
    for (; t < end; t++) {
      wait_memory<(T::DEPTH - 2) * T::LOADS>(); /* this wave's part of the step is in LDS */
      barrier();                                /* and every other wave's part; and all waves have read the previous step */
      reader from_a = at_stage(&first_a, stage, of_a), from_b = at_stage(&first_b, stage, of_b);
      read_fragments(x, &from_a, 0, of_a);
      read_b<T>(y, &from_b, of_b);
      const int left = steps - (T::DEPTH - 1) - t;
      load_lines(&a, mine + filled, step_length(&a, left), of_a);
      load_b<T>(&b, mine + filled, left, of_b);
      multiply_step<T>(sums, x, y, of_a, of_b);
      filled = stage;
      stage = stage == (T::DEPTH - 1) * T::STAGE ? 0 : stage + T::STAGE;
    }
    turn(order, &a, steps - (T::DEPTH - 1) - t);
#pragma unroll
    for (int p = 0; p < T::PRODUCTS; p++) turn(order, b.of + p, steps - (T::DEPTH - 1) - t);
  }
  wait_memory<0>(); /* the tail, and the zeros after the last step: LDS is about to be used for something else */
  if (tail > 0) {
    cut_tail(lds + stage, tail, of_a);
#pragma unroll
    for (int p = 0; p < T::PRODUCTS; p++) cut_tail(lds + stage + T::A_BYTES + p * T::B_BYTES, tail, of_b);
  }
  sync_lds(); /* the tail is in LDS, and nobody reads or fills another stage any more */
  if (tail == 0) return;

  reader from_a = at_stage(&first_a, stage, of_a), from_b = at_stage(&first_b, stage, of_b);
  read_fragments(x, &from_a, 0, of_a);
  read_b<T>(y, &from_b, of_b);
  multiply_step<T>(sums, x, y, of_a, of_b);
  sync_lds(); /* every wave has its fragments: LDS is free */
}

#endif
