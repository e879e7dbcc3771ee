/* softmax on HIP: rows held in registers, and rows of any length. */
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_softmax[];

static bool fits(const tdm_plan *plan, char *reason, size_t size) {
  return tdm_hip_fits_registers(plan->desc.softmax.cols, plan->desc.softmax.type, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  softmax_args args = {.ldx = d->ldx, .ldy = d->ldy, .causal_rows = d->causal_rows};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(tdm_hip_rows_prepare(plan, &args.groups, d->rows, d->cols, d->type));
  memcpy(plan->args, &args, sizeof args);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  softmax_args args;
  memcpy(&args, plan->args, sizeof args);
  args.x = buffers[0];
  args.y = buffers[1];
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

const tdm_kernel tdm_softmax_hip_loop = {
    .name = "hip_loop",
    .op = TDM_OP_SOFTMAX,
    .backend = &tdm_backend_hip,
    .variant = &hip_row_loop,
    .functions = HIP_FUNCTIONS({.code = tdm_code_softmax, .stem = "softmax_loop", .waves = 8}),
    .prepare = prepare,
    .launch = launch};
const tdm_kernel tdm_softmax_hip_registers = {
    .name = "hip_registers",
    .op = TDM_OP_SOFTMAX,
    .backend = &tdm_backend_hip,
    .variant = &hip_row_registers,
    .functions = HIP_FUNCTIONS(
        {.code = tdm_code_softmax, .stem = "softmax_1", .waves = 8},
        {.code = tdm_code_softmax, .stem = "softmax_2", .waves = 8},
        {.code = tdm_code_softmax, .stem = "softmax_4", .waves = 8, .fewer = {.types = TDM_16_BIT_TYPES, .waves = 4}},
        {.code = tdm_code_softmax, .stem = "softmax_8", .waves = 4}),
    .supports = fits,
    .prepare = prepare,
    .launch = launch};
