/* What follows the sums of a gemm: alpha, beta C, the steps of the epilogue, rounding, and the store, for four neighbouring
 * elements of a row at a time. The loop over the steps and its switch are uniform, so the wave branches as one. */
#ifndef TANDEM_HIP_GEMM_EPILOGUE_H
#define TANDEM_HIP_GEMM_EPILOGUE_H

#include "args.h"
#include "hip/device/fours.h"
#include "hip/device/math.h"
#include "hip/device/math_rounded.h"
#include "hip/device/wait.h"

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

/* The same for four values, with a constant op. `rounded`: the result will be rounded to 16 bits. */
DEVICE f32x4 map_four(f32x4 x, tdm_epilogue_op op, float value, bool rounded) {
  if (rounded && op == TDM_GELU) return gelu_four(x);
  if (rounded && op == TDM_GELU_TANH)
    return x_sigmoid_four(x, x * (x * x * constant_here(0.0713548149f) + constant_here(1.59576912f)));
  if (rounded && op == TDM_QUICK_GELU) return x_sigmoid_four(x, x * constant_here(1.702f));
  if (rounded && op == TDM_SILU) return x_sigmoid_four(x, x);
#pragma unroll
  for (int i = 0; i < 4; i++) x[i] = apply_map(x[i], op, value);
  return x;
}

/* The same for COUNT fours, with an op that is the same in all lanes: one branch for all of them. The order is
 * kept so that the values between take few registers. Results of 32 bits need the exact functions, which are long: for those
 * with an exponential or a division they are not here, and args.end is GEMM_FAR. */
template <int COUNT, bool ROUNDED>
DEVICE void map_fours(f32x4 *x, tdm_epilogue_op op, float value) {
#define CASE(name)                                      \
  case name:                                            \
    _Pragma("unroll") for (int i = 0; i < COUNT; i++) { \
      x[i] = map_four(x[i], name, value, ROUNDED);      \
      keep_order();                                     \
    }                                                   \
    break
  if (op == TDM_RELU || op == TDM_LEAKY_RELU || op == TDM_SCALE || !ROUNDED) {
    switch (op) {
      CASE(TDM_RELU);
      CASE(TDM_LEAKY_RELU);
      CASE(TDM_SCALE);
      default: break;
    }
    return;
  }
  if constexpr (ROUNDED) switch (op) {
      CASE(TDM_GELU);
      CASE(TDM_GELU_TANH);
      CASE(TDM_QUICK_GELU);
      CASE(TDM_SILU);
      CASE(TDM_DIVIDE);
      default: break;
    }
#undef CASE
}

/* Steps are read through the constant address space: with scalar loads, because the index is the same in all lanes. */
typedef const tdm_epilogue_step __attribute__((address_space(4))) constant_step;

/* Four elements of the bias; 0 if there is none. */
DEVICE f32x4 bias_of(const gemm_args *g, int64_t column, tdm_type type) {
  four_place where = four_in(1, g->n, 0, column, g->aligned_fours != 0);
  return g->bias == NULL || where.count == 0 ? 0 : four_load(g->bias, column, where, type);
}

/* x: four sums of a row of A B, from (row, column) of one matrix of the batch on. out is that of args. */
DEVICE void finish_four(const gemm_args *g, int64_t matrix, int64_t row, int64_t column, f32x4 x, f32x4 bias, tdm_type out,
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
      x += bias;
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
DEVICE void epilogue_four(const gemm_args *g, int64_t matrix, int64_t row, int64_t column, f32x4 x, f32x4 bias, tdm_type out,
                          store_kind kind) {
  if (g->partial == NULL)
    finish_four(g, matrix, row, column, x, bias, out, kind);
  else if (row < g->m && column < g->ldp)
    *(f32x4 *)(g->partial + (matrix * g->m + row) * g->ldp + column) = x;
}

#endif
