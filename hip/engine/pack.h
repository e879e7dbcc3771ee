/* Before the tiles of gemm and swiglu: copies operands of 16 bits whose rows are not whole dwords, so that tiles can load them,
 * or whose rows do not begin at cache lines, so that tiles load them faster. Rows of the copy begin at multiples of 128 bytes,
 * and what is added to a row or after the last row is 0. A lane copies 16 bytes: it loads the dwords that contain them, and
 * shifts them. */
#ifndef TANDEM_HIP_ENGINE_PACK_H
#define TANDEM_HIP_ENGINE_PACK_H

#include "hip/args/pack.h"
#include "hip/device/buffer.h"
#include "store.h"

/* 16 bytes at a dword. */
typedef u32x4 __attribute__((aligned(4))) dwords;

/* Up to 8 elements from element `at` of the operand on; `left`, above 0: elements of the array from there on. */
DEVICE u32x4 take(const hip_packed *p, int64_t at, int64_t left) {
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
  /* All of them are on their way before the first is waited for: elements that are not there are the chunk's first one. */
  uint16_t element[8];
#pragma unroll
  for (int e = 0; e < 8; e++) element[e] = from[e < left ? e : 0];
#pragma unroll
  for (int e = 0; e < 8; e++)
    if (e < left) words[e / 2] |= (uint32_t)element[e] << 16 * (e % 2);
  return words;
}

/* Keeps the first `count` of 8 elements. */
DEVICE u32x4 first_elements(u32x4 words, int32_t count) {
#pragma unroll
  for (int32_t w = 0; w < 4; w++) words[w] = count >= 2 * w + 2 ? words[w] : count == 2 * w + 1 ? words[w] & 0xffff : 0;
  return words;
}

/* A chunk of row r of a matrix; the copy's row is `row`, as rows of all its matrices follow each other. */
DEVICE void copy_chunk(const hip_packed *p, uint32_t row, uint32_t matrix, uint32_t r, uint32_t chunk) {
  const uint32_t column = chunk * 8;
  u32x4 words = 0;
  if (r < p->rows && column < p->columns) {
    int64_t in_matrix = (int64_t)r * p->ld + column;
    words = take(p, (int64_t)matrix * p->stride + in_matrix, (int64_t)(p->rows - 1) * p->ld + p->columns - in_matrix);
    words = first_elements(words, (int32_t)(p->columns - column));
  }
  *(u32x4 *)((char *)p->to + ((int64_t)row * p->chunks + chunk) * 16) = words;
}

/* A piece of a long row, from chunk `first` on. A wave copies it with all loads on their way. */
typedef struct pack_piece {
  uint32_t row, first;   /* of the copy */
  uint32_t before, last; /* chunks that may not be loaded in dwords: of the array's first and last element, or NONE */
} pack_piece;
enum : uint32_t { NONE = 0xffffffffu };

/* Of each lane the next lane's word, of the last lane `after`: by data-parallel primitives, a VALU instruction. */
DEVICE uint32_t next_lane(uint32_t word, uint32_t after) {
  enum { WAVE_SHIFT_LEFT = 0x130 };
  return (uint32_t)__builtin_amdgcn_update_dpp((int)after, (int)word, WAVE_SHIFT_LEFT, 0xf, 0xf, false);
}

/* What is after the row's end loads as 0, and is not stored. ODD: the row begins between two dwords. A lane's last element is
 * then in the dword that the next lane has; what the last lane of the last load needs is loaded once for the wave. A load of
 * its own for each chunk's next dword would ask for as many cache lines again. EDGE: it may have chunks that are left to
 * copy_chunk. */
template <bool ODD, bool EDGE>
DEVICE void copy_long(const hip_packed *p, const char *from, pack_piece piece) {
  const uint32_t whole = !EDGE || piece.last == NONE ? 3 : 0; /* no part of a dword after the array */
  const uint32_t bytes = (p->columns * 2 + (ODD ? 2 : 0) + whole) & ~3u, chunk = piece.first + (uint32_t)lane_index();
  const buffer of = make_short_buffer(from - (ODD ? 2 : 0), bytes),
               to = make_short_buffer((char *)p->to + (int64_t)piece.row * p->chunks * 16, p->chunks * 16);
  u32x4 words[PACK_LOADS];
#pragma unroll
  for (uint32_t n = 0; n < PACK_LOADS; n++) {
    const uint32_t at = (chunk + n * PACK_LANES) * 16;
    words[n] = buffer_load(of, EDGE && ODD && n == 0 && chunk == piece.before ? OUTSIDE : at);
  }
  const uint32_t end =
      ODD ? (uint32_t)__builtin_amdgcn_raw_buffer_load_b32(of, (int)((piece.first + PACK_PIECE) * 16), 0, 0) : 0;
#pragma unroll
  for (uint32_t n = 0; n < PACK_LOADS; n++) {
    const uint32_t here = chunk + n * PACK_LANES;
    u32x4 x = words[n];
    if (ODD) {
      const uint32_t after = n + 1 < PACK_LOADS ? (uint32_t)__builtin_amdgcn_readfirstlane((int)words[n + 1][0]) : end;
      const uint32_t next = next_lane(x[0], after);
      x = (u32x4){__builtin_amdgcn_alignbit(x[1], x[0], 16), __builtin_amdgcn_alignbit(x[2], x[1], 16),
                  __builtin_amdgcn_alignbit(x[3], x[2], 16), __builtin_amdgcn_alignbit(next, x[3], 16)};
    }
    if ((piece.first + (n + 1) * PACK_LANES) * 8 > p->columns) x = first_elements(x, (int32_t)(p->columns - here * 8));
    const uint32_t at = EDGE && (here == piece.before || here == piece.last) ? OUTSIDE : here * 16;
    __builtin_amdgcn_raw_buffer_store_b128(x, to, (int)at, 0, 0);
  }
}

