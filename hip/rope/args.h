/* The argument of the rope kernels. */
#ifndef TANDEM_HIP_ROPE_ARGS_H
#define TANDEM_HIP_ROPE_ARGS_H

#include "hip/args/blocks.h"
#include "tandem/rope.h"

typedef struct rope_args {
  const void *x;
  void *y;
  const float *sincos; /* [seq, 2, half]: cosines, then sines */
  int64_t seq, heads, half;
  tdm_rope_strides of_x, of_y;
  int64_t parts; /* of a position's heads: `each` heads, the last part fewer */
  int32_t each;
  hip_blocks blocks; /* a row: a part of a position, [batch, seq, parts]; its elements: those of a head, or of half of one */
} rope_args;

#endif
