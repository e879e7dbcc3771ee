/* The argument of the embedding kernels. */
#ifndef TANDEM_HIP_EMBEDDING_ARGS_H
#define TANDEM_HIP_EMBEDDING_ARGS_H

#include "hip/args/blocks.h"

/* First what the first loads need: it is preloaded (hip/args/preloaded.h). */
typedef struct embedding_args {
  const void *ids;
  int32_t index;     /* tdm_index_type of ids */
  hip_blocks blocks; /* rows: tokens */
  const void *table;
  void *y;
  int64_t vocab, ldt, ldy, first, total;
} embedding_args;

#endif
