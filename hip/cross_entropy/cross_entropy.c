/* cross_entropy on HIP: its row, and the launch of its kernel. */
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_cross_entropy[];

typedef struct cross_entropy_plan {
  cross_entropy_args args;
  hip_any_rows any;
} cross_entropy_plan;

static tdm_status prepare(tdm_plan *plan) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  cross_entropy_plan own = {.args = {.ldl = d->ldl, .first = d->first, .total = d->total, .ignore = d->ignore}};
  hip_rows rows = {d->rows, d->vocab, d->type, .most = 0};
  own.args.index = (int32_t)d->targets;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(tdm_hip_rows_prepare(plan, &own.args.groups, &own.any, &rows, &d->ldl, 1));
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  cross_entropy_plan own;
  memcpy(&own, plan->args, sizeof own);
  own.args.logits = buffers[0];
  own.args.targets = buffers[1];
  own.args.loss = buffers[2];
  return tdm_hip_rows_launch(plan, &own.any, &own.args, sizeof own.args, buffers, stream);
}

const tdm_kernel tdm_cross_entropy_hip_loop = {
    .name = "hip_loop",
    .op = TDM_OP_CROSS_ENTROPY,
    .backend = &tdm_backend_hip,
    .functions = HIP_FUNCTIONS([HIP_ROWS_ANY] = {.code = tdm_code_cross_entropy,
                                                 .stem = "cross_entropy_any",
                                                 .waves = 8,
                                                 .fewer = {.types = TDM_16_BIT_TYPES, .waves = 4}},
                               [HIP_ROWS_WHOLE] = {.code = tdm_code_cross_entropy, .stem = "cross_entropy", .waves = 4}),
    .prepare = prepare,
    .launch = launch};
