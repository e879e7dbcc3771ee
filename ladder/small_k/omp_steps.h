/* What the OpenMP steps of the small-K ladder share. They are gemm steps, for k up to MOST_K. */
#ifndef TANDEM_LADDER_SMALL_K_OMP_STEPS_H
#define TANDEM_LADDER_SMALL_K_OMP_STEPS_H

#include "../gemm/omp_steps.h"

enum { MOST_K = 64 };

bool small_k_step_supports(const tdm_plan *plan, char *reason, size_t size);

#define SMALL_K_STEP(row, run) STEP_OMP_ROW(TDM_OP_GEMM, row, small_k_step_supports, run)

#endif
