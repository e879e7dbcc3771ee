/* What tiles fall back to where a run's arrays do not begin at dwords. */
#include "gemm.h"

tdm_status gemm_prepare_dwords(tdm_plan *plan, const hip_tile_kernel *kernel, const char *layout) {
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  tdm_plan rows;
  hip_tile_kernel of_rows;
  double clocks;
  gemm_fallback fallback = {plan, &gemm_general, gemm_unaligned_clocks(plan, &gemm_general)};
  if (gemm_rows_of(plan, &rows, &of_rows, &clocks) && clocks < fallback.clocks) {
    plan->fallback.kernel = &tdm_gemm_hip_rows;
    fallback = (gemm_fallback){&rows, &of_rows, clocks};
  }
  return gemm_prepare(plan, kernel, layout, &fallback);
}
