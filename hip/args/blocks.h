/* Rows of elementwise kernels: which elements a work-item has. Host code fills this in, device code loops over
 * it. */
#ifndef TANDEM_HIP_ARGS_BLOCKS_H
#define TANDEM_HIP_ARGS_BLOCKS_H

#include "divisor.h"

enum { HIP_BLOCK_THREADS = 256 };

/* Each row has `items`: a chunk (16 bytes) each, unless a kernel says otherwise. The items of all rows are numbered one after
 * another, and work-items take them in that order, 256 in a unit of work, so that rows of any length leave no lane idle. A
 * workgroup strides over the units: by `rows_step` rows and `items_step` items, which is less than a row. */
typedef struct hip_blocks {
  int64_t rows;
  int64_t items;        /* of a row */
  hip_divisor by_items; /* none if the items of all rows are too many for it */
  int64_t cols;
  int64_t units, workgroups;
  int64_t rows_step, items_step;
} hip_blocks;

#endif
