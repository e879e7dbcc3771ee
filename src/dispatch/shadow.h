/* Shadow runs (TANDEM_VERIFY): each run of a plan is repeated on the host by the op's reference kernel, the oracle, and the two
 * results are compared. For a plan whose kernel is the oracle on the host there is nothing to compare. */
#ifndef TANDEM_SHADOW_H
#define TANDEM_SHADOW_H

#include "src/base/bound.h"
#include "src/core/plan.h"

typedef struct tdm_shadow tdm_shadow;

/* Has the plan, whose kernel is chosen, something to be compared with? */
bool tdm_shadow_applies(const tdm_plan *plan);
/* What plan->shadow needs, made with the plan; leaves it NULL where there is nothing to compare. */
tdm_status tdm_shadow_open(tdm_plan *plan);
void tdm_shadow_close(tdm_plan *plan);
/* One run: launch(plan, pointers, stream) on the device, the oracle on copies of the inputs, and the comparison. */
typedef tdm_status (*tdm_launch_fn)(const tdm_plan *plan, const void *const *pointers, tdm_stream *stream);
tdm_status tdm_shadow_run(const tdm_plan *plan, const void *const *pointers, tdm_stream *stream, tdm_launch_fn launch);

/* ---- For the bounds of the ops (shadow_products.c, shadow_rows.c) ---- */

enum { TDM_SHADOW_RANK = 4 };

/* An output as rows: all dimensions but the last, flattened. The last one's stride is 1. */
typedef struct shadow_view {
  int buffer, rank;
  int64_t dim[TDM_SHADOW_RANK], stride[TDM_SHADOW_RANK];
  tdm_type type;
  bool exact; /* both kernels must give the same value */
} shadow_view;

/* A row of an output that is compared. */
typedef struct shadow_row {
  const tdm_plan *plan;           /* the device's */
  const tdm_epilogue_step *steps; /* gemm */
  void *const *inputs;            /* host copies from before the run, in the order of the plan's buffers */
  const void *expected;           /* the oracle's output */
  const shadow_view *view;
  int64_t row, at; /* offset of its first element */
} shadow_row;

/* What an op has: its outputs, and for the wanted columns of a row the bound of one kernel's error (bound.h). */
typedef struct shadow_op {
  int (*views)(const tdm_plan *plan, shadow_view views[2]);
  void (*errors)(const shadow_row *r, const unsigned char *wanted, double *error);
} shadow_op;

extern const shadow_op tdm_shadow_gemm, tdm_shadow_swiglu, tdm_shadow_attention, tdm_shadow_rmsnorm, tdm_shadow_rope,
    tdm_shadow_softmax, tdm_shadow_embedding, tdm_shadow_silu_mul, tdm_shadow_add, tdm_shadow_cross_entropy;

#endif
