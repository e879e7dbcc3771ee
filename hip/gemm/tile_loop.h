/* gemm with tiles of any shape: one loop, whose constants are the tile's sizes. docs/gemm.md says which tile is for what.
 *
 * A workgroup of WAVES_M x WAVES_N waves computes TILE_M x TILE_N of C. LDS has DEPTH stages; each holds a K step of
 * PIPE_ROW bytes along k of the tile's lines of A and of B. A step:
 *
 *   wait until this wave's loads of the step have arrived; after the barrier all waves' loads have
 *   read the step's fragments from its stage
 *   start to load step + DEPTH - 1 into the stage that was read one step before: nobody reads it any more after the barrier
 *   multiply
 *
 * So loads have DEPTH - 1 steps to arrive. While a wave waits between its reads and its products, a wave of another
 * workgroup on the same SIMD works. */
#ifndef TANDEM_HIP_GEMM_TILE_LOOP_H
#define TANDEM_HIP_GEMM_TILE_LOOP_H

#include "hip/device/call.h"
#include "hip/engine/cache_lines.h"
#include "k_split.h"
#include "last_part.h"

template <int TILE_M_, int TILE_N_, int WAVES_M_, int WAVES_N_, int DEPTH_, bool CACHE_LINES_ = false>
struct tile {
  static constexpr bool CACHE_LINES = CACHE_LINES_; /* run_cache_lines */
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, WAVES_N = WAVES_N_, DEPTH = DEPTH_;
  static constexpr int WAVES = WAVES_M_ * WAVES_N_, THREADS = WAVES * WAVE;
  static constexpr int WAVE_M = TILE_M / WAVES_M_, WAVE_N = TILE_N / WAVES_N;
  static constexpr int SIDE = 16, ROWS = WAVE_M / SIDE, COLUMNS = WAVE_N / SIDE; /* a wave's fragments */
  static constexpr int A_BYTES = TILE_M * PIPE_ROW, STAGE = (TILE_M + TILE_N) * PIPE_ROW, BYTES = DEPTH * STAGE;
  static constexpr int LOADS = loads_of(TILE_M, WAVES) + loads_of(TILE_N, WAVES);
  static constexpr int PARTS = PIPE_CHUNKS * SIDE / WAVE; /* of a K step: products of a fragment */
  /* Waves per SIMD that fit into LDS. Each gets 512 registers divided by this, and at least 128. */
  static constexpr int BY_LDS = CHIP_LDS_BYTES / BYTES * WAVES / 4, OCCUPANCY = BY_LDS < 1 ? 1 : BY_LDS > 4 ? 4 : BY_LDS;
  /* How many rows fit into the waves' blocks (store.h). */
  static constexpr int BLOCK_ROWS = BYTES / WAVES / (WAVE_N * 4);
  static constexpr int PASS_ROWS = BLOCK_ROWS >= WAVE_M ? WAVE_M : BLOCK_ROWS >= 64 ? 64 : BLOCK_ROWS >= 32 ? 32 : 16;
  static_assert(LOADS * WAVES * WAVE * CHIP_LOAD_TO_LDS_BYTES == STAGE, "every wave loads as much");
};

/* Products of the fragments that have arrived. */
template <typename T>
DEVICE void multiply_part(tile_sums<T> sums, const fragments a, const fragments b, int part, tdm_type type) {
#pragma unroll
  for (int m = 0; m < T::ROWS; m++)
#pragma unroll
    for (int n = 0; n < T::COLUMNS; n++) sums[m][n] = mfma(b[part * T::COLUMNS + n], a[part * T::ROWS + m], sums[m][n], type);
}

