/* What follows the sums of a gemm: alpha, beta C, the steps of the epilogue, rounding, and the store, for four neighbouring
 * elements of a row at a time. The loop over the steps and its switch are uniform, so the wave branches as one. */
#ifndef TANDEM_HIP_GEMM_EPILOGUE_H
#define TANDEM_HIP_GEMM_EPILOGUE_H

#include "added.h"
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

/* ASKED: C and residual are in `added`; else they are loaded here, in fewer registers.
 * x: four sums of a row of A B, from (row, column) of one matrix of the batch on. out is that of args. */
template <bool ASKED>
DEVICE void finish_four(const gemm_args *g, constant_step *steps, four_place where, int64_t at_c, int64_t matrix, int64_t row,
                        int64_t column, f32x4 x, f32x4 bias, added_four added, tdm_type out, store_kind kind) {
  if (where.count == 0) return;
  const int64_t at_r = matrix * g->stride_r + row * g->ldr + column;
  x *= g->alpha;
  if (g->beta != 0) x += g->beta * (ASKED ? asked_four(added.c, out) : four_load(g->c, at_c, where, out));
  for (int64_t s = 0; s < g->step_count; s++) {
    tdm_epilogue_op op = steps[s].op;
    float value = steps[s].value;
    if (op == TDM_BIAS) {
      x += bias;
    } else if (op == TDM_RESIDUAL) {
      x += ASKED ? asked_four(added.residual, out) : four_load(g->residual, at_r, where, out);
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) x[i] = apply_map(x[i], op, value);
    }
  }
  four_store(g->c, at_c, x, where, out, kind);
}

/* With a K split sums only go where gemm_reduce finds them, in whole fours, for which the rows of partial sums are long enough.
 * matrix: as the tile order counts them, including K splits. */
DEVICE void store_partial(const gemm_args *g, int64_t matrix, int64_t row, int64_t column, f32x4 x) {
  if (row < g->m && column < g->ldp) *(f32x4 *)(g->partial + (matrix * g->m + row) * g->ldp + column) = x;
}

/* The sums of a workgroup, for which nothing has been asked but the bias. */
DEVICE void epilogue_four(const gemm_args *g, constant_step *steps, int64_t matrix, int64_t row, int64_t column, f32x4 x,
                          f32x4 bias, tdm_type out, store_kind kind) {
  if (g->partial != NULL) return store_partial(g, matrix, row, column, x);
  finish_four<false>(g, steps, four_of_c(g, row, column), place_in_c(g, matrix, row, column), matrix, row, column, x, bias, {},
                     out, kind);
}

#endif
