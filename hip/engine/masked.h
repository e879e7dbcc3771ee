/* The K loop of the kernels that support everything: any layout, size, stride and alignment. The operands go through
 * registers into LDS, so that every element can be masked: what is outside of a matrix is not read, and counts as 0.
 *
 * A workgroup has 4 waves of 64 x 64, which cover 128 lines of A and 128 of B. A K step is 128 bytes along k. */
#ifndef TANDEM_HIP_ENGINE_MASKED_H
#define TANDEM_HIP_ENGINE_MASKED_H

#include "hip/args/tiles.h"
#include "hip/device/lds.h"
#include "hip/device/mfma.h"
#include "hip/device/wait.h"

enum {
  TILE = MASKED_LINES,
  THREADS = WAVE * MASKED_WAVES_M * MASKED_WAVES_N,
  WAVE_TILE = MASKED_LINES / MASKED_WAVES_M,
  FRAGMENTS = WAVE_TILE / 16,
  MASKED_BYTES = 2 * TILE * ROW_BYTES
};
static_assert(MASKED_WAVES_M == MASKED_WAVES_N, "a wave's part of the tile is a square");
/* Chunks of each thread in a whole tile. */
enum { CHUNKS_EACH = TILE * ROW_CHUNKS / THREADS };

/* A or B of one matrix of the batch: `lines` rows of A or columns of B, each of `depth` along k. */
typedef struct operand {
  const char *base;
  int64_t lines, depth, ld;
  bool along_k, aligned;
} operand;

/* Up to 16 bytes from element `at` on: `count` elements, then zeros. */
DEVICE u32x4 load_run(const char *base, int64_t at, int64_t count, bool aligned, tdm_type type) {
  const int most = chunk_elements(type), bytes = tdm_bytes(type);
  if (aligned && count >= most) return *(const u32x4 *)(base + at * bytes);
  u32x4 words = 0;
  if (bytes == 2 && count > most && at > 0) { /* the dwords that contain them, shifted; element at - 1 is in the array */
    const char *from = base + at * 2; /* moved as a pointer: after the steps of an integer clang would take a flat load */
    uint32_t odd = (uint32_t)(uintptr_t)from & 2, shift = odd * 8;
    const uint32_t *down = (const uint32_t *)(from - odd);
    u32x4 x = *(const u32x4_at_dword *)down;
    uint32_t next = down[odd ? 4 : 0];
    return shifted_dwords(x, next, shift);
  }
  if (count <= 0) return words; /* one branch for lanes outside, not one for each element */
#pragma unroll
  for (int e = 0; e < most; e++) {
    if (e >= count) continue;
    if (bytes == 4)
      words[e] = ((const uint32_t *)base)[at + e];
    else
      words[e / 2] |= (uint32_t)((const uint16_t *)base)[at + e] << 16 * (e % 2);
  }
  return words;
}

/* The thread's share of `lines` lines, as runs of 16 bytes in the order of memory. Along k, run number `each * THREADS +
 * thread` is a chunk of a line; otherwise it is neighbouring lines at one k. */
DEVICE void load_tile(u32x4 *words, const operand *x, int lines, int64_t line0, int64_t k0, tdm_type type) {
  const int e = chunk_elements(type), runs = lines / e;
#pragma unroll
  for (int each = 0; each < lines * ROW_CHUNKS / THREADS; each++) {
    int number = each * THREADS + thread_index();
    int64_t line = line0 + (x->along_k ? number / ROW_CHUNKS : number % runs * e);
    int64_t k = k0 + (x->along_k ? number % ROW_CHUNKS * e : number / runs);
    int64_t row = x->along_k ? line : k, column = x->along_k ? k : line;
    int64_t rows = x->along_k ? x->lines : x->depth, columns = x->along_k ? x->depth : x->lines;
    words[each] = load_run(x->base, row * x->ld + column, row < rows ? columns - column : 0, x->aligned, type);
  }
}

