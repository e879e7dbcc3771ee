/* Elementwise ops of two arrays, c = f(a, b): the argument of their kernels, and their host side. */
#ifndef TANDEM_HIP_ARGS_BINARY_H
#define TANDEM_HIP_ARGS_BINARY_H

#include "blocks.h"

/* First what the first loads need: it is preloaded (hip/args/preloaded.h). */
typedef struct binary_args {
  const void *a, *b;
  int64_t lda, ldb;
  hip_blocks blocks;
  void *c;
  int64_t ldc;
} binary_args;

#endif
