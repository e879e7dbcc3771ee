/* What the OpenMP steps of the gemm ladder serve. */
#include "omp_steps.h"

#include <stdio.h>

bool gemm_step_supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  bool plain = d->type == TDM_F32 && d->out == TDM_F32 && d->layout == TDM_NN;
  if (plain && d->batch == 1 && d->alpha == 1 && d->beta == 0 && d->epilogue_steps == 0) return true;
  snprintf(reason, size, "a step of the ladder: f32 to f32 in layout nn, one matrix, alpha 1, beta 0, no epilogue");
  return false;
}

gemm_step gemm_step_of(const tdm_plan *plan, void *const *buffers) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return (gemm_step){buffers[0], buffers[1], buffers[2], d->m, d->n, d->k, d->lda, d->ldb, d->ldc};
}