template <typename T>
DEVICE void multiply_step(tile_sums<T> sums, fragments a, fragments b, form of_a, form of_b) {
  wait_lds(); /* the fragments have arrived */
  take_fragments(a, of_a);
  take_fragments(b, of_b);
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

DEVICE step_order make_step_order(lines *a, lines *b, int steps, uint32_t begin) {
  const int first = uniform((int)((uint64_t)(uint32_t)steps * begin >> GEMM_TURN_BITS));
  a->base = uniform(a->base + first * a->step);
  b->base = uniform(b->base + first * b->step);
  return (step_order){.steps = steps, .first = first};
}

/* How many steps are left at the next turn, when `left` (above 0) are. */
DEVICE int next_turn(step_order o, int left) { return left > o.first ? o.first : 0; }

/* When `left` steps are left: from the last step to step 0, or to the tail, if it is time. */
DEVICE void turn(step_order o, lines *x, int left) {
  int64_t by = 0;
  if (left == o.first) by -= o.steps;
  if (left == 0) by += o.steps - o.first;
  x->base = uniform(x->base + by * x->step); /* in SGPRs, as load_lines needs it */
}

/* sums += A B over `depth` values of k, from the positions of a and b on. begin: the part of them to begin with. */
template <typename T>
DEVICE void run_tile(tile_sums<T> sums, lines a, lines b, int64_t depth, uint32_t begin, LDS char *lds, form of_a, form of_b) {
  const int values = PIPE_ROW / tdm_bytes(of_a.type);
  const int steps = uniform((int)(depth / values)), tail = (int)(depth % values);
  const step_order order = make_step_order(&a, &b, steps, begin);
  const int wave_m = wave_index() / T::WAVES_N * T::WAVE_M, wave_n = wave_index() % T::WAVES_N * T::WAVE_N;
  const reader first_a = make_reader(lds, wave_m, of_a), first_b = make_reader(lds + T::A_BYTES, wave_n, of_b);
  LDS char *mine = lds + wave_place(of_a); /* the wave's parts of a stage; of B's lines, too */
  fragments x, y;

#pragma unroll
  for (int s = 0; s < T::DEPTH - 1; s++) {
    load_lines(&a, mine + s * T::STAGE, step_length(&a, steps - s), of_a);
    load_lines(&b, mine + s * T::STAGE + T::A_BYTES, step_length(&b, steps - s), of_b);
    turn(order, &a, steps - s - 1);
    turn(order, &b, steps - s - 1);
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
      read_fragments(y, &from_b, 0, of_b);
      const int left = steps - (T::DEPTH - 1) - t;
      load_lines(&a, mine + filled, step_length(&a, left), of_a);
      load_lines(&b, mine + filled + T::A_BYTES, step_length(&b, left), of_b);
      multiply_step<T>(sums, x, y, of_a, of_b);
      filled = stage;
      stage = stage == (T::DEPTH - 1) * T::STAGE ? 0 : stage + T::STAGE;
    }
    turn(order, &a, steps - (T::DEPTH - 1) - t);
    turn(order, &b, steps - (T::DEPTH - 1) - t);
  }
  wait_memory<0>(); /* the tail, and the zeros after the last step: LDS is about to be used for something else */
  if (tail > 0) {
    cut_tail(lds + stage, tail, of_a);
    cut_tail(lds + stage + T::A_BYTES, tail, of_b);
  }
  sync_lds(); /* the tail is in LDS, and nobody reads or fills another stage any more */
  if (tail == 0) return;

  reader from_a = at_stage(&first_a, stage, of_a), from_b = at_stage(&first_b, stage, of_b);
  read_fragments(x, &from_a, 0, of_a);
  read_fragments(y, &from_b, 0, of_b);
  multiply_step<T>(sums, x, y, of_a, of_b);
  sync_lds(); /* every wave has its fragments: LDS is free */
}

/* The next line of an operand along k, or step of one across k. line: its number. */
DEVICE void load_next(cache_lines *x, LDS char *place, int line, int steps, bool tail, form f) {
  if (!f.along_k) {
    load_lines(&x->lines, place, step_length(&x->lines, steps - line), f);
    return;
  }
  load_cache_line(x, place, steps + tail - line, f);
  if (line == 0) after_first_line(x, f);
}

/* The same with rows along k by lines (cache_lines.h). A step reads two stages, so loads have DEPTH - 2 steps to arrive. */
template <typename T>
DEVICE void run_cache_lines(tile_sums<T> sums, cache_lines a, cache_lines b, int64_t depth, LDS char *lds, form of_a,
                            form of_b) {
  const int values = PIPE_ROW / tdm_bytes(of_a.type), last = (T::DEPTH - 1) * T::STAGE;
  const int steps = (int)(depth / values), tail = (int)(depth % values) * tdm_bytes(of_a.type);
  const int wave_m = wave_index() / T::WAVES_N * T::WAVE_M, wave_n = wave_index() % T::WAVES_N * T::WAVE_N;
  const slice_reader first_a = make_slice_reader(lds, wave_m, &a.lines, of_a),
                     first_b = make_slice_reader(lds + T::A_BYTES, wave_n, &b.lines, of_b);
  LDS char *mine = lds + wave_place(of_a); /* the wave's parts of a stage; of B's lines, too */
  fragments x, y;

#pragma unroll
  for (int s = 0; s < T::DEPTH - 1; s++) {
    load_next(&a, mine + s * T::STAGE, s, steps, tail > 0, of_a);
    load_next(&b, mine + s * T::STAGE + T::A_BYTES, s, steps, tail > 0, of_b);
  }
  int stage = 0, filled = last;
  for (int t = 0; t < steps; t++) {
    const int next = stage == last ? 0 : stage + T::STAGE;
    wait_memory<(T::DEPTH - 3) * T::LOADS>(); /* this wave's parts of the slice's second line are in LDS */
    barrier();
    reader from_a = at_slice(&first_a, stage, next, of_a), from_b = at_slice(&first_b, stage, next, of_b);
    read_fragments(x, &from_a, 0, of_a);
    read_fragments(y, &from_b, 0, of_b);
    load_next(&a, mine + filled, t + T::DEPTH - 1, steps, tail > 0, of_a);
    load_next(&b, mine + filled + T::A_BYTES, t + T::DEPTH - 1, steps, tail > 0, of_b);
    multiply_step<T>(sums, x, y, of_a, of_b);
    filled = stage;
    stage = next;
  }
  wait_memory<0>(); /* the tail, and the zeros after the last line: LDS is about to be used for something else */
  sync_lds();
  if (tail == 0) return;

  const int next = stage == last ? 0 : stage + T::STAGE;
  reader from_a = at_slice(&first_a, stage, next, of_a), from_b = at_slice(&first_b, stage, next, of_b);
  read_fragments(x, &from_a, 0, of_a);
  read_fragments(y, &from_b, 0, of_b);
  wait_lds();
  keep_read(x, of_a, 0, chunks_of(of_a));
  keep_read(y, of_b, 0, chunks_of(of_b));
  cut_fragments(x, tail, of_a);
  cut_fragments(y, tail, of_b);
  multiply_step<T>(sums, x, y, of_a, of_b);
  sync_lds(); /* every wave has its fragments: LDS is free */
}

