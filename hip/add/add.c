/* add on HIP: its row. It shares prepare and launch with the other elementwise ops (row_launch.h). */
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_add[];

static tdm_status prepare(tdm_plan *plan) {
  const tdm_add_desc *d = &plan->desc.add;
  binary_args args = {.lda = d->lda, .ldb = d->ldb, .ldc = d->ldc};
  return tdm_hip_binary_prepare(plan, args, d->rows, d->cols, d->type);
}

const tdm_kernel tdm_add_hip_blocks = {.name = "hip_blocks",
                                       .op = TDM_OP_ADD,
                                       .backend = &tdm_backend_hip,
                                       .functions = HIP_FUNCTIONS({.code = tdm_code_add, .stem = "add", .waves = 8}),
                                       .prepare = prepare,
                                       .launch = tdm_hip_binary_launch};
