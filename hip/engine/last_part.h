/* A K split in one launch: the workgroup that comes last to a tile adds the tile's parts, and goes on with their sums.
 *
 * The parts of a tile have neighbouring places in the tile order, so most of them are written and read in the L2 of one XCD.
 * Each is stored as the waves have it in their registers: 16 bytes of a lane beside those of the next one. They are added in
 * their order, whoever is last, so every run gives the same bits. */
#ifndef TANDEM_HIP_ENGINE_LAST_PART_H
#define TANDEM_HIP_ENGINE_LAST_PART_H

#include "hip/device/last.h"
#include "tile.h"

/* The offset of a fragment whose rows are not there: its loads are 0, and its stores do nothing. A tile's parts take less. */
enum : uint32_t { NOT_IN_TILE = 0x80000000u };

/* Where a lane has its sums in a part, for each row of its wave's fragments. */
template <typename T>
struct part_place {
  uint32_t of_row[T::ROWS];
};

enum { FRAGMENT_BYTES = WAVE * 16 }; /* of the sums of a fragment */
/* Of a part. */
template <typename T>
constexpr int part_bytes(void) {
  return T::WAVES * T::ROWS * T::COLUMNS * FRAGMENT_BYTES;
}

/* left: rows of the result from the wave's first one on. */
template <typename T>
DEVICE part_place<T> make_part_place(int64_t left, form of_a) {
  const uint32_t first = (uint32_t)(wave_index() * T::ROWS * T::COLUMNS * FRAGMENT_BYTES + lane_index() * 16);
  part_place<T> at;
#pragma unroll
  for (int m = 0; m < T::ROWS; m++)
    at.of_row[m] = fragment_line(m, 0, of_a) < left ? first + (uint32_t)(m * T::COLUMNS * FRAGMENT_BYTES) : NOT_IN_TILE;
  return at;
}

template <typename T>
DEVICE f32x4 load_sums(buffer parts, const part_place<T> *at, uint32_t part, int m, int n) {
  return __builtin_bit_cast(f32x4, buffer_load(parts, at->of_row[m] + part + (uint32_t)(n * FRAGMENT_BYTES)));
}

template <typename T>
DEVICE void add_sums(tile_sums<T> to, const tile_sums<T> from) {
#pragma unroll
  for (int m = 0; m < T::ROWS; m++)
#pragma unroll
    for (int n = 0; n < T::COLUMNS; n++) to[m][n] += from[m][n];
}

/* The sum of all parts, one after the other. `sums` are those of part `own`, which is not loaded again. The next loads are on
 * their way while some are added, in the same order, so that waits can count them. */
template <typename T>
DEVICE void add_all_parts(tile_sums<T> sums, buffer all, const part_place<T> *at, uint32_t own, uint32_t parts) {
  /* Fragments of a lane that are on their way. With 8 waves on a CU they are 128 KiB, with 2 32. */
  enum { FRAGMENTS = T::ROWS * T::COLUMNS, AT_ONCE = FRAGMENTS < 16 ? 16 / FRAGMENTS : 1, PART = part_bytes<T>() };
  f32x4 next[AT_ONCE][T::ROWS][T::COLUMNS];
  tile_sums<T> total = {};
#pragma unroll
  for (uint32_t p = 0; p < AT_ONCE; p++)
#pragma unroll
    for (int m = 0; m < T::ROWS; m++)
#pragma unroll
      for (int n = 0; n < T::COLUMNS; n++) {
        next[p][m][n] = load_sums<T>(all, at, (p + (p >= own)) * PART, m, n);
        keep_order();
      }
  uint32_t other = 0; /* of those that are loaded */
#pragma unroll 1
  for (; other < parts - 1; other += AT_ONCE) {
#pragma unroll
    for (uint32_t p = 0; p < AT_ONCE; p++) {
      const uint32_t then = other + p + AT_ONCE, from = (then + (then >= own)) * PART; /* after the last part it is 0 */
      if (other + p == own) add_sums<T>(total, sums);
#pragma unroll
      for (int m = 0; m < T::ROWS; m++)
#pragma unroll
        for (int n = 0; n < T::COLUMNS; n++) {
          total[m][n] = in_order(total[m][n] + next[p][m][n]);
          next[p][m][n] = load_sums<T>(all, at, from, m, n);
          keep_order();
        }
    }
    barrier(); /* or one wave finds the vL1D full more often, and takes 1,000 clocks longer than the others for 8 parts */
  }
  if (own >= other) add_sums<T>(total, sums);
#pragma unroll
  for (int m = 0; m < T::ROWS; m++)
#pragma unroll
    for (int n = 0; n < T::COLUMNS; n++) sums[m][n] = total[m][n];
}

/* Where the parts of all tiles are, [tile][part], how many a tile has, and a counter for each tile. */
typedef struct all_parts {
  const float *sums;
  uint32_t *counters;
  uint32_t parts;
} all_parts;

/* Stores the sums of a part. Is this workgroup the tile's last one? Then they become the tile's. rows: of the result, from the
 * wave's first one on. tile: its number, of all matrices. lds: of T::BYTES that nobody needs any more. */
template <typename T>
DEVICE bool add_parts(tile_sums<T> sums, all_parts of, uint32_t tile, uint32_t part, int64_t rows, LDS char *lds, form of_a) {
  enum { PART = part_bytes<T>() };
  const uint32_t parts = of.parts;
  const char *first = (const char *)of.sums + (uint64_t)tile * parts * PART;
  buffer all = make_short_buffer(first, parts * PART);
  const part_place<T> at = make_part_place<T>(rows, of_a);
#pragma unroll
  for (int m = 0; m < T::ROWS; m++)
#pragma unroll
    for (int n = 0; n < T::COLUMNS; n++)
      __builtin_amdgcn_raw_buffer_store_b128(__builtin_bit_cast(u32x4, sums[m][n]), all,
                                             (int)(at.of_row[m] + part * PART + n * FRAGMENT_BYTES), 0, 0);
  wait_memory<0>(); /* for this wave's part */
  meet();
  if (wave_index() == 0)
    count_workgroup((GLOBAL uint32_t *)(of.counters + tile), parts, (uint32_t)lane_index(), (LDS uint32_t *)lds);
  if (!found_last((LDS uint32_t *)lds)) return false;
  add_all_parts<T>(sums, all, &at, part, parts);
  sync_lds(); /* every wave has read whether it is the last one */
  return true;
}

#endif
