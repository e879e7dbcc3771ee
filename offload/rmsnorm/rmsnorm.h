/* What both kernels of rmsnorm share: the sum of x and residual, and its squares. */
#ifndef TANDEM_OFFLOAD_RMSNORM_RMSNORM_H
#define TANDEM_OFFLOAD_RMSNORM_RMSNORM_H

#include "offload/engine/row_work.h"

typedef struct rmsnorm_arrays {
  const void *x, *weight, *residual;
  void *sum, *y;
} rmsnorm_arrays;

/* A chunk of x, plus the residual if there is one; otherwise at_r is not used. */
TDM_INLINE const float *read_sum(rmsnorm_arrays a, int64_t at_x, int64_t at_r, int64_t n, tdm_type type, float *buffer) {
  TDM_CHUNK_BUFFER(buffer_x);
  TDM_CHUNK_BUFFER(buffer_r);
  if (a.residual == NULL) return tdm_chunk_read(a.x, at_x, n, type, buffer);
  const float *x = tdm_chunk_read(a.x, at_x, n, type, buffer_x), *r = tdm_chunk_read(a.residual, at_r, n, type, buffer_r);
  TDM_EACH(j, n) buffer[j] = x[j] + r[j];
  return buffer;
}

/* In f32, which is twice as fast as f64; in f64 if f32 overflows (|s| from 1.8e19 on) or may have lost squares below
 * 2^-126. */
TDM_INLINE double sum_of_squares(const float *s, int64_t n) {
  float fast = tdm_chunk_sum(s, n, 2);
  if (fast > 0x1p-90f && fast < __builtin_inff()) return fast;
  double wide = 0;
  TDM_SIMD_REDUCE(+ : wide)
  for (int64_t j = 0; j < n; j++) wide += (double)s[j] * s[j];
  return wide;
}

TDM_INLINE float inverse_root(double squares, tdm_rmsnorm_desc d) {
  return (float)(1 / __builtin_sqrt(squares / (double)d.cols + d.eps));
}

#endif
