/* gemm with tiles of any shape (engine/tile.h). docs/gemm-tiles.md says which tile is for what. */
#ifndef TANDEM_HIP_GEMM_TILE_LOOP_H
#define TANDEM_HIP_GEMM_TILE_LOOP_H

#include "hip/device/call.h"
#include "hip/engine/find_tile.h"
#include "hip/engine/last_part.h"
#include "hip/engine/unaligned_loop.h"
#include "k_split.h"
#include "store.h"

/* Adds the parts of a tile, if this workgroup is its last one. */
template <typename T>
DEVICE bool add_parts_of(tile_sums<T> sums, tile_part at, int64_t rows, LDS char *lds, form of_a) {
  constant_args *args = end_args();
  const all_parts of = {args->tile_parts, (uint32_t *)(uintptr_t)(args->steps + args->step_count), (uint32_t)args->parts};
  return add_parts<T>(sums, of, at.tile, at.part, rows, lds, of_a);
}

/* What the end of a wave needs, of its block from (m0, n0) of C on. */
template <typename T, tdm_type TYPE>
struct wave_end {
  /* Where three waves of a SIMD have 168 registers each, those for this would go to scratch in calls. */
  static constexpr bool PREPARES = T::OCCUPANCY < 3 || T::ROWS * T::COLUMNS < 8;
  /* Four registers of f32 would be too many in 128x128. */
  static constexpr bool HOLDS_BIAS = tdm_bytes(TYPE) == 2;
  /* All waves of a chip ask at once, and HBM brings this before the next steps. That takes more than the end saves where a wave
   * has 64 rows: 2048x2048x2048 bf16 with a residual, by 128x128. */
  static constexpr bool ASKS_LINES = T::WAVE_M * T::WAVE_N < 4096;
  /* Two waves of a SIMD with 64 rows each would have no registers for it on gfx942. */
  static constexpr bool MAPS = CHIP_LOAD_TO_LDS_BYTES != 4 || T::OCCUPANCY < 2 || T::WAVE_M * T::WAVE_N < 4096;
  end_fields fields;
  uint32_t matrix;
  int kind; /* GEMM_FAR, ... */
  int m0, n0;
  direct_end direct;
  four_words<tdm_bytes(TYPE)> bias;
  asked_lines<T::WAVE_M, T::WAVE_N> lines;
};

template <typename T, tdm_type TYPE>
DEVICE four_words<tdm_bytes(TYPE)> bias_of_wave(const wave_end<T, TYPE> *x, const void *bias) {
  return ask_bias<T::WAVE_N, tdm_bytes(TYPE)>(x->direct.columns, bias, x->n0, 0);
}

/* While the first loads are on their way (run_tile). */
template <typename T, tdm_type TYPE>
DEVICE void ask_more(wave_end<T, TYPE> *x) {
  x->bias = 0, x->lines = {}, x->direct = {};
  x->kind = !x->MAPS && x->fields.map != TDM_BIAS ? (int)GEMM_NEAR : x->fields.end;
  if (!x->PREPARES || x->kind < GEMM_ADDS) return; /* called functions do it all by themselves */
  x->direct = prepare_direct(x->fields, x->matrix, x->m0, x->n0);
  if (x->kind == GEMM_DIRECT) return;
  if (x->HOLDS_BIAS) x->bias = bias_of_wave(x, x->fields.bias);
  if (x->direct.residual.length == 0) return;
  if (x->ASKS_LINES) ask_lines(&x->lines, &x->direct);
}

/* The wave's sums, through its block of LDS to C. */
template <typename T, tdm_type TYPE>
DEVICE void store_sums(wave_end<T, TYPE> *x, tile_sums<T> sums, LDS f32x4 *block, form of_a, form of_b) {
#pragma unroll 1
  for (int pass = 0; pass < T::WAVE_M / T::PASS_ROWS; pass++) {
    const int lane = in_order(lane_index()) & (WAVE - 1); /* places in LDS have no registers from pass to pass */
#pragma unroll
    for (int m = 0; m < T::ROWS; m++) {
      const int row = fragment_line(m, lane & (T::SIDE - 1), of_a);
      /* Registers can't be indexed, so the pass is compared with constants. */
      if (row / T::PASS_ROWS == pass) put_row<T::SIDE, T::WAVE_N>(block, row % T::PASS_ROWS, 0, sums[m], of_b);
    }
    const int row0 = pass * T::PASS_ROWS;
    if (x->kind == GEMM_DIRECT && !x->PREPARES) {
      const direct_end here = prepare_direct(end_fields_of(end_args()), x->matrix, x->m0 + row0, x->n0);
      store_direct<T::PASS_ROWS, T::WAVE_N, KEPT>(&here, block, 0, 0);
    } else if (x->kind == GEMM_DIRECT) {
      store_direct<T::PASS_ROWS, T::WAVE_N, KEPT>(&x->direct, block, row0, 0);
    } else if (x->kind == GEMM_ADDS && x->PREPARES) {
      const auto bias = x->HOLDS_BIAS ? x->bias : bias_of_wave(x, end_args()->bias);
      store_adding<T::PASS_ROWS, T::WAVE_N, KEPT, tdm_bytes(TYPE), 8, wave_end<T, TYPE>::MAPS>(&x->direct, bias, block, row0, 0,
                                                                                               TYPE);
    } else {
      store_by_calls<T::PASS_ROWS, T::WAVE_N, KEPT, 8>(end_args(), x->kind, block, x->matrix, x->m0 + row0, x->n0, 0);
      x->direct = {}, x->bias = 0; /* nobody reads them in the next pass, so the called function has their registers */
    }
  }
}

