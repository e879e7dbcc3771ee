/* The argument of the softmax kernels. */
#ifndef TANDEM_HIP_SOFTMAX_ARGS_H
#define TANDEM_HIP_SOFTMAX_ARGS_H

#include "hip/args/row_groups.h"
#include "hip/args/row_parts.h"

typedef struct softmax_args {
  const void *x;
  void *y;
  int64_t ldx, ldy, causal_rows; /* causal_rows 0: rows see all columns */
  double per_causal_row;         /* 1 / causal_rows */
  hip_row_groups groups;
} softmax_args;

/* Rows that are split over workgroups. */
typedef struct softmax_parts_args {
  softmax_args rows;
  hip_row_parts parts;
  float *sums; /* [rows, parts]: the largest element, and the sum relative to it */
} softmax_parts_args;

#endif
