/* swiglu in f16 and bf16 on Hopper's matrix units: the kernels, compiled to sm_90a alone, once for each WG_COLUMNS.
 * gpu_wgmma.c launches them. A warpgroup has the sums of both weights for the same elements. */
#include "offload/device/math.h"
#include "offload/engine/wgmma_end.h"

TDM_INLINE void wg_chain(wg_part *x, const wg_args *args, int vectors, wg_kind kind) {
  (void)args, (void)kind;
  WG_UNROLL
  for (int i = 0; i < vectors; i++) WG_UNROLL
  for (int e = 0; e < 4; e++) x->v[i][e] = tdm_silu(x->v[i][e]) * x->up[i][e];
}

#include "offload/engine/wgmma_kernel.h"

/* Swapped: the weights are P, of which k or the lines are contiguous. Otherwise they are Q. X always has k contiguous. */
#define SWAPPED(type, TYPE, n)                                               \
  WG_KERNEL(tdm_wg_swiglu_swapped_##type##_kk, n, 2, true, true, true, TYPE) \
  WG_KERNEL(tdm_wg_swiglu_swapped_##type##_lk, n, 2, true, false, true, TYPE)
#define UPRIGHT(type, TYPE, n)                                        \
  WG_KERNEL(tdm_wg_swiglu_##type##_kk, n, 2, false, true, true, TYPE) \
  WG_KERNEL(tdm_wg_swiglu_##type##_kl, n, 2, false, true, false, TYPE)

SWAPPED(f16, TDM_F16, WG_COLUMNS)
SWAPPED(bf16, TDM_BF16, WG_COLUMNS)
#if WG_COLUMNS >= 64 /* fewer rows are better taken as columns */
UPRIGHT(f16, TDM_F16, WG_COLUMNS)
UPRIGHT(bf16, TDM_BF16, WG_COLUMNS)
#endif
