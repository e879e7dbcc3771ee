/* What the key splits of decode and of flash in units store until they are added, in f32: [workgroup][row][head_dim], the sums
 * of probabilities times values; and after them [workgroup][row][2], the reference (the sums are relative to 2 to this power)
 * and the sum of the probabilities. Where waves add the rows that they have themselves (few parts of decode, and flash in one
 * launch), parts are stored as these have them in registers, so that what a wave stores and loads at once are whole lines:
 * [workgroup][wave][8 columns][lane][4]. Workgroup: key split + splits * unit. Unit, row: as in work.h. */
#ifndef TANDEM_HIP_ATTENTION_KEY_SPLITS_H
#define TANDEM_HIP_ATTENTION_KEY_SPLITS_H

#include "args.h"
#include "hip/device/types.h"

/* Rows of a unit; the last block of a head of keys may have fewer. */
DEVICE uint32_t rows_of_part(const attention_args *a, uint32_t block_rows = GENERAL_ROWS) {
  return a->group_rows < block_rows ? a->group_rows : block_rows;
}

/* Of the block that begins with row `first`. */
DEVICE uint32_t rows_of_block(const attention_args *a, uint32_t first, uint32_t block_rows = GENERAL_ROWS) {
  const uint32_t left = a->group_rows - first;
  return left < block_rows ? left : block_rows;
}

DEVICE float *part_results(const attention_args *a, uint32_t workgroup) {
  return a->parts + (uint64_t)workgroup * a->part_floats;
}

DEVICE float *part_numbers(const attention_args *a, uint32_t workgroup, uint32_t block_rows = GENERAL_ROWS) {
  return part_results(a, a->count) + (uint64_t)workgroup * (2 * rows_of_part(a, block_rows));
}

#endif