/* Row r of a matrix: a piece takes one trip to memory, and one more where an array begins or ends. Waves of first and last rows
 * made a trip for each load, and the launch ended 5,000 clocks later, predicted, when all others were done. */
DEVICE void copy_long_piece(const hip_packed *p, uint32_t row, uint32_t first, uint32_t matrix, uint32_t r) {
  const uint32_t lane = (uint32_t)lane_index();
  if (r >= p->rows) {
    const buffer to = make_short_buffer((char *)p->to + (int64_t)row * p->chunks * 16, p->chunks * 16);
#pragma unroll
    for (uint32_t n = 0; n < PACK_LOADS; n++)
      __builtin_amdgcn_raw_buffer_store_b128((u32x4)0, to, (int)((first + n * PACK_LANES + lane) * 16), 0, 0);
    return;
  }
  const char *from = (const char *)p->from + ((int64_t)matrix * p->stride + (int64_t)r * p->ld) * 2;
  const bool odd = (uint32_t)(uintptr_t)from & 2;
  const pack_piece piece = {row, first, odd && matrix == 0 && r == 0 ? 0 : NONE,
                            r + 1 == p->rows ? (p->columns - 1) / 8 : NONE};
  if (piece.before == NONE && piece.last == NONE) {
    if (odd)
      copy_long<true, false>(p, from, piece);
    else
      copy_long<false, false>(p, from, piece);
    return;
  }
  if (odd)
    copy_long<true, true>(p, from, piece);
  else
    copy_long<false, true>(p, from, piece);
  const uint32_t chunk = lane == 0 ? piece.before : piece.last;
  if (lane < 2 && chunk >= first && chunk < first + PACK_PIECE && chunk < p->chunks) copy_chunk(p, row, matrix, r, chunk);
}

DEVICE void copy_piece(const hip_packed *p, uint32_t piece) {
  const uint32_t each = pack_rows_each(p->chunks), lane = (uint32_t)lane_index();
  if (each > 1) {
    const uint32_t below = lane / p->chunks, row = piece * each + below, matrix = row / p->to_rows;
    if (below < each && matrix < p->matrices) copy_chunk(p, row, matrix, row - matrix * p->to_rows, lane - below * p->chunks);
    return;
  }
  const uint32_t of_row = pack_pieces_of_row(p->chunks), row = of_row == 1 ? piece : piece / of_row,
                 first = (piece - row * of_row) * PACK_PIECE, matrix = p->matrices == 1 ? 0 : row / p->to_rows;
  copy_long_piece(p, row, first, matrix, row - matrix * p->to_rows);
}

/* ARGS: of[COUNT], 2 or 3 operands, of which one or more have blocks; blocks of all of them; workgroups. */
template <uint32_t COUNT, typename ARGS>
DEVICE void pack(const ARGS *g) {
  fetch_args(g);
  const uint32_t waves = PACK_THREADS / WAVE, wave = (uint32_t)wave_index();
  uint32_t first = (uint32_t)__builtin_amdgcn_workgroup_id_x() * PACK_BLOCKS + wave / waves;
  for (uint32_t block = first; block < g->blocks; block += g->workgroups * PACK_BLOCKS) {
    const bool second = block >= g->of[0].blocks, third = COUNT > 2 && block >= g->of[0].blocks + g->of[1].blocks;
    const hip_packed *p = &g->of[third ? COUNT - 1 : second ? 1 : 0];
    const uint32_t before = third ? g->of[0].blocks + g->of[1].blocks : second ? g->of[0].blocks : 0;
    const uint32_t piece = (block - before) * waves + wave % waves;
    if (piece < pack_pieces(p->matrices * p->to_rows, p->chunks)) copy_piece(p, piece);
  }
}

#endif
