/* What tiles fall back to where a run's arrays do not begin at dwords. */
#include "gemm.h"

tdm_status gemm_prepare_dwords(tdm_plan *plan, const hip_tile_kernel *kernel, const char *layout) {
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  tdm_plan as;
  hip_tile_kernel other;
  double clocks;
  gemm_fallback fallback = {plan, &gemm_general, gemm_unaligned_clocks(plan, &gemm_general), NULL};
  if ((gemm_rows_of(plan, &as, &other, &clocks) || gemm_elements_of(plan, &as, &other, &clocks)) && clocks < fallback.clocks) {
    plan->fallback.kernel = as.kernel;
    fallback = (gemm_fallback){&as, &other, clocks, as.kernel == &tdm_gemm_hip_elements ? layout : NULL};
  }
  return gemm_prepare(plan, kernel, layout, &fallback);
}
