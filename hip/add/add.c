/* add on HIP: its row, and the launch of its kernel. */
#include "args.h"

#include <string.h>

#include "../rows.h"

extern const hip_code tdm_code_add[];

static tdm_status prepare(tdm_plan *plan) {
  const tdm_add_desc *d = &plan->desc.add;
  add_args args = {.lda = d->lda, .ldb = d->ldb, .ldc = d->ldc};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  bool packed = d->lda == d->cols && d->ldb == d->cols && d->ldc == d->cols;
  tdm_hip_blocks(plan, &args.blocks, d->rows, d->cols, packed, d->type);
  if (packed) args.lda = args.ldb = args.ldc = args.blocks.cols;
  memcpy(plan->args, &args, sizeof args);
  return tdm_hip_function_of(plan, tdm_code_add, "add", d->type);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  add_args args;
  memcpy(&args, plan->args, sizeof args);
  args.a = buffers[0];
  args.b = buffers[1];
  args.c = buffers[2];
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

const tdm_kernel tdm_add_hip_blocks = {"hip_blocks", TDM_OP_ADD, &tdm_backend_hip, NULL, prepare, launch};
