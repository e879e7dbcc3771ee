/* The argument of the cross_entropy kernels. */
#ifndef TANDEM_HIP_CROSS_ENTROPY_ARGS_H
#define TANDEM_HIP_CROSS_ENTROPY_ARGS_H

#include "hip/args/row_groups.h"

typedef struct cross_entropy_args {
  const void *logits;
  const void *targets;
  float *loss;
  int64_t ldl, first, total;
  int32_t ignore;
  int32_t index; /* tdm_index_type of targets */
  hip_row_groups groups;
} cross_entropy_args;

#endif
