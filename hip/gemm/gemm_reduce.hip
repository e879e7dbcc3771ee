/* gemm, after a K split: adds the partial sums, always in the same order, and does the epilogue. */
#include "epilogue.h"
#include "hip/device/arguments.h"
#include "reduce_shape.h"

/* The parts are loaded so many at a time: one after another, each waits for memory. 32 x 576 of 28 parts took 36,994 predicted
 * clocks that way. */
enum { PARTS_AT_ONCE = 8 };

/* Adds the next PARTS_AT_ONCE parts, `step` bytes apart, or `count` of them. What is loaded for the others is the last one
 * again: with branches around the loads clang would load one after another. */
DEVICE f32x4 add_parts(f32x4 x, const char **from, uint32_t offset, int64_t step, int count) {
  f32x4 part[PARTS_AT_ONCE];
#pragma unroll
  for (int n = 0; n < PARTS_AT_ONCE; n++) {
    part[n] = __builtin_bit_cast(f32x4, buffer_load(make_short_buffer(*from, OUTSIDE), offset));
    *from = advance_here(*from, n + 1 < count ? step : 0);
  }
  keep_order(); /* all loads are on their way */
#pragma unroll
  for (int n = 0; n < PARTS_AT_ONCE; n++) x = n < count ? x + part[n] : x;
  return x;
}

/* a / b for numbers >= 0. There is no instruction for it, and clang's 64-bit routine is far longer than its 32-bit one. */
DEVICE int64_t quotient(int64_t a, int64_t b) {
  if (((a | b) >> 32) == 0) return (int64_t)((uint32_t)a / (uint32_t)b);
  return a / b;
}

/* Block `block` of C. Only the scalar unit divides, and lanes have offsets of 32 bits. */
DEVICE void reduce_block(const gemm_args *g, int64_t block, tdm_type type) {
  const int64_t fours = g->ldp / 4, across = reduce_across(fours, g->reduce_bits);
  const int bits = g->reduce_bits;
  const uint32_t sub = (uint32_t)thread_index() >> bits, four = (uint32_t)thread_index() & ((1u << bits) - 1);
  int64_t matrix = 0, band = block;
  if (g->batch > 1) {
    const int64_t of_matrix = reduce_blocks(g->m, fours, bits);
    matrix = quotient(block, of_matrix);
    band = block - matrix * of_matrix;
  }
  int64_t left_of = 0; /* the block's first column */
  if (across > 1) {
    const int64_t within = band;
    band = quotient(within, across);
    left_of = (within - band * across) << bits << 2;
  }
  const int64_t first = band << (REDUCE_BITS - bits), row = first + sub, column = left_of + four * 4;
  if (row >= g->m || column >= g->ldp) return;
  const char *from = (const char *)(g->partial + (matrix * g->parts * g->m + first) * g->ldp + left_of);
  const uint32_t offset = (sub * (uint32_t)g->ldp + four * 4) * (uint32_t)sizeof(float);
  const int64_t step = g->m * g->ldp * (int64_t)sizeof(float);
  const u32x4 bias = ask_bias_at(g, column, type);
  const added_four added = ask_added(g, matrix, row, column, (tdm_type)g->out);
  f32x4 x = 0;
  int left = g->parts;
  for (; left >= PARTS_AT_ONCE; left -= PARTS_AT_ONCE) {
    x = add_parts(x, &from, offset, step, PARTS_AT_ONCE);
    from = advance_here(from, step);
  }
  if (left > 0) x = add_parts(x, &from, offset, step, left);
  /* Nothing but a rounding, in whole fours: finish_four has 100 instructions for what may be. */
  if (g->alpha == 1 && g->beta == 0 && g->step_count == 0 && g->n % 4 == 0 && g->aligned_fours)
    store_four(g->c, matrix * g->stride_c + row * g->ldc + column, x, (tdm_type)g->out);
  else
    finish_four<true>(g, chain_of(end_args(), g), four_of_c(g, row, column), place_in_c(g, matrix, row, column), matrix, row,
                      column, x, asked_four(bias, type), added, (tdm_type)g->out, KEPT);
}

/* There are at most as many workgroups as blocks. */
DEVICE void reduce(const gemm_args *g, tdm_type type) {
  fetch_args(g);
  int64_t block = __builtin_amdgcn_workgroup_id_x(), blocks;
#pragma unroll 1
  do {
    const gemm_args again = args_again(g); /* clang would keep all that follows from it in registers, and spill */
    reduce_block(&again, block, type);
    blocks = again.batch * reduce_blocks(again.m, again.ldp / 4, again.reduce_bits);
    block += again.reducers;
  } while (block < blocks);
}

KERNEL WORKGROUP(REDUCE_THREADS, 8) void gemm_reduce_f32(gemm_args g) { reduce(&g, TDM_F32); }
KERNEL WORKGROUP(REDUCE_THREADS, 8) void gemm_reduce_f16(gemm_args g) { reduce(&g, TDM_F16); }
KERNEL WORKGROUP(REDUCE_THREADS, 8) void gemm_reduce_bf16(gemm_args g) { reduce(&g, TDM_BF16); }
