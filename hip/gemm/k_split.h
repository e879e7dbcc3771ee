/* A K split: which part of K a workgroup sums. */
#ifndef TANDEM_HIP_GEMM_K_SPLIT_H
#define TANDEM_HIP_GEMM_K_SPLIT_H

#include "args.h"
#include "hip/engine/k_part.h"

/* The operands of one matrix of the batch, from the first k of the part on. */
typedef struct gemm_part {
  const char *a, *b;
  int64_t depth;
} gemm_part;

/* For the tile order, the matrices are the parts of the batch's first matrix, then those of the second, and so on. */
DEVICE gemm_part part_of_matrix(const gemm_args *g, uint32_t matrix, uint32_t part, tdm_type type) {
  const int bytes = tdm_bytes(type);
  const uint32_t parts = (uint32_t)g->parts;
  const char *a = (const char *)g->a + matrix * g->stride_a * bytes, *b = (const char *)g->b + matrix * g->stride_b * bytes;
  if (__builtin_expect(parts == 1, 1)) return (gemm_part){a, b, g->k};
  const k_part k = k_part_of(g->k, g->part_units, (uint32_t)g->longer_parts, part, parts, type);
  return (gemm_part){a + k.first * (g->a_along_k ? 1 : g->lda) * bytes, b + k.first * (g->b_along_k ? 1 : g->ldb) * bytes,
                     k.count};
}

DEVICE gemm_part part_of(const gemm_args *g, uint32_t number, tdm_type type) {
  const uint32_t parts = (uint32_t)g->parts, matrix = parts == 1 ? number : number / parts;
  return part_of_matrix(g, matrix, number - matrix * parts, type);
}

#endif
