/* What the OpenMP steps of the rmsnorm ladder serve. */
#include "omp_steps.h"

#include <stdio.h>

bool rmsnorm_step_supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  if (d->type == TDM_F32 && !d->residual) return true;
  snprintf(reason, size, "a step of the ladder: only f32, without residual");
  return false;
}

rmsnorm_step rmsnorm_step_of(const tdm_plan *plan, void *const *buffers) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  return (rmsnorm_step){buffers[0], buffers[1], buffers[4], d->rows, d->cols, d->ldx, d->ldy, d->eps};
}
