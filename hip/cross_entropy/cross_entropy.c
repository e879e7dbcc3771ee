/* cross_entropy on HIP: its row, and the launch of its kernel. */
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_cross_entropy[];

/* The least number of chunks of a row that a work-item takes one after another, if a smaller row group is enough: fewer groups
 * wait. */
enum { CHUNKS_EACH = 4 };

static tdm_status prepare(tdm_plan *plan) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  cross_entropy_args args = {
      .ldl = d->ldl, .first = d->first, .total = d->total, .ignore = d->ignore, .index = (int32_t)d->targets};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  tdm_hip_row_groups(plan, &args.groups, d->rows, d->vocab, CHUNKS_EACH, d->type);
  memcpy(plan->args, &args, sizeof args);
  return tdm_hip_row_function(plan, 0, d->type);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  cross_entropy_args args;
  memcpy(&args, plan->args, sizeof args);
  args.logits = buffers[0];
  args.targets = buffers[1];
  args.loss = buffers[2];
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

const tdm_kernel tdm_cross_entropy_hip_loop = {
    .name = "hip_loop",
    .op = TDM_OP_CROSS_ENTROPY,
    .backend = &tdm_backend_hip,
    .functions = HIP_FUNCTIONS({.code = tdm_code_cross_entropy, .stem = "cross_entropy", .waves = 8}),
    .prepare = prepare,
    .launch = launch};
