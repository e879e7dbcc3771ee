/* The launch of the OpenMP steps. */
#include "omp_steps.h"

tdm_status step_omp_prepare(tdm_plan *plan) {
  const tdm_context *context = plan->context;
  bool on_gpu = context->omp_device >= 0;
  tdm_plan_launch(plan, on_gpu ? STEP_TEAMS : 1, on_gpu ? STEP_THREADS : context->host_threads);
  return TDM_OK;
}
