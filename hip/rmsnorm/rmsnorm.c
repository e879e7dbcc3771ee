/* rmsnorm on HIP: rows held in registers, and rows of any length. */
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_rmsnorm[];

typedef struct rmsnorm_plan {
  rmsnorm_args args;
  hip_any_rows any;
} rmsnorm_plan;

/* f32 with 8 chunks in each work-item, and the residual besides, would not fit into the 128 registers of 1024 work-items. */
static hip_rows rows_of(const tdm_rmsnorm_desc *d) { return (hip_rows){d->rows, d->cols, d->type, .most = 4}; }

static bool fits(const tdm_plan *plan, char *reason, size_t size) {
  hip_rows rows = rows_of(&plan->desc.rmsnorm);
  return tdm_hip_fits_registers(plan, &rows, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  rmsnorm_plan own = {.args = {.ldx = d->ldx, .ldr = d->ldr, .lds = d->lds, .ldy = d->ldy, .eps = d->eps}};
  hip_rows rows = rows_of(d);
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  own.args.per_col = 1 / (double)d->cols;
  TDM_TRY(tdm_hip_rows_prepare(plan, &own.args.groups, &own.any, &rows, (int64_t[]){d->ldx, d->ldr, d->lds, d->ldy}, 4));
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  rmsnorm_plan own;
  memcpy(&own, plan->args, sizeof own);
  own.args.x = buffers[0];
  own.args.weight = buffers[1];
  own.args.residual = buffers[2];
  own.args.sum = buffers[3];
  own.args.y = buffers[4];
  return tdm_hip_rows_launch(plan, &own.any, &own.args, sizeof own.args, buffers, stream);
}

static const hip_functions functions[] = {[HIP_ROWS_ANY] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_any", .waves = 4},
                                          [HIP_ROWS_WHOLE] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_loop", .waves = 4},
                                          [HIP_ROWS_KEPT] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_1", .waves = 8},
                                          {.code = tdm_code_rmsnorm, .stem = "rmsnorm_2", .waves = 4},
                                          {.code = tdm_code_rmsnorm, .stem = "rmsnorm_4", .waves = 4},
                                          {.stem = NULL}};

const tdm_kernel tdm_rmsnorm_hip_loop = {.name = "hip_loop",
                                         .op = TDM_OP_RMSNORM,
                                         .backend = &tdm_backend_hip,
                                         .variant = &hip_row_loop,
                                         .functions = functions,
                                         .prepare = prepare,
                                         .launch = launch};
const tdm_kernel tdm_rmsnorm_hip_registers = {.name = "hip_registers",
                                              .op = TDM_OP_RMSNORM,
                                              .backend = &tdm_backend_hip,
                                              .variant = &hip_row_registers,
                                              .functions = functions,
                                              .supports = fits,
                                              .prepare = prepare,
                                              .launch = launch};
