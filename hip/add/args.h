/* The argument of the add kernels. */
#ifndef TANDEM_HIP_ADD_ARGS_H
#define TANDEM_HIP_ADD_ARGS_H

#include "../blocks.h"

typedef struct add_args {
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  hip_blocks blocks;
} add_args;

#endif
