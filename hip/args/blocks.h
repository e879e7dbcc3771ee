/* Rows in blocks, for elementwise kernels: which elements a work-item has. Host code fills this in, device code loops over
 * it. */
#ifndef TANDEM_HIP_ARGS_BLOCKS_H
#define TANDEM_HIP_ARGS_BLOCKS_H

#include <stdint.h>

enum { HIP_BLOCK_THREADS = 256 };

/* The unit of work of one workgroup is a block of a row, with a chunk (16 bytes) for each work-item. Shorter rows share a
 * unit: 2^lanes_log2 work-items take one row. A workgroup strides over the units: by `groups_step` groups of rows, and
 * `blocks_step` blocks. */
typedef struct hip_blocks {
  int64_t rows, cols;
  int64_t blocks, groups; /* blocks of one row; groups of rows that share a unit */
  int64_t groups_step, blocks_step;
  int64_t lanes_log2;
} hip_blocks;

#endif
