/* What the OpenMP steps of the swiglu ladder serve. */
#include "omp_steps.h"

#include <stdio.h>

bool swiglu_step_supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  if (d->type == TDM_F32 && d->out == TDM_F32 && d->layout == TDM_NN) return true;
  snprintf(reason, size, "a step of the ladder: only f32 to f32 in layout nn");
  return false;
}

swiglu_step swiglu_step_of(const tdm_plan *plan, void *const *buffers) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  return (swiglu_step){buffers[0], buffers[1], buffers[2], buffers[3], d->m, d->n, d->k, d->ldx, d->ldg, d->ldu, d->ldy};
}
