/* How a product is cut for Hopper's matrix units: the tile, the splits of k, which operand is P. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_CHOICE_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "tandem/tandem.h"

/* One operand, A or B: [batch][lines][k] if by_k, else [batch][k][lines]. */
typedef struct wg_matrix {
  int64_t lines, ld, stride; /* elements */
  bool by_k, broadcast;
} wg_matrix;

typedef struct wg_problem {
  wg_matrix a, b[2]; /* b[1]: swiglu's second weight, which differs from b[0] in ld alone */
  int64_t k, batch;
  int weights;
  tdm_type type, out;
  int64_t ld_out;  /* leading dimensions and strides of C and the residual, or-ed */
  int maps, added; /* steps of the epilogue that compute a function, and that add a matrix */
  bool short_way;  /* not more than one matrix of C's shape is added: the residual, or C as it was */
} wg_problem;

typedef struct wg_choice {
  int number; /* which of the op's kernels: its place in `columns` */
  int n;      /* columns of an instruction */
  int groups, splits, sharers;
  bool swapped; /* P is B */
  double ns;    /* estimate, launch included */
} wg_choice;

/* What the estimate is made of: FLOP or bytes of a nanosecond, then nanoseconds. */
#define WG_TIMES(X)                                                                  \
  X(flop_one)   /* FLOP, of a multiprocessor with one warpgroup */                   \
  X(flop_two)   /* and with two */                                                   \
  X(copy)       /* bytes, from the L2 to a multiprocessor */                         \
  X(copy_all)   /* and to all of them */                                             \
  X(memory)     /* bytes, from memory */                                             \
  X(store)      /* and to memory */                                                  \
  X(step)       /* the least that a step takes */                                    \
  X(tile)       /* what a tile costs beside its steps and its end */                 \
  X(end)        /* the end of a tile of 128 x 256 in the short way (wgmma_end.h) */  \
  X(long_end)   /* and otherwise */                                                  \
  X(map)        /* a step of the epilogue that computes a function, for 128 x 256 */ \
  X(added)      /* and one that adds a matrix */                                     \
  X(split)      /* the exchange of the sums of a split tile */                       \
  X(split_sums) /* and its part that grows with the tile, for 128 x 256 */           \
  X(fill)       /* from the first copy to the first product */                       \
  X(launch)     /* a call that waits for the end */                                  \
  X(pack)       /* the launch that packs operands, beside their bytes */

typedef struct wg_times {
#define WG_TIME(name) double name;
  WG_TIMES(WG_TIME)
#undef WG_TIME
} wg_times;

/* Fitted to an H200's. */
extern const wg_times wg_h200;

double wg_estimate(const wg_problem *x, const wg_choice *choice, int processors, const wg_times *times);

/* The fastest of all cuts by the estimate. columns: of the op's `count` kernels. no_splits: for launches that are smaller
 * than the work. */
wg_choice wg_choose(const wg_problem *x, const int *columns, int count, int processors, bool no_splits);

/* For the program that times cuts: wg_choose asks it, if it is not NULL. */
extern wg_choice (*wg_choose_instead)(const wg_problem *x, const int *columns, int count, int processors, bool no_splits);

/* Is there such a cut of this product? */
bool wg_is_possible(const wg_problem *x, const wg_choice *choice);

/* Can the kernel end tiles in the short way (wgmma_end.h), if the arrays are aligned? */
bool wg_may_be_short(const wg_problem *x, const wg_choice *choice);

/* Bytes of a stage of shared memory. */
int wg_stage_bytes(const wg_problem *x, const wg_choice *choice);
/* Must the operand be copied to rows of whole 16 bytes first (wgmma_pack.h)? */
bool wg_must_pack(const wg_problem *x, const wg_matrix *operand);

#endif
