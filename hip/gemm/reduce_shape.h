/* The blocks of C that gemm_reduce's workgroups add, shared by host and device: rows of one matrix, of which each work-item has
 * four columns. A row has a power of two of work-items beside each other, so only the scalar unit divides. */
#ifndef TANDEM_HIP_GEMM_REDUCE_SHAPE_H
#define TANDEM_HIP_GEMM_REDUCE_SHAPE_H

#include "args.h"

enum { REDUCE_BITS = 8, REDUCE_THREADS = 1 << REDUCE_BITS };

/* The bits of a work-item's number that say which four of a row it has; `fours` is at least 1. */
TDM_ORDER_FUNCTION int reduce_bits(int64_t fours) {
  if (fours >= REDUCE_THREADS) return REDUCE_BITS;
  return fours > 1 ? 32 - __builtin_clz((uint32_t)fours - 1) : 0;
}
/* Blocks beside each other in a row, and in a matrix. */
TDM_ORDER_FUNCTION int64_t reduce_across(int64_t fours) { return ((fours - 1) >> reduce_bits(fours)) + 1; }
TDM_ORDER_FUNCTION int64_t reduce_blocks(int64_t rows, int64_t fours) {
  return (((rows - 1) >> (REDUCE_BITS - reduce_bits(fours))) + 1) * reduce_across(fours);
}

#endif
