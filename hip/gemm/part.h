/* Split-K: which part of k a workgroup sums. */
#ifndef TANDEM_HIP_GEMM_PART_H
#define TANDEM_HIP_GEMM_PART_H

#include "args.h"
#include "hip/device/mfma.h"

/* The operands of one matrix of the batch, from the part's first value of k on. */
typedef struct gemm_part {
  const char *a, *b;
  int64_t depth;
} gemm_part;

/* The tile order's matrices are the parts of the first matrix of the batch, then those of the second. Parts are of
 * g->part_units units of GEMM_UNIT bytes along k, the first g->longer_parts of one more; the last has what is left as well. */
DEVICE gemm_part part_of(const gemm_args *g, uint32_t number, tdm_type type) {
  const int bytes = type_bytes(type), values = GEMM_UNIT / bytes;
  uint32_t parts = (uint32_t)g->parts, matrix = number / parts, part = number - matrix * parts;
  int64_t longer = part < (uint32_t)g->longer_parts ? part : g->longer_parts;
  int64_t k0 = (part * g->part_units + longer) * values;
  int64_t k1 = part + 1 == parts ? g->k : k0 + (g->part_units + (part < (uint32_t)g->longer_parts)) * values;
  return (gemm_part){(const char *)g->a + (matrix * g->stride_a + k0 * (g->a_along_k ? 1 : g->lda)) * bytes,
                     (const char *)g->b + (matrix * g->stride_b + k0 * (g->b_along_k ? 1 : g->ldb)) * bytes, k1 - k0};
}

#endif
