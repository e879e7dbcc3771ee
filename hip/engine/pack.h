/* Before the tiles of gemm and swiglu: copies operands of 16 bits whose rows are not whole dwords, so that tiles can load them,
 * or whose rows do not begin at cache lines, so that tiles load them faster. Rows of the copy begin at multiples of 128 bytes,
 * and what is added to a row or after the last row is 0. A lane copies 16 bytes: it loads the dwords that contain them, and
 * shifts them. */
#ifndef TANDEM_HIP_ENGINE_PACK_H
#define TANDEM_HIP_ENGINE_PACK_H

#include "hip/args/pack.h"
#include "hip/device/buffer.h"
#include "hip/device/wait.h"
#include "store.h"

/* Up to 8 elements from element `at` of the operand on; `left`, above 0: elements of the array from there on. */
DEVICE u32x4 take(const hip_packed *p, int64_t at, int64_t left) {
  const uint16_t *from = (const uint16_t *)p->from + at;
  uint32_t odd = (uint32_t)(uintptr_t)from & 2;
  if (left > 8 && (at > 0 || odd == 0)) {
    const uint32_t *down = (const uint32_t *)((const char *)from - odd); /* so that clang knows that it is global memory */
    u32x4 x = *(const u32x4_at_dword *)down;
    uint32_t next = down[odd ? 4 : 0], shift = odd * 8;
    return shifted_dwords(x, next, shift);
  }
  /* All of them are on their way before the first is waited for: elements that are not there are the chunk's first one. */
  u32x4 words = 0;
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

enum : uint32_t { NONE = 0xffffffffu };

/* Of each lane the next lane's word, of the last lane `after`: by data-parallel primitives, a VALU instruction. */
DEVICE uint32_t next_lane(uint32_t word, uint32_t after) {
  enum { WAVE_SHIFT_LEFT = 0x130 };
  return (uint32_t)__builtin_amdgcn_update_dpp((int)after, (int)word, WAVE_SHIFT_LEFT, 0xf, 0xf, false);
}

/* A piece of a row on its way, from chunk `first` on. A wave copies it with all loads on their way. What is after the row's end
 * loads as 0, and is not stored.
 *
 * Where the row begins between two dwords a lane's last element is in the dword that the next lane has; what the last lane of
 * the last load needs is loaded once for the wave. A load of its own for each chunk's next dword would ask for as many cache
 * lines again. A dword that is partly outside of the array is not loaded, but the array's first or last element in it.
 *
 * All rows take the same instructions: where each kind of rows had its own, waves waited for them to come from memory. */
typedef struct coming_piece {
  uint32_t first, columns, odd; /* odd: bytes by which the row begins after a dword */
  bool begins, ends;            /* the array, between two dwords; and in this row */
  uint32_t head, tail, end;
  u32x4 words[PACK_LOADS];
} coming_piece;

DEVICE bool at_head(const coming_piece *x, uint32_t chunk) { return x->begins && chunk == 0; }

/* columns: 0 for a row that is not there. begins, ends: the array begins with this row, or ends. */
DEVICE coming_piece load_long_piece(const char *from, uint32_t columns, bool begins, bool ends, uint32_t first) {
  const uint32_t chunk = first + (uint32_t)lane_index(), odd = (uint32_t)(uintptr_t)from & 2;
  coming_piece x = {first, columns, odd, begins && odd != 0, ends, 0, 0, 0, {}};
  const buffer of = make_short_buffer(from - odd, columns == 0 ? 0 : (columns * 2 + odd + (ends ? 0 : 3)) & ~3u);
  if (x.begins || ends) x.head = ((const uint16_t *)from)[0], x.tail = ((const uint16_t *)from)[columns - 1];
#pragma unroll
  for (uint32_t n = 0; n < PACK_LOADS; n++) /* the array's head begins with the next dword */
    x.words[n] = buffer_load(of, (chunk + n * PACK_LANES) * 16 + (n == 0 && at_head(&x, chunk) ? 4 : 0));
  x.end = (uint32_t)__builtin_amdgcn_raw_buffer_load_b32(of, (int)(odd != 0 ? (first + PACK_PIECE) * 16 : OUTSIDE), 0, 0);
  keep_order(); /* all loads are on their way */
  return x;
}

/* row: of the copy. */
DEVICE void store_long_piece(coming_piece *x, const hip_packed *p, uint32_t row) {
  const uint32_t chunk = x->first + (uint32_t)lane_index();
  const buffer to = make_short_buffer((char *)p->to + (int64_t)row * p->chunks * 16, p->chunks * 16);
  u32x4 *words = x->words;
  if (x->begins) words[0] = at_head(x, chunk) ? (u32x4){x->head << 16, words[0][0], words[0][1], words[0][2]} : words[0];
#pragma unroll
  for (uint32_t n = 0; n < PACK_LOADS; n++) {
    const uint32_t here = chunk + n * PACK_LANES;
    u32x4 y = words[n];
    const uint32_t after = n + 1 < PACK_LOADS ? (uint32_t)__builtin_amdgcn_readfirstlane((int)words[n + 1][0]) : x->end;
    const uint32_t next = next_lane(y[0], after);
    y = shifted_dwords(y, next, x->odd * 8);
    /* The row ends here; the array's last dword is the next one's. */
    if ((x->first + (n + 1) * PACK_LANES) * 8 > x->columns - x->ends) {
      const int32_t left = (int32_t)x->columns - (int32_t)(here * 8);
      y = first_elements(y, left);
      if (x->ends && ((x->odd + x->columns * 2) & 2) != 0) /* in the middle of a dword, which has loaded as 0 */
#pragma unroll
        for (int32_t w = 0; w < 4; w++)
          if (left == 2 * w + 1 || left == 2 * w + 2) y[w] |= left == 2 * w + 1 ? x->tail : x->tail << 16;
    }
    buffer_store(to, here * 16, y);
  }
}

DEVICE void copy_piece(const hip_packed *p, uint32_t piece) {
  const uint32_t each = p->rows_each, lane = (uint32_t)lane_index();
  if (each > 1) {
    const uint32_t below = lane / p->chunks, row = piece * each + below, matrix = row / p->to_rows;
    if (below < each && matrix < p->matrices) copy_chunk(p, row, matrix, row - matrix * p->to_rows, lane - below * p->chunks);
    return;
  }
  const uint32_t of_row = p->of_row, row = of_row == 1 ? piece : piece / of_row, first = (piece - row * of_row) * PACK_PIECE,
                 matrix = p->matrices == 1 ? 0 : row / p->to_rows, r = row - matrix * p->to_rows;
  coming_piece x = load_long_piece((const char *)p->from + ((int64_t)matrix * p->stride + (int64_t)r * p->ld) * 2,
                                   r < p->rows ? p->columns : 0, matrix == 0 && r == 0, r + 1 == p->rows, first);
  store_long_piece(&x, p, row);
}

/* ARGS: of[COUNT], 2 or 3 operands, of which one or more have blocks; blocks of all of them; workgroups. */
template <uint32_t COUNT, typename ARGS>
DEVICE void pack(const ARGS *g) {
  const uint32_t waves = PACK_THREADS / WAVE, wave = (uint32_t)wave_index();
  uint32_t first = (uint32_t)__builtin_amdgcn_workgroup_id_x() * PACK_BLOCKS + wave / waves;
  for (uint32_t block = first; block < g->blocks; block += g->workgroups * PACK_BLOCKS) {
    const bool second = block >= g->of[0].blocks, third = COUNT > 2 && block >= g->of[0].blocks + g->of[1].blocks;
    const hip_packed *p = &g->of[third ? COUNT - 1 : second ? 1 : 0];
    const uint32_t before = third ? g->of[0].blocks + g->of[1].blocks : second ? g->of[0].blocks : 0;
    const uint32_t piece = (block - before) * waves + wave % waves;
    if (piece < p->pieces) copy_piece(p, piece);
  }
}

/* The same of two operands whose rows are known: a wave's first loads do not wait for its argument. */
template <typename ARGS>
DEVICE void pack_known(const hip_pack_first *f, const ARGS *g) {
  const asked_argument<ARGS> asked = ask_argument<ARGS>();
  const uint32_t waves = PACK_THREADS / WAVE, wave = (uint32_t)wave_index();
  uint32_t first = (uint32_t)__builtin_amdgcn_workgroup_id_x() * PACK_BLOCKS + wave / waves;
  for (uint32_t block = first; block < f->of[0].blocks + f->of[1].blocks; block += f->workgroups * PACK_BLOCKS) {
    const bool second = block >= f->of[0].blocks;
    const hip_known_rows *k = &f->of[second ? 1 : 0];
    const uint32_t piece = (block - (second ? f->of[0].blocks : 0)) * waves + wave % waves;
    const uint32_t of_row = f->of_row[second ? 1 : 0], row = of_row == 1 ? piece : piece / of_row;
    coming_piece x = load_long_piece(global_pointer(k->from) + (int64_t)row * k->ld * 2, row < k->rows ? k->columns : 0,
                                     row == 0, row + 1 == k->rows, (piece - row * of_row) * PACK_PIECE);
    have_argument(&asked);
    const hip_packed *p = &g->of[second ? 1 : 0];
    if (piece < p->pieces) store_long_piece(&x, p, row);
  }
}

#endif
