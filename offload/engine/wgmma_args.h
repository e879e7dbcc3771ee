/* What a launch of a kernel on Hopper's matrix units gets: written on the host (wgmma_plan.c), read by the kernel
 * (wgmma_loop.h).
 *
 * The lines of one operand, P, are the 64 lines of an instruction, those of the other, Q, its N columns. For a product of
 * many rows P is A and Q is B. With few rows it is the other way round (`swapped`): the weights' columns fill the 64 lines,
 * and N is as small as the rows allow. swiglu has two weights, so either Q or P stands twice. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_ARGS_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_ARGS_H

#include <stdint.h>

#include "epilogue_step.h"
#include "tandem/gemm.h"

/* A tensor map of the CUDA driver: opaque. */
typedef struct wg_map {
  uint64_t word[16];
} __attribute__((aligned(64))) wg_map;

/* An operand's matrix, [batch][lines][k] or [batch][k][lines]. */
typedef struct wg_operand {
  wg_map map[2]; /* the second: swiglu's second weight */
  int batches;   /* 0: all matrices of the batch use one */
} wg_operand;

/* A matrix of C's shape that is added: the residual, or C as it was, if beta is not 0. */
enum { WG_NOTHING, WG_RESIDUAL, WG_OLD };

enum { WG_FEW = 4 /* steps of an epilogue that a launch has in its arguments */ };

typedef struct wg_args {
  wg_operand p, q;
  void *c;
  const void *bias, *residual;
  const epilogue_step *step; /* of the epilogue, in memory of the device, if there are more than WG_FEW */
  epilogue_step few[WG_FEW];
  int64_t ldc, stride_c, ldr, stride_r;
  float alpha;
  int steps;            /* of the epilogue */
  int out;              /* tdm_type */
  int ahead;            /* what the end of a tile reads ahead: WG_NOTHING, WG_RESIDUAL, WG_OLD */
  int lines, columns;   /* of P and of Q, in one matrix */
  int k_steps;          /* of WG_STEP */
  int groups;           /* warpgroups of a block: a tile has 64 lines for each */
  int stages;           /* of shared memory */
  int sharers;          /* blocks of a cluster that share their Q: 1, 2 */
  int splits;           /* blocks of a cluster that share a tile's k: 1 to 8; only with one sharer */
  int tiles_p, tiles_q; /* of one matrix; tiles_p: for all sharers together */
  int units;            /* tiles of all matrices, each the work of a cluster */
  int apart;            /* the second warpgroup begins later: each multiplies while the other ends a tile */
  int swapped;          /* P are the columns of C, Q its rows */
  int vectors;          /* 1: C, the residual and the bias can be accessed in aligned vectors of 4 elements */
  int short_way;        /* not 0: tiles end in the short way (wgmma_end.h) */
} wg_args;

#endif
