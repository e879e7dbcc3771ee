/* softmax on HIP: rows held in registers, and rows of any length. */
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_softmax[];

typedef struct softmax_plan {
  softmax_args args;
  hip_any_rows any;
} softmax_plan;

static hip_rows rows_of(const tdm_softmax_desc *d) {
  return (hip_rows){d->rows, d->cols, d->type, .most = HIP_KEPT_ELEMENTS / (int)tdm_hip_chunk(d->type),
                    .any = d->causal_rows > 0};
}

static bool fits(const tdm_plan *plan, char *reason, size_t size) {
  hip_rows rows = rows_of(&plan->desc.softmax);
  return tdm_hip_fits_registers(plan, &rows, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  softmax_plan own = {.args = {.ldx = d->ldx, .ldy = d->ldy, .causal_rows = d->causal_rows}};
  hip_rows rows = rows_of(d);
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  if (d->causal_rows > 0) own.args.per_causal_row = 1 / (double)d->causal_rows;
  TDM_TRY(tdm_hip_rows_prepare(plan, &own.args.groups, &own.any, &rows, (int64_t[]){d->ldx, d->ldy}, 2));
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  softmax_plan own;
  memcpy(&own, plan->args, sizeof own);
  own.args.x = buffers[0];
  own.args.y = buffers[1];
  return tdm_hip_rows_launch(plan, &own.any, &own.args, sizeof own.args, buffers, stream);
}

static const hip_functions functions[] = {
    [HIP_ROWS_ANY] = {.code = tdm_code_softmax,
                      .stem = "softmax_any",
                      .waves = 8,
                      .fewer = {.types = TDM_16_BIT_TYPES, .waves = 4}},
    [HIP_ROWS_WHOLE] = {.code = tdm_code_softmax,
                        .stem = "softmax_loop",
                        .waves = 8,
                        .fewer = {.types = TDM_16_BIT_TYPES, .waves = 4}},
    [HIP_ROWS_KEPT] = {.code = tdm_code_softmax, .stem = "softmax_1", .waves = 8},
    {.code = tdm_code_softmax, .stem = "softmax_2", .waves = 8},
    {.code = tdm_code_softmax, .stem = "softmax_4", .waves = 8, .fewer = {.types = TDM_16_BIT_TYPES, .waves = 4}},
    {.code = tdm_code_softmax, .stem = "softmax_8", .waves = 4},
    {.stem = NULL}};

const tdm_kernel tdm_softmax_hip_loop = {.name = "hip_loop",
                                         .op = TDM_OP_SOFTMAX,
                                         .backend = &tdm_backend_hip,
                                         .variant = &hip_row_loop,
                                         .functions = functions,
                                         .prepare = prepare,
                                         .launch = launch};
const tdm_kernel tdm_softmax_hip_registers = {.name = "hip_registers",
                                              .op = TDM_OP_SOFTMAX,
                                              .backend = &tdm_backend_hip,
                                              .variant = &hip_row_registers,
                                              .functions = functions,
                                              .supports = fits,
                                              .prepare = prepare,
                                              .launch = launch};
