/* What follows the sums: alpha, beta C, the steps of the epilogue, rounding, and the store. It works on four neighbouring
 * elements of a row at a time, which is what a lane reads from LDS. The loop over the steps and its switch are uniform, so
 * the wave branches as one. */
#ifndef TANDEM_HIP_EPILOGUE_H
#define TANDEM_HIP_EPILOGUE_H

#include "hip/gemm/args.h"
#include "math.h"

/* Four neighbouring elements of a row: how many of them are in the matrix. `whole`: all four are, and their arrays are
 * aligned for it. */
typedef struct four_place {
  int count;
  bool whole;
} four_place;

/* Whether results stay in the caches for the next reader. */
enum store_kind { KEPT, NON_TEMPORAL };

DEVICE four_place four_in(int64_t rows, int64_t columns, int64_t row, int64_t column, bool aligned) {
  int64_t left = row < rows ? columns - column : 0;
  int count = left > 4 ? 4 : left < 0 ? 0 : (int)left;
  return (four_place){count, count == 4 && aligned};
}

DEVICE f32x4 four_load(const void *base, int64_t at, four_place where, tdm_type type) {
  if (where.whole) return load_four(base, at, type);
  f32x4 x = 0;
  for (int i = 0; i < 4; i++)
    if (i < where.count) x[i] = load_element(base, at + i, type);
  return x;
}

DEVICE void four_store(void *base, int64_t at, f32x4 x, four_place where, tdm_type type, store_kind kind) {
  if (where.whole) {
    if (kind == NON_TEMPORAL)
      store_four_non_temporal(base, at, x, type);
    else
      store_four(base, at, x, type);
    return;
  }
  for (int i = 0; i < 4; i++)
    if (i < where.count) store_element(base, at + i, x[i], type);
}

DEVICE float apply_map(float x, tdm_epilogue_op op, float value) {
  switch (op) {
    case TDM_BIAS:
    case TDM_RESIDUAL: return x; /* not a function of x alone */
    case TDM_RELU: return x < 0 ? 0 : x;
    case TDM_GELU: return gelu_f32(x);
    case TDM_GELU_TANH: return gelu_tanh_f32(x);
    case TDM_QUICK_GELU: return quick_gelu_f32(x);
    case TDM_LEAKY_RELU: return x < 0 ? value * x : x;
    case TDM_SILU: return silu_f32(x);
    case TDM_SCALE: return x * value;
    case TDM_DIVIDE: return x / value;
  }
  return x;
}

/* Steps are read through the constant address space: with scalar loads, because the index is the same in all lanes. */
typedef const tdm_epilogue_step __attribute__((address_space(4))) constant_step;

/* x: four sums of a row of A B, from (row, column) of one matrix of the batch on. type and out are those of args. */
DEVICE void finish_four(const gemm_args *g, int64_t matrix, int64_t row, int64_t column, f32x4 x, tdm_type type, tdm_type out,
                        store_kind kind) {
  four_place where = four_in(g->m, g->n, row, column, g->aligned_fours != 0);
  if (where.count == 0) return;
  int64_t at_c = matrix * g->stride_c + row * g->ldc + column, at_r = matrix * g->stride_r + row * g->ldr + column;
  x *= g->alpha;
  if (g->beta != 0) x += g->beta * four_load(g->c, at_c, where, out);
  constant_step *steps = (constant_step *)(uintptr_t)g->steps;
  for (int64_t s = 0; s < g->step_count; s++) {
    tdm_epilogue_op op = steps[s].op;
    float value = steps[s].value;
    if (op == TDM_BIAS) {
      x += four_load(g->bias, column, where, type);
    } else if (op == TDM_RESIDUAL) {
      x += four_load(g->residual, at_r, where, out);
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) x[i] = apply_map(x[i], op, value);
    }
  }
  four_store(g->c, at_c, x, where, out, kind);
}

/* The same for the sums of a workgroup. With a K split they only go where gemm_reduce finds them, in whole fours, for which
 * the rows of partial sums are long enough. matrix: as the tile order counts them, including K splits. */
DEVICE void epilogue_four(const gemm_args *g, int64_t matrix, int64_t row, int64_t column, f32x4 x, tdm_type type, tdm_type out,
                          store_kind kind) {
  if (g->partial == NULL)
    finish_four(g, matrix, row, column, x, type, out, kind);
  else if (row < g->m && column < g->ldp)
    *(f32x4 *)(g->partial + (matrix * g->m + row) * g->ldp + column) = x;
}

#endif