/* Writes the runs to LDS, where rows run along k, whatever the order in memory is. */
DEVICE void put_tile(LDS char *tile, const u32x4 *words, int lines, bool along_k, tdm_type type) {
  const int e = chunk_elements(type), runs = lines / e, bytes = tdm_bytes(type);
#pragma unroll
  for (int each = 0; each < lines * ROW_CHUNKS / THREADS; each++) {
    int number = each * THREADS + thread_index();
    if (along_k) {
      *(LDS u32x4 *)(tile + chunk_offset(number / ROW_CHUNKS, number % ROW_CHUNKS)) = words[each];
      continue;
    }
    int line = number % runs * e, k = number / runs;
#pragma unroll
    for (int i = 0; i < e; i++) {
      LDS char *to = tile + chunk_offset(line + i, k / e) + k % e * bytes;
      if (bytes == 4)
        *(LDS uint32_t *)to = words[each][i];
      else
        *(LDS uint16_t *)to = (uint16_t)(words[each][i / 2] >> 16 * (i % 2));
    }
  }
}

/* 16 lines of a tile from `line` on, chunks 4 half .. 4 half + 3: the operand of one matrix instruction. */
DEVICE u32x4 take_fragment(LDS const char *tile, int line, int half) {
  int lane = lane_index();
  return *(LDS const u32x4 *)(tile + chunk_offset(line + lane % 16, 4 * half + lane / 16));
}

typedef f32x4 masked_sums[FRAGMENTS][FRAGMENTS];

/* `gap` lines of B are between the wave's first two fragments and the others. */
DEVICE void multiply(masked_sums sums, LDS const char *a, LDS const char *b, int m, int n, int gap, tdm_type type) {
#pragma unroll
  for (int half = 0; half < 2; half++) {
    u32x4 of_a[FRAGMENTS], of_b[FRAGMENTS];
    for (int f = 0; f < FRAGMENTS; f++) of_a[f] = take_fragment(a, m + 16 * f, half);
    for (int f = 0; f < FRAGMENTS; f++) of_b[f] = take_fragment(b, n + 16 * f + (f < 2 ? 0 : gap), half);
    for (int fm = 0; fm < FRAGMENTS; fm++)
      for (int fn = 0; fn < FRAGMENTS; fn++) sums[fm][fn] = mfma(of_b[fn], of_a[fm], sums[fm][fn], type);
  }
}

/* sums += A B over the whole depth, from m0 and n0 on. B consists of `parts` (1 or 2) operands side by side, each of TILE /
 * parts lines. The wave has lines 64 (wave / 2) .. + 63 of A, and half of the lines of each part of B. */
DEVICE void run_masked(masked_sums sums, const operand *a, const operand *b, int parts, int64_t m0, int64_t n0, LDS char *lds,
                       tdm_type type) {
  const int step = ROW_BYTES / tdm_bytes(type), lines = TILE / parts, share = CHUNKS_EACH / parts;
  LDS char *tile_a = lds, *tile_b = lds + TILE * ROW_BYTES;
  int wave = wave_index(), wave_m = wave / 2 * WAVE_TILE, wave_n = wave % 2 * (WAVE_TILE / parts),
      gap = WAVE_TILE - WAVE_TILE / parts;
  u32x4 next_a[CHUNKS_EACH], next_b[CHUNKS_EACH];
  load_tile(next_a, a, TILE, m0, 0, type);
#pragma unroll
  for (int p = 0; p < parts; p++) load_tile(next_b + p * share, b + p, lines, n0, 0, type);
  for (int64_t k0 = 0; k0 < a->depth; k0 += step) {
    sync_lds(); /* every wave has read the previous step */
    put_tile(tile_a, next_a, TILE, a->along_k, type);
#pragma unroll
    for (int p = 0; p < parts; p++) put_tile(tile_b + p * lines * ROW_BYTES, next_b + p * share, lines, b->along_k, type);
    load_tile(next_a, a, TILE, m0, k0 + step, type); /* arrives while this step is multiplied; after the last step zeros */
#pragma unroll
    for (int p = 0; p < parts; p++) load_tile(next_b + p * share, b + p, lines, n0, k0 + step, type);
    sync_lds(); /* both tiles are complete */
    multiply(sums, tile_a, tile_b, wave_m, wave_n, gap, type);
  }
  sync_lds(); /* every wave has read the last step: LDS is free */
}

#endif
