/* The argument of the embedding kernels. */
#ifndef TANDEM_HIP_EMBEDDING_ARGS_H
#define TANDEM_HIP_EMBEDDING_ARGS_H

#include "hip/args/blocks.h"

typedef struct embedding_args {
  const void *table;
  const void *ids;
  void *y;
  int64_t vocab, ldt, ldy, first, total;
  int32_t index;     /* tdm_index_type of ids */
  hip_blocks blocks; /* rows: tokens */
} embedding_args;

#endif
