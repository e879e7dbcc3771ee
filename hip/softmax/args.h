/* The argument of the softmax kernels. */
#ifndef TANDEM_HIP_SOFTMAX_ARGS_H
#define TANDEM_HIP_SOFTMAX_ARGS_H

#include "hip/args/row_groups.h"
#include "hip/args/row_parts.h"

/* First what the first loads need: it is preloaded (hip/args/preloaded.h). */
typedef struct softmax_args {
  const void *x;
  int64_t ldx, causal_rows; /* causal_rows 0: rows see all columns */
  hip_row_groups groups;
  double per_causal_row; /* 1 / causal_rows */
  void *y;
  int64_t ldy;
} softmax_args;

/* Rows that are split over workgroups. */
typedef struct softmax_parts_args {
  hip_row_parts parts;
  softmax_args rows;
  float *sums; /* [rows, parts]: the largest element, and the sum relative to it */
} softmax_parts_args;

#endif
