/* gemm, before the tiles: copies operands of 16 bits whose rows are not whole dwords, so that tiles can load them, or whose
 * rows do not begin at cache lines, so that tiles load them faster. Rows of the copy begin at multiples of 128 bytes, and what
 * is added to a row or after the last row is 0. A lane copies 16 bytes: it loads the dwords that contain them, and shifts
 * them. */
#include "hip/engine/store.h"
#include "pack_shape.h"

/* 16 bytes at a dword. */
typedef u32x4 __attribute__((aligned(4))) dwords;

/* Up to 8 elements from element `at` of the operand on; `left`: elements of the array from there on. */
DEVICE u32x4 take(const gemm_packed *p, int64_t at, int64_t left) {
  const uint16_t *from = (const uint16_t *)p->from + at;
  u32x4 words = 0;
  uint32_t odd = (uint32_t)(uintptr_t)from & 2;
  if (left > 8 && (at > 0 || odd == 0)) {
    const uint32_t *down = (const uint32_t *)((const char *)from - odd); /* so that clang knows that it is global memory */
    u32x4 x = *(const dwords *)down;
    uint32_t next = down[odd ? 4 : 0], shift = odd * 8;
    return (u32x4){__builtin_amdgcn_alignbit(x[1], x[0], shift), __builtin_amdgcn_alignbit(x[2], x[1], shift),
                   __builtin_amdgcn_alignbit(x[3], x[2], shift), __builtin_amdgcn_alignbit(next, x[3], shift)};
  }
#pragma unroll
  for (int e = 0; e < 8; e++)
    if (e < left) words[e / 2] |= (uint32_t)from[e] << 16 * (e % 2);
  return words;
}

DEVICE void pack(const gemm_pack_args *g) {
  fetch_args(g);
  const uint32_t wave = (uint32_t)wave_index(), waves = PACK_THREADS / WAVE;
  uint32_t first = (uint32_t)__builtin_amdgcn_workgroup_id_x() * PACK_BLOCKS + wave / waves;
  for (uint32_t block = first; block < g->blocks; block += g->workgroups * PACK_BLOCKS) {
    const bool second = block >= g->of[0].blocks;
    const gemm_packed *p = &g->of[second ? 1 : 0];
    uint32_t i = (block - (second ? g->of[0].blocks : 0)) * PACK_THREADS + wave % waves * WAVE + (uint32_t)lane_index();
    uint32_t row = i / p->chunks, column = (i - row * p->chunks) * 8,
             matrix = p->matrices == 1 && row < p->to_rows ? 0 : row / p->to_rows, r = row - matrix * p->to_rows;
    if (matrix >= p->matrices) continue;
    u32x4 words = 0;
    if (r < p->rows && column < p->columns) {
      int64_t in_matrix = (int64_t)r * p->ld + column;
      words = take(p, (int64_t)matrix * p->stride + in_matrix, (int64_t)(p->rows - 1) * p->ld + p->columns - in_matrix);
      uint32_t count = p->columns - column;
#pragma unroll
      for (uint32_t w = 0; w < 4; w++) words[w] = count >= 2 * w + 2 ? words[w] : count == 2 * w + 1 ? words[w] & 0xffff : 0;
    }
    *(u32x4 *)((char *)p->to + (int64_t)i * 16) = words;
  }
}

KERNEL WORKGROUP(PACK_WORKITEMS, 8) void gemm_pack_f16(gemm_pack_args g) { pack(&g); }
KERNEL WORKGROUP(PACK_WORKITEMS, 8) void gemm_pack_bf16(gemm_pack_args g) { pack(&g); }