template <typename T>
DEVICE lines lines_of(const void *matrix, int left, int ld, int line, int64_t depth, form f) {
  __builtin_assume(left > 0);
  return T::CACHE_LINES ? make_cache_lines(matrix, left, ld, line, depth, f) : make_lines(matrix, left, ld, line, f);
}

template <typename T, tdm_type type>
DEVICE void compute_tile(const gemm_first *f, bool a_along_k, bool b_along_k) {
  SHARED static char memory[T::BYTES] __attribute__((aligned(16)));
  LDS char *lds = (LDS char *)memory;
  const form of_a = {a_along_k, type, T::SIDE, T::ROWS, T::TILE_M, T::WAVES, 1};
  const form of_b = {b_along_k, type, T::SIDE, T::COLUMNS, T::TILE_N, T::WAVES, 1};
  const gemm_args *g = whole_argument<gemm_args>();
  wave_end<T, type> done;
  done.fields = end_fields_of(g);
  const gemm_work work = find_work(f, g, T::TILE_M, T::TILE_N, a_along_k, b_along_k, type);
  const tile_part at = work.at;
  const gemm_part part = work.part;
  if (at.none) return;
  const int m0 = (int)at.m * T::TILE_M, n0 = (int)at.n * T::TILE_N, lda = (int)f->lda, ldb = (int)f->ldb;
  const uint32_t begin = turn_of(at.m, at.n, f->turn_m, f->turn_n);
  const int wave = wave_index();
  done.matrix = at.stored;
  done.m0 = m0 + wave / T::WAVES_N * T::WAVE_M, done.n0 = n0 + wave % T::WAVES_N * T::WAVE_N;
  tile_sums<T> sums = {};
  if constexpr (T::UNALIGNED) {
    const int last = last_values(part.depth);
    run_unaligned<T>(sums, make_odd_lines<T>(part.a, work.left_m, lda, m0, last, of_a),
                     make_odd_lines<T>(part.b, work.left_n, ldb, n0, last, of_b), part.depth, begin, lds, of_a, of_b, &done);
  } else {
    run_tile<T, type>(sums, lines_of<T>(part.a, work.left_m, lda, m0, part.depth, of_a),
                      {{lines_of<T>(part.b, work.left_n, ldb, n0, part.depth, of_b)}}, part.depth, begin, lds, of_a, of_b,
                      &done);
  }
  have_lines(&done.lines);

  LDS f32x4 *block = (LDS f32x4 *)lds + wave * T::PASS_ROWS * (T::WAVE_N / 4);
  if (__builtin_expect(at.last_adds, 0) && !add_parts_of<T>(sums, at, g->m - done.m0, lds, of_a)) return;
  store_sums<T, type>(&done, sums, block, of_a, of_b);
}

#define TILE_KERNEL(name, layout, type, a_along_k, b_along_k, TYPE, T)                            \
  KERNEL WORKGROUP(T::THREADS, T::OCCUPANCY) void name##_##layout##_##type(ARGUMENT(gemm_args)) { \
    const gemm_first first = FIRST_OF_ARGUMENT(gemm_first);                                       \
    compute_tile<T, TYPE>(&first, a_along_k, b_along_k);                                          \
  }
#define TILE_16_BITS(name, layout, a_along_k, b_along_k, T)        \
  TILE_KERNEL(name, layout, f16, a_along_k, b_along_k, TDM_F16, T) \
  TILE_KERNEL(name, layout, bf16, a_along_k, b_along_k, TDM_BF16, T)
#define TILE_TYPES(name, layout, a_along_k, b_along_k, T)          \
  TILE_KERNEL(name, layout, f32, a_along_k, b_along_k, TDM_F32, T) \
  TILE_16_BITS(name, layout, a_along_k, b_along_k, T)
/* All kernels of a tile: NAME_LAYOUT_TYPE. */
#define TILE_KERNELS(name, T)           \
  TILE_TYPES(name, nn, true, false, T)  \
  TILE_TYPES(name, nt, true, true, T)   \
  TILE_TYPES(name, tn, false, false, T) \
  TILE_TYPES(name, tt, false, true, T)
/* Those of an unaligned_tile. */
#define UNALIGNED_KERNELS(name, T)        \
  TILE_16_BITS(name, nn, true, false, T)  \
  TILE_16_BITS(name, nt, true, true, T)   \
  TILE_16_BITS(name, tn, false, false, T) \
  TILE_16_BITS(name, tt, false, true, T)
/* Those by cache lines: at least one operand has its rows along k. */
#define CACHE_LINE_KERNELS(name, T)    \
  TILE_TYPES(name, nn, true, false, T) \
  TILE_TYPES(name, nt, true, true, T)  \
  TILE_TYPES(name, tt, false, true, T)

#endif
