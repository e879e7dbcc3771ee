/* What the steps of the gemm ladder share: their argument. C = A B^T in bf16, A [m, k], B [n, k]: both run along k, as x and W
 * of a Linear layer do. Sums are f32. */
#ifndef TANDEM_LADDER_GEMM_STEP_H
#define TANDEM_LADDER_GEMM_STEP_H

#include <stdint.h>

typedef struct gemm_step_args {
  const void *a, *b;
  void *c;
  int64_t m, n, k, lda, ldb, ldc; /* ld: elements from one row to the next */
  uint32_t tiles_m, tiles_n, xcds;
} gemm_step_args;

#ifdef __HIP__
#include "hip/device/types.h"

DEVICE uint32_t workgroup_index(void) { return (uint32_t)__builtin_amdgcn_workgroup_id_x(); }
#endif

#endif
