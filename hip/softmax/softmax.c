/* softmax on HIP: rows held in registers, and rows of any length. */
#include <string.h>

#include "../rows.h"
#include "args.h"

extern const hip_code tdm_code_softmax[];

static bool fits(const tdm_plan *plan, char *reason, size_t size) {
  return tdm_hip_fits_registers(plan->desc.softmax.cols, plan->desc.softmax.type, reason, size);
}

static void prepare_args(tdm_plan *plan, int64_t kept) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  softmax_args args = {.ldx = d->ldx, .ldy = d->ldy, .causal_rows = d->causal_rows};
  tdm_hip_teams(plan, &args.teams, d->rows, d->cols, kept, d->type);
  memcpy(plan->args, &args, sizeof args);
}

static tdm_status prepare_registers(tdm_plan *plan) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  int kept = tdm_hip_kept(d->cols, d->type);
  prepare_args(plan, kept);
  return tdm_hip_function_kept(plan, tdm_code_softmax, "softmax", kept, d->type);
}

static tdm_status prepare_loop(tdm_plan *plan) {
  if (plan->empty) return TDM_OK;
  prepare_args(plan, 1);
  return tdm_hip_function_of(plan, tdm_code_softmax, "softmax_loop", plan->desc.softmax.type);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  softmax_args args;
  memcpy(&args, plan->args, sizeof args);
  args.x = buffers[0];
  args.y = buffers[1];
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

const tdm_kernel tdm_softmax_hip_loop = {
    .name = "hip_loop", .op = TDM_OP_SOFTMAX, .backend = &tdm_backend_hip, .prepare = prepare_loop, .launch = launch};
const tdm_kernel tdm_softmax_hip_registers = {.name = "hip_registers",
                                              .op = TDM_OP_SOFTMAX,
                                              .backend = &tdm_backend_hip,
                                              .supports = fits,
                                              .prepare = prepare_registers,
                                              .launch = launch};
