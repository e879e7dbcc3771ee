/* swiglu with the tiles of engine/tile.h: the gate's weight and the other one are its two matrices B, so a wave has gate and up
 * of the same elements in its registers, and stores from there. */
#ifndef TANDEM_HIP_SWIGLU_TILE_LOOP_H
#define TANDEM_HIP_SWIGLU_TILE_LOOP_H

#include "args.h"
#include "hip/device/math.h"
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

template <typename T>
DEVICE void compute(const swiglu_args *p, bool along_k, tdm_type type) {
  SHARED static char memory[T::BYTES] __attribute__((aligned(16)));
  const form of_x = {true, type, T::SIDE, T::ROWS, T::TILE_M, T::WAVES, 1};
  const form of_weight = {along_k, type, T::SIDE, T::OF_B, T::TILE_N, T::WAVES, 1};
  const tdm_tile at = tdm_order_tile(p->order, (uint32_t)__builtin_amdgcn_workgroup_id_x());
  const int64_t m0 = (int64_t)at.m * T::TILE_M, n0 = (int64_t)at.n * T::TILE_N;
  tile_sums<T> sums = {};
  const b_lines<T> weights = {
      {make_lines(p->wg, p->n, p->ldg, n0, p->k, of_weight), make_lines(p->wu, p->n, p->ldu, n0, p->k, of_weight)}};
  run_tile<T>(sums, make_lines(p->x, p->m, p->ldx, m0, p->k, of_x), weights, p->k, 0, (LDS char *)memory, of_x, of_weight);

  const swiglu_args end = args_again(p);
  const int wave = wave_index();
  store_gated<T>(&end, sums, m0 + wave / T::WAVES_N * T::WAVE_M, n0 + wave % T::WAVES_N * T::WAVE_N, of_x, of_weight);
}

#define SWIGLU_TILE_KERNEL(name, layout, type, along_k, TYPE, T) \
  KERNEL WORKGROUP(T::THREADS, T::OCCUPANCY) void name##_##layout##_##type(swiglu_args p) { compute<T>(&p, along_k, TYPE); }
/* NAME_LAYOUT_TYPE of a tile. */
#define SWIGLU_TILE_KERNELS(name, layout, along_k, T)        \
  SWIGLU_TILE_KERNEL(name, layout, f32, along_k, TDM_F32, T) \
  SWIGLU_TILE_KERNEL(name, layout, f16, along_k, TDM_F16, T) \
  SWIGLU_TILE_KERNEL(name, layout, bf16, along_k, TDM_BF16, T)

#endif
