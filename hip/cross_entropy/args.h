/* The argument of the cross_entropy kernels. */
#ifndef TANDEM_HIP_CROSS_ENTROPY_ARGS_H
#define TANDEM_HIP_CROSS_ENTROPY_ARGS_H

#include "hip/args/row_groups.h"
#include "hip/args/row_parts.h"

/* First what the first loads need: it is preloaded (hip/args/preloaded.h). */
typedef struct cross_entropy_args {
  const void *logits;
  int64_t ldl;
  const void *targets;
  int32_t index; /* tdm_index_type of targets */
  /* Of short rows: rows of a row group, one after another, whose losses are stored at once; even. Of rows without gaps between
   * them: all rows of a row group. */
  int32_t turns;
  hip_row_groups groups;
  int64_t first, total;
  float *loss;
  int32_t ignore;
} cross_entropy_args;

/* Rows that are split over workgroups. */
typedef struct cross_entropy_parts_args {
  hip_row_parts parts;
  cross_entropy_args rows;
  float *sums;        /* [rows, parts]: the largest logit, and the sum relative to it; then the target's logit of each row */
  uint32_t *counters; /* of each row: 0 before a launch and after it (hip/device/last.h) */
} cross_entropy_parts_args;

#endif
