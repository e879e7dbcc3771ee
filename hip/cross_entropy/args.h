/* The argument of the cross_entropy kernels. */
#ifndef TANDEM_HIP_CROSS_ENTROPY_ARGS_H
#define TANDEM_HIP_CROSS_ENTROPY_ARGS_H

#include "hip/args/teams.h"

typedef struct cross_entropy_args {
  const void *logits;
  const int32_t *targets;
  float *loss;
  int64_t ldl;
  int32_t ignore;
  hip_teams teams;
} cross_entropy_args;

#endif
