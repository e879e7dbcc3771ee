/* The argument of the rmsnorm kernels. */
#ifndef TANDEM_HIP_RMSNORM_ARGS_H
#define TANDEM_HIP_RMSNORM_ARGS_H

#include "hip/args/row_groups.h"
#include "hip/args/row_parts.h"

typedef struct rmsnorm_args {
  const void *x, *weight, *residual; /* residual: NULL if there is none */
  void *sum, *y;
  int64_t ldx, ldr, lds, ldy;
  double per_col; /* 1 / cols */
  float eps;
  hip_row_groups groups;
} rmsnorm_args;

/* Rows that are split over workgroups. */
typedef struct rmsnorm_parts_args {
  rmsnorm_args rows;
  hip_row_parts parts;
  double *sums; /* [rows, parts]: of squares */
} rmsnorm_parts_args;

#endif
