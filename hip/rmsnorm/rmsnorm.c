/* rmsnorm on HIP: rows held in registers, and rows of any length. */
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_rmsnorm[];

static bool fits(const tdm_plan *plan, char *reason, size_t size) {
  return tdm_hip_fits_registers(plan->desc.rmsnorm.cols, plan->desc.rmsnorm.type, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  rmsnorm_args args = {.ldx = d->ldx, .ldr = d->ldr, .lds = d->lds, .ldy = d->ldy, .eps = d->eps};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(tdm_hip_rows_prepare(plan, &args.groups, d->rows, d->cols, d->type));
  memcpy(plan->args, &args, sizeof args);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  rmsnorm_args args;
  memcpy(&args, plan->args, sizeof args);
  args.x = buffers[0];
  args.weight = buffers[1];
  args.residual = buffers[2];
  args.sum = buffers[3];
  args.y = buffers[4];
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

const tdm_kernel tdm_rmsnorm_hip_loop = {
    .name = "hip_loop",
    .op = TDM_OP_RMSNORM,
    .backend = &tdm_backend_hip,
    .variant = &hip_row_loop,
    .functions = HIP_FUNCTIONS(
        {.code = tdm_code_rmsnorm, .stem = "rmsnorm_loop", .waves = 8, .fewer = {.types = TDM_16_BIT_TYPES, .waves = 4}}),
    .prepare = prepare,
    .launch = launch};
const tdm_kernel tdm_rmsnorm_hip_registers = {
    .name = "hip_registers",
    .op = TDM_OP_RMSNORM,
    .backend = &tdm_backend_hip,
    .variant = &hip_row_registers,
    .functions = HIP_FUNCTIONS({.code = tdm_code_rmsnorm, .stem = "rmsnorm_1", .waves = 8},
                               {.code = tdm_code_rmsnorm, .stem = "rmsnorm_2", .waves = 8},
                               {.code = tdm_code_rmsnorm, .stem = "rmsnorm_4", .waves = 4},
                               {.code = tdm_code_rmsnorm, .stem = "rmsnorm_8", .waves = 4}),
    .supports = fits,
    .prepare = prepare,
    .launch = launch};
