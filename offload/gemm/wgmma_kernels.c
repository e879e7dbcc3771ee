/* gemm in f16 and bf16 on Hopper's matrix units: the kernels, compiled to sm_90a alone. gpu_wgmma.c launches them. */
#include "offload/engine/epilogue_map.h"
#include "offload/engine/wgmma_end.h"

/* A step without an array. All of a lane's values at once keep the arithmetic busy. */
TDM_INLINE void map_all(wg_four *v, int vectors, const epilogue_step *step) {
#define MAP(which)                                                                                           \
  case which:                                                                                                \
    WG_UNROLL                                                                                                \
    for (int e = 0; e < 4 * vectors; e++) v[e / 4][e % 4] = tdm_epilogue_map(v[e / 4][e % 4], which, value); \
    break
  const float value = step->value;
  const double reciprocal = step->reciprocal;
  switch ((tdm_epilogue_op)step->op) {
    case TDM_BIAS:
    case TDM_RESIDUAL: break; /* they add an array */
    case TDM_DIVIDE:
      WG_UNROLL
      for (int e = 0; e < 4 * vectors; e++) v[e / 4][e % 4] = (float)(v[e / 4][e % 4] * reciprocal);
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
}

TDM_INLINE void wg_chain(wg_part *x, const wg_args *args, int vectors, wg_kind kind) {
  const epilogue_step *step = x->step;
  WG_UNROLL
  for (int i = 0; i < vectors; i++) x->v[i] *= x->alpha;
  WG_NO_UNROLL
  for (int s = 0; s < x->steps; s++, step++) {
    if (step->op == TDM_BIAS)
      wg_add_bias(x, vectors, kind.type);
    else if (step->op == TDM_RESIDUAL || step->op == EPILOGUE_OLD_C)
      wg_add_matrix(x, args, step->op == TDM_RESIDUAL, step->value, vectors);
    else
      map_all(x->v, vectors, step);
  }
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
