/* The argument of the rope kernels. */
#ifndef TANDEM_HIP_ROPE_ARGS_H
#define TANDEM_HIP_ROPE_ARGS_H

#include "hip/args/blocks.h"
#include "tandem/rope.h"

/* Neighbouring heads that lie in a run of memory are cut into chunks together, `joined` of them, so that heads of any length
 * have whole chunks. The parts of a position take its runs in turns, so that neighbouring runs are at work at the same time. */
typedef struct rope_args {
  int64_t parts; /* of a position's runs */
  hip_divisor by_parts;
  int64_t seq;
  hip_divisor by_seq; /* as by_parts: none for too many rows */
  hip_blocks blocks;  /* a row: a part of a position, [batch, seq, parts]; its elements: those of a run, or of half a head */
  const void *x;
  void *y;
  const float *sincos; /* [seq, 2, angles]: cosines, then sines */
  int64_t heads, half;
  int64_t angles; /* half, and so many first ones again that a chunk may begin in any pair of a head */
  tdm_rope_strides of_x, of_y;
  int64_t joined, runs;                  /* heads of a run; runs of a position */
  int64_t part_step, s_step, batch_step; /* blocks.rows_step rows are so many parts, positions and batches */
  hip_divisor by_chunks;                 /* by the lanes of a packed head */
  int32_t packed;                        /* heads that a wave takes, if their halves are not whole chunks; else 0 */
  int32_t turns;                         /* the most runs of a part; some have one fewer */
} rope_args;

#endif
