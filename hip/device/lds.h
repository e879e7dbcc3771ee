/* LDS for matrix tiles: where a chunk of 16 bytes is, and how to read it.
 *
 * A tile has rows of 128 bytes, 8 chunks: 64 values of f16 or bf16, 32 of f32. Chunk c of row r is at place c ^ (r / 2 % 8)
 * of its row. The reason: a wave reads 16 rows at once, where lane 16 g + i reads chunk g of row i, and LDS serves 16 lanes
 * per clock (gfx950, ds_read_b128). These are lanes 0-3, 12-15 and 20-27, that is chunk g of 8 rows and chunk g + 1 of the
 * other 8 rows. Two rows fill the 64 banks, so r % 2 selects the half, and r / 2 % 8 is another place for each of the 8
 * pairs: there is no bank conflict. On gfx942 LDS serves 8 lanes per clock from 32 banks, which one row fills. Lanes 0-3
 * and 20-23 are rows 0-3 with chunk g and rows 4-7 with chunk g + 1, which need 8 different places: c ^ (r % 8). */
#ifndef TANDEM_HIP_DEVICE_LDS_H
#define TANDEM_HIP_DEVICE_LDS_H

#include "types.h"

enum {
  ROW_BYTES = 128,
  ROW_CHUNKS = 8,
  CHUNK_BYTES = 16,
  LDS_ROWS = CHIP_LDS_BANKS * 4 / ROW_BYTES /* that fill all banks: 2 on gfx950, 1 on gfx942 */
};

/* The place of chunk `c` in row `r`. It is its own inverse, so it is also the chunk at a place. */
DEVICE int swizzle(int r, int c) { return c ^ (r / LDS_ROWS % ROW_CHUNKS); }

/* The byte offset of a chunk in a tile. */
DEVICE int chunk_offset(int r, int c) { return r * ROW_BYTES + swizzle(r, c) * CHUNK_BYTES; }

/* The byte address in LDS, as instructions expect it. */
DEVICE uint32_t lds_address(const LDS void *at) { return (uint32_t)(uintptr_t)at; }
DEVICE LDS char *at_lds(uint32_t address) { return (LDS char *)(uintptr_t)address; }

/* ---- Reads without their wait ----
 *
 * The compiler would let every read wait for all outstanding load-to-LDS (vmcnt(0)), which defeats a pipeline: it can't
 * know that they fill other tiles. The caller waits instead: wait_memory() for the loads that fill the tile; then, before
 * it uses the value, wait_lds() and keep_order(). `offset` must be a 16-bit constant after inlining. */

DEVICE u32x4 lds_read_unordered(uint32_t address, int offset) {
  u32x4 words;
  asm volatile("ds_read_b128 %0, %1 offset:%2" : "=v"(words) : "v"(address), "i"(offset));
  return words;
}

/* Two dwords, one from each of two neighbouring rows of 256 bytes; `row` is the first row. */
DEVICE u32x2 lds_read_rows_unordered(uint32_t address, int row) {
  u32x2 words;
  asm volatile("ds_read2st64_b32 %0, %1 offset0:%2 offset1:%3" : "=v"(words) : "v"(address), "i"(row), "i"(row + 1));
  return words;
}

DEVICE uint32_t lds_read_4_unordered(uint32_t address, int offset) {
  uint32_t word;
  asm volatile("ds_read_b32 %0, %1 offset:%2" : "=v"(word) : "v"(address), "i"(offset));
  return word;
}

DEVICE u32x2 lds_read_8_unordered(uint32_t address, int offset) {
  u32x2 words;
  asm volatile("ds_read_b64 %0, %1 offset:%2" : "=v"(words) : "v"(address), "i"(offset));
  return words;
}

/* gfx950: transposes 16-bit elements. In each group of 16 lanes, lane s gives the address of 4 neighbours, and lane r gets
 * element r % 4 of the lanes r / 4, r / 4 + 4, r / 4 + 8, r / 4 + 12. */
DEVICE u32x2 lds_read_transposed_unordered(uint32_t address, int offset) {
  u32x2 words;
  asm volatile("ds_read_b64_tr_b16 %0, %1 offset:%2" : "=v"(words) : "v"(address), "i"(offset));
  return words;
}

#endif
