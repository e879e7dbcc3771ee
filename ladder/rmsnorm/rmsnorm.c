/* Rows of the rmsnorm ladder's own steps on HIP. */
#include <stdio.h>
#include <string.h>

#include "../row.h"
#include "step.h"

typedef struct ladder_variant {
  int rows, threads; /* of a workgroup */
  int load_bytes, most_cols;
} ladder_variant;

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const ladder_variant *s = plan->kernel->variant;
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  if (d->type != TDM_F32 || d->residual) {
    snprintf(reason, size, "a step of the ladder: only f32, without residual");
    return false;
  }
  if (d->cols > s->most_cols || d->cols % (s->load_bytes / 4) != 0) {
    snprintf(reason, size, "a step of the ladder: cols must be at most %d, and a multiple of %d", s->most_cols,
             s->load_bytes / 4);
    return false;
  }
  if (hip_ceil_div(d->rows, s->rows) > INT32_MAX / s->threads) {
    snprintf(reason, size, "a step of the ladder: rows must be at most %d", INT32_MAX / s->threads * s->rows);
    return false;
  }
  return true;
}

static tdm_status prepare(tdm_plan *plan) {
  const ladder_variant *s = plan->kernel->variant;
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  rmsnorm_step_args args = {.rows = d->rows, .cols = d->cols, .ldx = d->ldx, .ldy = d->ldy, .eps = d->eps};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  memcpy(plan->args, &args, sizeof args);
  plan->hip = (tdm_hip_kernel){.grid = {(unsigned)hip_ceil_div(d->rows, s->rows), 1, 1}, .block = (unsigned)s->threads};
  return tdm_hip_function(plan, &plan->kernel->functions[0], NULL, NULL, &plan->hip.function);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  rmsnorm_step_args args;
  memcpy(&args, plan->args, sizeof args);
  args.x = buffers[0];
  args.weight = buffers[1];
  args.y = buffers[4];
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

#define LADDER_HIP_RMSNORM(row, text, object, rows, threads, load_bytes, most_cols, waves) \
  LADDER_HIP_ROW(row, text, object, "rmsnorm_step", waves, TDM_OP_RMSNORM, 0, 0, NULL, rows, threads, load_bytes, most_cols)
#include "ladder.def"
