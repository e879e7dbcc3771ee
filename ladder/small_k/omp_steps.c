/* What the OpenMP steps of the small-K ladder serve. */
#include "omp_steps.h"

#include <stdio.h>

bool small_k_step_supports(const tdm_plan *plan, char *reason, size_t size) {
  if (!gemm_step_supports(plan, reason, size)) return false;
  if (plan->desc.gemm.k <= MOST_K) return true;
  snprintf(reason, size, "a step of the ladder: k must be at most %d", MOST_K);
  return false;
}
