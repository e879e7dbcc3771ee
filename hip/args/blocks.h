/* Rows in blocks, for elementwise kernels: which elements a work-item has. Host code fills it in, device code walks over it. */
#ifndef TANDEM_HIP_BLOCKS_H
#define TANDEM_HIP_BLOCKS_H

#include <stdint.h>

enum { HIP_BLOCK_THREADS = 256 };

/* A unit of work, for one workgroup, is a block of a row: a chunk (16 bytes) for each work-item. Rows shorter than that share
 * a unit: 2^lanes_log2 work-items take one. */
typedef struct hip_blocks {
  int64_t rows, cols;
  int64_t blocks, units; /* of a row; of all rows */
  int64_t workgroups;    /* each strides over the units by this */
  int64_t lanes_log2;
} hip_blocks;

#endif
