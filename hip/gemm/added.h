/* What an epilogue reads: its steps, and the elements of bias, residual and C that it adds. They come from memory, 1080 clocks
 * away. So kernels ask for them while the sums are still on their way. */
#ifndef TANDEM_HIP_GEMM_ADDED_H
#define TANDEM_HIP_GEMM_ADDED_H

#include "args.h"
#include "lane_fours.h"

/* The kernel's argument, and steps, through the constant address space: with scalar loads, because they are the same in all
 * lanes. */
typedef const gemm_args __attribute__((address_space(4))) constant_args;
typedef const tdm_epilogue_step __attribute__((address_space(4))) constant_step;

/* The kernel's argument, a gemm_args, read again: what only the end needs takes no registers in the loop. */
DEVICE constant_args *end_args(void) {
  constant_args *args = (constant_args *)__builtin_amdgcn_kernarg_segment_ptr();
  asm volatile("" : "+s"(args));
  return args;
}

/* g: what has been read of args. */
DEVICE constant_step *chain_of(constant_args *args, const gemm_args *g) {
  return g->step_count <= GEMM_FEW_STEPS ? args->few_steps : (constant_step *)(uintptr_t)g->steps;
}

/* ---- Elements ---- */

/* Four of C or of the residual that are on their way: two dwords of 16-bit elements, or four. */
DEVICE u32x4 ask_four(const void *base, int64_t at, four_place where, tdm_type type) {
  const char *from = (const char *)base + at * tdm_bytes(type);
  u32x4 words = 0;
  if (where.whole) {
    if (tdm_bytes(type) == 4) return *(const u32x4 *)from;
    const u32x2 two = *(const u32x2 *)from;
    return (u32x4){two[0], two[1], 0, 0};
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (i >= where.count) continue;
    if (tdm_bytes(type) == 4)
      words[i] = ((const uint32_t *)from)[i];
    else
      words[i / 2] |= (uint32_t)((const uint16_t *)from)[i] << 16 * (i % 2);
  }
  return words;
}
DEVICE f32x4 asked_four(u32x4 words, tdm_type type) {
  return tdm_bytes(type) == 4 ? four_of<4>(words, type) : four_of<2>((u32x2){words[0], words[1]}, type);
}

/* What is added to four sums of a row, of C and of the residual. */
typedef struct added_four {
  u32x4 c, residual;
} added_four;

DEVICE four_place four_of_c(const gemm_args *g, int64_t row, int64_t column) {
  return four_in(g->m, g->n, row, column, g->aligned_fours != 0);
}
DEVICE int64_t place_in_c(const gemm_args *g, int64_t matrix, int64_t row, int64_t column) {
  return matrix * g->stride_c + row * g->ldc + column;
}
/* Four of the bias; 0 if there is none. bias_of waits for them, which takes fewer registers: a called function has few. */
DEVICE u32x4 ask_bias_at(const gemm_args *g, int64_t column, tdm_type type) {
  const four_place where = four_in(1, g->n, 0, column, g->aligned_fours != 0);
  return g->bias == NULL ? 0 : ask_four(g->bias, column, where, type);
}
DEVICE f32x4 bias_of(const gemm_args *g, int64_t column, tdm_type type) {
  const four_place where = four_in(1, g->n, 0, column, g->aligned_fours != 0);
  return g->bias == NULL || where.count == 0 ? 0 : four_load(g->bias, column, where, type);
}
DEVICE added_four ask_added(const gemm_args *g, int64_t matrix, int64_t row, int64_t column, tdm_type out) {
  const four_place where = four_of_c(g, row, column);
  added_four a = {0, 0};
  if (g->beta != 0) a.c = ask_four(g->c, place_in_c(g, matrix, row, column), where, out);
  if (g->residual != NULL) a.residual = ask_four(g->residual, matrix * g->stride_r + row * g->ldr + column, where, out);
  return a;
}

#endif
