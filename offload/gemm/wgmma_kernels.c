/* gemm in f16 and bf16 on Hopper's matrix units: the kernels, compiled to sm_90a alone. gpu_wgmma.c launches them. */
#include "offload/engine/epilogue_map.h"
#include "offload/engine/wgmma_end.h"

/* A step without an array, for four values at a time: unrolled over all of a lane's values its code would be four times as
 * long. */
TDM_INLINE wg_four map_four(wg_four v, const wg_step *step) {
#define MAP(which)                                                           \
  case which:                                                                \
    WG_UNROLL                                                                \
    for (int e = 0; e < 4; e++) v[e] = tdm_epilogue_map(v[e], which, value); \
    break
  const float value = step->value;
  switch ((tdm_epilogue_op)step->op) {
    case TDM_BIAS:
    case TDM_RESIDUAL: break; /* they add an array */
    case TDM_DIVIDE:
      WG_UNROLL
      for (int e = 0; e < 4; e++) v[e] = (float)(v[e] * step->reciprocal);
      break;
      MAP(TDM_RELU);
      MAP(TDM_GELU);
      MAP(TDM_GELU_TANH);
      MAP(TDM_QUICK_GELU);
      MAP(TDM_LEAKY_RELU);
      MAP(TDM_SILU);
      MAP(TDM_SCALE);
  }
#undef MAP
  return v;
}

/* x += factor * matrix. */
TDM_INLINE void add_matrix(wg_part *x, const wg_args *args, bool residual, float factor, int vectors) {
  const void *base = residual ? args->residual : args->c;
  wg_way way = wg_way_in(x, residual ? args->stride_r : args->stride_c, residual ? args->ldr : args->ldc);
  TDM_BY_TYPE((tdm_type)args->out, wg_add_typed, x, base, way, factor, vectors);
}

/* Every row has the same. */
TDM_INLINE void add_bias(wg_part *x, const wg_args *args, int vectors, tdm_type type) {
  const bool whole = x->count >= 4 && (uintptr_t)args->bias % 8 == 0 && x->column % 4 == 0;
  wg_four bias = whole ? wg_load_four(args->bias, x->column, type) : wg_load_some(args->bias, x->column, x->count, type);
  WG_UNROLL
  for (int i = 0; i < vectors; i++) x->v[i] += bias;
}

TDM_INLINE void wg_end(wg_part *x, const wg_args *args, wg_address buffer, int lane, int columns, bool swapped, wg_kind kind) {
  const int vectors = columns / 8, steps = args->steps;
  const float alpha = args->alpha;
  WG_UNROLL
  for (int i = 0; i < vectors; i++) x->v[i] = alpha * wg_take(buffer, i, 0, lane, columns, swapped);
  WG_NO_UNROLL
  for (int s = 0; s < steps; s++) {
    const wg_step step = args->step[s];
    if (step.op == TDM_BIAS) {
      add_bias(x, args, vectors, kind.type);
    } else if (step.op == TDM_RESIDUAL || step.op == WG_OLD_C) {
      add_matrix(x, args, step.op == TDM_RESIDUAL, step.value, vectors);
    } else {
      WG_NO_UNROLL
      for (int i = 0; i < vectors; i++) wg_rotate(x->v, vectors, map_four(x->v[0], &step));
    }
  }
  wg_store(x, args, vectors);
}

#include "offload/engine/wgmma_kernel.h"

/* k: k is contiguous in P, then in Q; l: lines are. */
#define KERNELS_OF(type, TYPE, n)                                    \
  WG_KERNEL(tdm_wg_gemm_##type##_kk, n, 1, false, true, true, TYPE)  \
  WG_KERNEL(tdm_wg_gemm_##type##_kl, n, 1, false, true, false, TYPE) \
  WG_KERNEL(tdm_wg_gemm_##type##_lk, n, 1, false, false, true, TYPE) \
  WG_KERNEL(tdm_wg_gemm_##type##_ll, n, 1, false, false, false, TYPE)

/* The file is compiled once for each number of columns: registers are limited by file. */
KERNELS_OF(f16, TDM_F16, WG_COLUMNS)
KERNELS_OF(bf16, TDM_BF16, WG_COLUMNS)
