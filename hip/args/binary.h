/* Elementwise ops of two arrays, c = f(a, b): the argument of their kernels, and their host side. */
#ifndef TANDEM_HIP_ARGS_BINARY_H
#define TANDEM_HIP_ARGS_BINARY_H

#include "blocks.h"

typedef struct binary_args {
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  hip_blocks blocks;
} binary_args;

#endif