template <typename T>
DEVICE void compute_tile(const gemm_args *g, bool a_along_k, bool b_along_k, tdm_type type) {
  SHARED static char memory[T::BYTES] __attribute__((aligned(16)));
  LDS char *lds = (LDS char *)memory;
  const form of_a = {a_along_k, type, T::SIDE, T::ROWS, T::TILE_M, T::WAVES, 1};
  const form of_b = {b_along_k, type, T::SIDE, T::COLUMNS, T::TILE_N, T::WAVES, 1};
  const tile_part at = find_part(g);
  if (at.none) return;
  int64_t m0 = (int64_t)at.m * T::TILE_M, n0 = (int64_t)at.n * T::TILE_N;
  gemm_part part = part_of_matrix(g, at.matrix, at.part, type);
  tile_sums<T> sums = {};
  if constexpr (T::CACHE_LINES)
    run_cache_lines<T>(sums, make_cache_lines(part.a, g->m, g->lda, m0, part.depth, of_a),
                       make_cache_lines(part.b, g->n, g->ldb, n0, part.depth, of_b), part.depth, lds, of_a, of_b);
  else
    run_tile<T>(sums, make_lines(part.a, g->m, g->lda, m0, part.depth, of_a),
                make_lines(part.b, g->n, g->ldb, n0, part.depth, of_b), part.depth,
                (at.m * g->turn_m + at.n * g->turn_n) & ((1u << GEMM_TURN_BITS) - 1), lds, of_a, of_b);

  const int wave = wave_index(), lane = lane_index();
  LDS f32x4 *block = (LDS f32x4 *)lds + wave * T::PASS_ROWS * (T::WAVE_N / 4);
  m0 += wave / T::WAVES_N * T::WAVE_M;
  if (at.last_adds && !add_parts<T>(sums, at.tile, at.part, g->m - m0, lds, of_a)) return;
  n0 += wave % T::WAVES_N * T::WAVE_N;
#pragma unroll 1
  for (int pass = 0; pass < T::WAVE_M / T::PASS_ROWS; pass++) {
#pragma unroll
    for (int m = 0; m < T::ROWS; m++) {
      int row = fragment_line(m, lane % T::SIDE, of_a); /* registers can't be indexed, so the pass is compared with constants */
      if (row / T::PASS_ROWS == pass) put_row<T::SIDE, T::WAVE_N>(block, row % T::PASS_ROWS, 0, sums[m], of_b);
    }
    block_store<T::PASS_ROWS, T::WAVE_N>(block, at.stored, m0 + pass * T::PASS_ROWS, n0, 0);
  }
}

#define TILE_KERNEL(name, layout, type, a_along_k, b_along_k, TYPE, T)                    \
  KERNEL WORKGROUP(T::THREADS, T::OCCUPANCY) void name##_##layout##_##type(gemm_args g) { \
    compute_tile<T>(&g, a_along_k, b_along_k, TYPE);                                      \
  }
/* All kernels of a tile: NAME_LAYOUT_TYPE. */
#define TILE_TYPES(name, layout, a_along_k, b_along_k, T)          \
  TILE_KERNEL(name, layout, f32, a_along_k, b_along_k, TDM_F32, T) \
  TILE_KERNEL(name, layout, f16, a_along_k, b_along_k, TDM_F16, T) \
  TILE_KERNEL(name, layout, bf16, a_along_k, b_along_k, TDM_BF16, T)
#define TILE_KERNELS(name, T)           \
  TILE_TYPES(name, nn, true, false, T)  \
  TILE_TYPES(name, nt, true, true, T)   \
  TILE_TYPES(name, tn, false, false, T) \
  TILE_TYPES(name, tt, false, true, T)
/* Those by cache lines: at least one operand has its rows along k. */
#define CACHE_LINE_KERNELS(name, T)    \
  TILE_TYPES(name, nn, true, false, T) \
  TILE_TYPES(name, nt, true, true, T)  \
  TILE_TYPES(name, tt, false, true, T)

#endif
