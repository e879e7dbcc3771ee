/* What tiles fall back to where a run's arrays do not begin at dwords. */
#include <stddef.h>
#include <string.h>

#include "gemm.h"

/* Takes the kernel that `of` finds, if it is faster. */
typedef bool other_row(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks);
static void take_if_faster(tdm_plan *plan, other_row *of, tdm_plan *as, hip_tile_kernel *kernel, const char *layout,
                           gemm_fallback *fallback) {
  tdm_plan found;
  hip_tile_kernel found_kernel;
  double clocks;
  if (!of(plan, &found, &found_kernel, &clocks) || clocks >= fallback->clocks) return;
  memcpy(as, &found, offsetof(tdm_plan, lock));
  *kernel = found_kernel;
  plan->fallback.kernel = found.kernel;
  *fallback = (gemm_fallback){as, kernel, clocks, layout};
}

tdm_status gemm_prepare_dwords(tdm_plan *plan, const hip_tile_kernel *kernel, const char *layout) {
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  tdm_plan as;
  hip_tile_kernel other;
  const char *named = tdm_layout_names[plan->desc.gemm.layout];
  gemm_fallback fallback = {plan, &gemm_general, gemm_unaligned_clocks(plan, &gemm_general), NULL};
  take_if_faster(plan, gemm_rows_of, &as, &other, NULL, &fallback);
  take_if_faster(plan, gemm_elements_of, &as, &other, named, &fallback);
  take_if_faster(plan, gemm_shifted_32x32_of, &as, &other, named, &fallback);
  take_if_faster(plan, gemm_shifted_64x64_of, &as, &other, named, &fallback);
  take_if_faster(plan, gemm_shifted_64x128_of, &as, &other, named, &fallback);
  return gemm_prepare(plan, kernel, layout, &fallback);
}
