/* swiglu with the tiles of engine/tile.h: the gate's weight and the other one are its two matrices B, so a wave has gate and up
 * of the same elements in its registers, and stores from there. */
#ifndef TANDEM_HIP_SWIGLU_TILE_LOOP_H
#define TANDEM_HIP_SWIGLU_TILE_LOOP_H

#include "args.h"
#include "hip/device/math.h"
#include "hip/engine/find_tile.h"
#include "hip/engine/k_part.h"
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

/* All that comes before the first loads is read at once. */
template <typename T>
DEVICE tile_part find_part(const swiglu_args *p) {
  asm volatile("" ::"s"(p->tile_parts), "s"(p->parts), "s"(p->order.count), "s"(p->m), "s"(p->n), "s"(p->k), "s"(p->ldx),
               "s"(p->ldg), "s"(p->ldu), "s"(p->x), "s"(p->wg), "s"(p->wu), "s"(p->part_units), "s"(p->longer_parts));
  asm volatile("" ::"s"(p->by.parts.factor), "s"(p->by.xcds.factor), "s"(p->by.band.factor), "s"(p->by.rest.factor));
  if constexpr (T::BETWEEN) asm volatile("" ::"s"(p->turn_m));
  return find_tile(&p->order, &p->by, (uint32_t)p->parts, 1, p->tile_parts != nullptr);
}

template <typename T, tdm_type type>
DEVICE void compute(const swiglu_args *p, bool along_k) {
  SHARED static char memory[T::BYTES] __attribute__((aligned(16)));
  LDS char *lds = (LDS char *)memory;
  const form of_x = {true, type, T::SIDE, T::ROWS, T::TILE_M, T::WAVES, 1};
  const form of_weight = {along_k, type, T::SIDE, T::OF_B, T::TILE_N, T::WAVES, 1};
  const tile_part at = find_part<T>(p);
  if (at.none) return;
  const int64_t m0 = (int64_t)at.m * T::TILE_M, n0 = (int64_t)at.n * T::TILE_N;
  const uint32_t parts = (uint32_t)p->parts;
  const k_part k =
      parts == 1 ? (k_part){0, p->k} : k_part_of(p->k, p->part_units, (uint32_t)p->longer_parts, at.part, parts, type);
  const char *x = (const char *)p->x + k.first * tdm_bytes(type);
  const char *wg = (const char *)p->wg + k.first * (along_k ? 1 : p->ldg) * tdm_bytes(type);
  const char *wu = (const char *)p->wu + k.first * (along_k ? 1 : p->ldu) * tdm_bytes(type);
  tile_sums<T> sums = {};
  const b_lines<T> weights = {
      {make_lines(wg, p->n, p->ldg, n0, k.count, of_weight), make_lines(wu, p->n, p->ldu, n0, k.count, of_weight)}};
  /* Narrow tiles take no turns: the instructions for them took 350 clocks. */
  nothing_more more;
  run_tile<T, type>(sums, make_lines(x, p->m, p->ldx, m0, k.count, of_x), weights, k.count,
                    T::BETWEEN ? turn_of(at.m, at.n, p->turn_m, p->turn_n) : 0, lds, of_x, of_weight, &more);

  const swiglu_args end = args_again(p);
  const int wave = wave_index();
  const int64_t row = m0 + wave / T::WAVES_N * T::WAVE_M;
  if (at.last_adds &&
      !add_parts<T>(sums, {end.tile_parts, end.counters, (uint32_t)end.parts}, at.tile, at.part, end.m - row, lds, of_x))
    return;
  store_gated<T>(&end, sums, row, n0 + wave % T::WAVES_N * T::WAVE_N, of_x, of_weight);
}

#define SWIGLU_TILE_KERNEL(name, layout, type, along_k, TYPE, T) \
  KERNEL WORKGROUP(T::THREADS, T::OCCUPANCY) void name##_##layout##_##type(swiglu_args p) { compute<T, TYPE>(&p, along_k); }
/* NAME_LAYOUT_TYPE of a tile. */
#define SWIGLU_TILE_KERNELS(name, layout, along_k, T)        \
  SWIGLU_TILE_KERNEL(name, layout, f32, along_k, TDM_F32, T) \
  SWIGLU_TILE_KERNEL(name, layout, f16, along_k, TDM_F16, T) \
  SWIGLU_TILE_KERNEL(name, layout, bf16, along_k, TDM_BF16, T)

#endif
