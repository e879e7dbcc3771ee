/* silu_mul on HIP: its row. It shares prepare and launch with the other elementwise ops (row_launch.h). */
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_silu_mul[];

static tdm_status prepare(tdm_plan *plan) {
  const tdm_silu_mul_desc *d = &plan->desc.silu_mul;
  binary_args args = {.lda = d->ldg, .ldb = d->ldu, .ldc = d->ldy};
  return tdm_hip_binary_prepare(plan, args, d->rows, d->cols, d->type);
}

const tdm_kernel tdm_silu_mul_hip_blocks = {
    .name = "hip_blocks",
    .op = TDM_OP_SILU_MUL,
    .backend = &tdm_backend_hip,
    .functions = HIP_FUNCTIONS({.code = tdm_code_silu_mul, .stem = "silu_mul_any", .waves = 6},
                               {.code = tdm_code_silu_mul, .stem = "silu_mul", .waves = 6}),
    .prepare = prepare,
    .launch = tdm_hip_binary_launch};
