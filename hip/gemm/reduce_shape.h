/* The blocks of C that gemm_reduce's workgroups add, shared by host and device: rows of one matrix, of which each work-item has
 * four columns. A row has a power of two of work-items beside each other, so only the scalar unit divides. */
#ifndef TANDEM_HIP_GEMM_REDUCE_SHAPE_H
#define TANDEM_HIP_GEMM_REDUCE_SHAPE_H

#include "args.h"

enum { REDUCE_BITS = 8, REDUCE_THREADS = 1 << REDUCE_BITS };

enum { LEAST_REDUCE_BITS = 5 }; /* 32 fours of a row of partial sums are whole cache lines */

/* The bits of a work-item's number that say which four of a row it has; `fours` is at least 1. Work-items after the end of a
 * row have nothing to add, so fewer bits are taken where that leaves less than 3 in 4 without: 275 fours (1100 columns) are
 * 9 times 32 and not 2 times 256. Only the host computes it. */
static inline int reduce_bits(int64_t fours) {
  int most = 0, best;
  while (most < REDUCE_BITS && (int64_t)1 << most < fours) most++;
  best = most;
  for (int bits = most - 1; bits >= LEAST_REDUCE_BITS; bits--) {
    const int64_t all = (((fours - 1) >> bits) + 1) << bits, of_best = (((fours - 1) >> best) + 1) << best;
    if (4 * all < 3 * of_best) best = bits;
  }
  return best;
}
/* Blocks beside each other in a row, and in a matrix. */
TDM_ORDER_FUNCTION int64_t reduce_across(int64_t fours, int bits) { return ((fours - 1) >> bits) + 1; }
TDM_ORDER_FUNCTION int64_t reduce_blocks(int64_t rows, int64_t fours, int bits) {
  return (((rows - 1) >> (REDUCE_BITS - bits)) + 1) * reduce_across(fours, bits);
}

#endif
