/* The argument of the softmax kernels. */
#ifndef TANDEM_HIP_SOFTMAX_ARGS_H
#define TANDEM_HIP_SOFTMAX_ARGS_H

#include "hip/args/row_groups.h"

typedef struct softmax_args {
  const void *x;
  void *y;
  int64_t ldx, ldy, causal_rows; /* causal_rows 0: rows see all columns */
  double per_causal_row;         /* 1 / causal_rows */
  hip_row_groups groups;
} softmax_args;

#endif
