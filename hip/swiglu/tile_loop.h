/* swiglu with the tiles of engine/tile.h: the gate's weight and the other one are its two matrices B, so a wave has gate and up
 * of the same elements in its registers, and stores from there. */
#ifndef TANDEM_HIP_SWIGLU_TILE_LOOP_H
#define TANDEM_HIP_SWIGLU_TILE_LOOP_H

#include "args.h"
#include "find.h"
#include "hip/device/math.h"
#include "hip/engine/last_part.h"
#include "hip/engine/store.h"
#include "hip/engine/tile.h"
#include "tile_shapes.h"

/* The wave's sums, from (m0, n0) of Y on. */
template <typename T>
DEVICE void store_gated(const swiglu_args *p, tile_sums<T> sums, int64_t m0, int64_t n0, form of_x, form of_weight) {
#pragma unroll
  for (int m = 0; m < T::ROWS; m++) {
    const int64_t row = m0 + fragment_line(m, lane_index() % T::SIDE, of_x);
#pragma unroll
    for (int n = 0; n < T::OF_B; n++) {
      const row_four gate = four_of_row<T::SIDE>(sums[m], n, 0, of_weight);
      f32x4 y = four_of_row<T::SIDE>(sums[m] + T::OF_B, n, 0, of_weight).sums;
      const int64_t column = n0 + 4 * gate.chunk;
      four_place where = four_in(p->m, p->n, row, column, p->aligned_fours != 0);
#pragma unroll
      for (int i = 0; i < 4; i++) y[i] *= silu_f32(gate.sums[i]);
      if (where.count > 0) four_store(p->y, row * p->ldy + column, y, where, (tdm_type)p->out, KEPT);
    }
  }
}

template <typename T, tdm_type type>
DEVICE void compute(const swiglu_first *f, bool along_k) {
  SHARED static char memory[T::BYTES] __attribute__((aligned(16)));
  LDS char *lds = (LDS char *)memory;
  const form of_x = {true, type, T::SIDE, T::ROWS, T::TILE_M, T::WAVES, 1};
  const form of_weight = {along_k, type, T::SIDE, T::OF_B, T::TILE_N, T::WAVES, 1};
  const swiglu_args *p = whole_argument<swiglu_args>();
  const swiglu_work w = find_work(f, p, T::TILE_M, T::TILE_N, along_k, T::BETWEEN, type);
  const tile_part at = w.at;
  if (at.none) return;
  const int m0 = (int)at.m * T::TILE_M, n0 = (int)at.n * T::TILE_N;
  tile_sums<T> sums = {};
  const b_lines<T> weights = {
      {make_lines(w.wg, w.left_n, w.ldg, n0, of_weight), make_lines(w.wu, w.left_n, w.ldu, n0, of_weight)}};
  nothing_more more;
  const auto asked = ask_argument<swiglu_args>(); /* for the end */
  run_tile<T, type>(sums, make_lines(w.x, w.left_m, w.ldx, m0, of_x), weights, w.depth,
                    /* Narrow tiles take no turns: the instructions for them took 350 clocks. */
                    T::BETWEEN ? turn_of(at.m, at.n, w.turns.m, w.turns.n) : 0, lds, of_x, of_weight, &more);

  have_argument(&asked);
  const swiglu_args end = args_again(p);
  const int wave = wave_index();
  const int64_t row = m0 + wave / T::WAVES_N * T::WAVE_M;
  if (at.last_adds &&
      !add_parts<T>(sums, {end.tile_parts, end.counters, (uint32_t)end.parts}, at.tile, at.part, end.m - row, lds, of_x))
    return;
  store_gated<T>(&end, sums, row, n0 + wave % T::WAVES_N * T::WAVE_N, of_x, of_weight);
}

#define SWIGLU_TILE_KERNEL(name, layout, type, along_k, TYPE, T)                                    \
  KERNEL WORKGROUP(T::THREADS, T::OCCUPANCY) void name##_##layout##_##type(ARGUMENT(swiglu_args)) { \
    const swiglu_first first = FIRST_OF_ARGUMENT(swiglu_first);                                     \
    compute<T, TYPE>(&first, along_k);                                                              \
  }
/* NAME_LAYOUT_TYPE of a tile. */
#define SWIGLU_TILE_KERNELS(name, layout, along_k, T)        \
  SWIGLU_TILE_KERNEL(name, layout, f32, along_k, TDM_F32, T) \
  SWIGLU_TILE_KERNEL(name, layout, f16, along_k, TDM_F16, T) \
  SWIGLU_TILE_KERNEL(name, layout, bf16, along_k, TDM_BF16, T)

#endif
