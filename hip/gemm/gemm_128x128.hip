/* gemm for everything: any layout, size, stride and alignment. 128 x 128 of C a workgroup, 4 waves of 64 x 64, 128 bytes along k
 * a step. Each element that is read is inside its matrix; what is outside counts as 0.
 *
 * Its operands go through registers into LDS, so that every element can be masked. Faster rows serve what is aligned. */
#include "../device/lds.h"
#include "../device/mfma.h"
#include "../device/wait.h"
#include "store.h"

enum { TILE = 128, THREADS = 256, WAVE_TILE = 64, FRAGMENTS = WAVE_TILE / 16, CHUNKS_EACH = TILE * ROW_CHUNKS / THREADS };

/* A or B of one matrix of the batch: `lines` rows of A or columns of B, each of `depth` along k. */
typedef struct operand {
  const char *base;
  int64_t lines, depth, ld;
  bool along_k, aligned;
} operand;

/* Up to 16 bytes from element `at` on: `count` elements, then zeros. */
DEVICE u32x4 load_run(const char *base, int64_t at, int64_t count, bool aligned, tdm_type type) {
  const int most = chunk_elements(type), bytes = type_bytes(type);
  if (aligned && count >= most) return *(const u32x4 *)(base + at * bytes);
  u32x4 words = 0;
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

/* The thread's share of a tile: CHUNKS_EACH runs of 16 bytes as they lie in memory. Number `each * THREADS + thread` is, along
 * k, a chunk of a line; otherwise neighbouring lines at one k. */
DEVICE void load_tile(u32x4 words[CHUNKS_EACH], const operand *x, int64_t line0, int64_t k0, tdm_type type) {
  const int e = chunk_elements(type), runs = TILE / e;
#pragma unroll
  for (int each = 0; each < CHUNKS_EACH; each++) {
    int number = each * THREADS + thread_index();
    int64_t line = line0 + (x->along_k ? number / ROW_CHUNKS : number % runs * e);
    int64_t k = k0 + (x->along_k ? number % ROW_CHUNKS * e : number / runs);
    int64_t row = x->along_k ? line : k, column = x->along_k ? k : line;
    int64_t rows = x->along_k ? x->lines : x->depth, columns = x->along_k ? x->depth : x->lines;
    words[each] = load_run(x->base, row * x->ld + column, row < rows ? columns - column : 0, x->aligned, type);
  }
}

/* Into LDS, where rows run along k whichever way memory does. */
DEVICE void put_tile(LDS char *tile, const u32x4 words[CHUNKS_EACH], bool along_k, tdm_type type) {
  const int e = chunk_elements(type), runs = TILE / e, bytes = type_bytes(type);
#pragma unroll
  for (int each = 0; each < CHUNKS_EACH; each++) {
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

/* 16 lines of a tile from `line` on, chunks 4 half .. 4 half + 3: what one matrix instruction takes. */
DEVICE u32x4 take_fragment(LDS const char *tile, int line, int half) {
  int lane = lane_index();
  return *(LDS const u32x4 *)(tile + chunk_offset(line + lane % 16, 4 * half + lane / 16));
}

DEVICE void multiply(f32x4 sums[FRAGMENTS][FRAGMENTS], LDS const char *a, LDS const char *b, int m, int n, tdm_type type) {
#pragma unroll
  for (int half = 0; half < 2; half++) {
    u32x4 of_a[FRAGMENTS], of_b[FRAGMENTS];
    for (int f = 0; f < FRAGMENTS; f++) of_a[f] = take_fragment(a, m + 16 * f, half);
    for (int f = 0; f < FRAGMENTS; f++) of_b[f] = take_fragment(b, n + 16 * f, half);
    for (int fm = 0; fm < FRAGMENTS; fm++)
      for (int fn = 0; fn < FRAGMENTS; fn++) sums[fm][fn] = mfma_16x16(of_b[fn], of_a[fm], sums[fm][fn], type);
  }
}

DEVICE void compute_tile(const gemm_args *g, tdm_tile at, LDS char *lds, tdm_type type) {
  const int step = ROW_BYTES / type_bytes(type), bytes = type_bytes(type);
  LDS char *tile_a = lds, *tile_b = lds + TILE * ROW_BYTES;
  operand a = {(const char *)g->a + at.matrix * g->stride_a * bytes, g->m, g->k, g->lda, g->a_along_k != 0, g->aligned_a != 0};
  operand b = {(const char *)g->b + at.matrix * g->stride_b * bytes, g->n, g->k, g->ldb, g->b_along_k != 0, g->aligned_b != 0};
  int64_t m0 = (int64_t)at.m * TILE, n0 = (int64_t)at.n * TILE;
  int wave = wave_index(), wave_m = wave / 2 * WAVE_TILE, wave_n = wave % 2 * WAVE_TILE;
  f32x4 sums[FRAGMENTS][FRAGMENTS] = {};
  u32x4 next_a[CHUNKS_EACH], next_b[CHUNKS_EACH];
  load_tile(next_a, &a, m0, 0, type);
  load_tile(next_b, &b, n0, 0, type);
  for (int64_t k0 = 0; k0 < g->k; k0 += step) {
    sync_lds(); /* every wave has read the step before; the last tile's block too */
    put_tile(tile_a, next_a, a.along_k, type);
    put_tile(tile_b, next_b, b.along_k, type);
    load_tile(next_a, &a, m0, k0 + step, type); /* on its way while this step is multiplied; zeros behind the last */
    load_tile(next_b, &b, n0, k0 + step, type);
    sync_lds(); /* both tiles are complete */
    multiply(sums, tile_a, tile_b, wave_m, wave_n, type);
  }
  sync_lds(); /* every wave has read the last step: the tiles' LDS becomes the waves' blocks */
  enum { PASS_ROWS = 32 };
  LDS f32x4 *block = (LDS f32x4 *)lds + wave * PASS_ROWS * BLOCK_CHUNKS;
#pragma unroll 1
  for (int pass = 0; pass < WAVE_TILE / PASS_ROWS; pass++) {
#pragma unroll
    for (int fm = 0; fm < PASS_ROWS / 16; fm++)
#pragma unroll
      for (int fn = 0; fn < FRAGMENTS; fn++) block_put(block, fm, fn, pass == 0 ? sums[fm][fn] : sums[fm + 2][fn]);
    block_store(g, block, PASS_ROWS, at.matrix, m0 + wave_m + pass * PASS_ROWS, n0 + wave_n, 0, type);
  }
}

DEVICE void compute(const gemm_args *g, tdm_type type) {
  SHARED static char lds[2 * TILE * ROW_BYTES] __attribute__((aligned(16)));
  for (uint32_t id = __builtin_amdgcn_workgroup_id_x(); id < g->order.count; id += g->workgroups)
    compute_tile(g, tdm_order_tile(g->order, id), (LDS char *)lds, type);
}

KERNEL WORKGROUP(256, 2) void gemm_128x128_f32(gemm_args g) { compute(&g, TDM_F32); }
KERNEL WORKGROUP(256, 2) void gemm_128x128_f16(gemm_args g) { compute(&g, TDM_F16); }
KERNEL WORKGROUP(256, 2) void gemm_128x128_bf16(gemm_args g) { compute(&g, TDM_BF16); }
