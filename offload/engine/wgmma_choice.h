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
  int64_t ld_out; /* leading dimensions and strides of C and the residual, or-ed */
  int short_way;  /* what is added to the product: WG_SHORT, WG_SHORT_BIAS, WG_SHORT_RESIDUAL; 0: more than these */
} wg_problem;

typedef struct wg_choice {
  int number; /* which of the op's kernels: its place in `columns` */
  int n;      /* columns of an instruction */
  int groups, splits, sharers;
  bool swapped; /* P is B */
  double ns;    /* estimate, launch included */
} wg_choice;

/* The fastest of all cuts by the estimate. columns: of the op's `count` kernels. no_splits: for launches that are smaller
 * than the work. */
wg_choice wg_choose(const wg_problem *x, const int *columns, int count, int processors, bool no_splits);

/* Is there such a cut of this product? */
bool wg_is_possible(const wg_problem *x, const wg_choice *choice);

/* Can the kernel end tiles in the short way (wg_end_short), if the arrays are aligned? */
bool wg_may_be_short(const wg_problem *x, const wg_choice *choice);

/* Bytes of a stage of shared memory. */
int wg_stage_bytes(const wg_problem *x, const wg_choice *choice);
/* Must the operand be copied to rows of whole 16 bytes first (wgmma_pack.h)? */
bool wg_must_pack(const wg_problem *x, const wg_matrix *operand);

#endif
