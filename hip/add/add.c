/* add on HIP: its rows. They share prepare and launch with the other elementwise ops (row_launch.h). */
#include <stdio.h>

#include "hip/host/row_launch.h"

extern const hip_code tdm_code_add[];
extern const tdm_kernel tdm_add_hip_sums;

static tdm_status prepare(tdm_plan *plan) {
  const tdm_add_desc *d = &plan->desc.add;
  binary_args args = {.lda = d->lda, .ldb = d->ldb, .ldc = d->ldc};
  return tdm_hip_binary_prepare(plan, args, d->rows, d->cols, d->type);
}

/* Does this row add what b is? */
static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_add_desc *d = &plan->desc.add;
  bool sums = plan->kernel == &tdm_add_hip_sums;
  if (sums == (d->type_b != d->type)) return true;
  snprintf(reason, size, sums ? "b is not f32" : "b has another type");
  return false;
}

const tdm_kernel tdm_add_hip_blocks = {.name = "hip_blocks",
                                       .op = TDM_OP_ADD,
                                       .backend = &tdm_backend_hip,
                                       .functions = HIP_FUNCTIONS({.code = tdm_code_add, .stem = "add_any", .waves = 6},
                                                                  {.code = tdm_code_add, .stem = "add", .waves = 6}),
                                       .supports = supports,
                                       .prepare = prepare,
                                       .launch = tdm_hip_binary_launch};
const tdm_kernel tdm_add_hip_sums = {.name = "hip_sums",
                                     .op = TDM_OP_ADD,
                                     .backend = &tdm_backend_hip,
                                     .types = TDM_16_BIT_TYPES,
                                     .functions = HIP_FUNCTIONS({.code = tdm_code_add, .stem = "add_sums_any", .waves = 6},
                                                                {.code = tdm_code_add, .stem = "add_sums", .waves = 6}),
                                     .supports = supports,
                                     .prepare = prepare,
                                     .launch = tdm_hip_binary_launch};
