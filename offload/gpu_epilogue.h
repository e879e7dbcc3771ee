/* From a thread's sums to the output. Chains of an epilogue run in a loop over the sums, copied to the thread's own memory:
 * unrolled over 128 registers they would be 100 KB of code. */
#ifndef TANDEM_OFFLOAD_GPU_EPILOGUE_H
#define TANDEM_OFFLOAD_GPU_EPILOGUE_H

#include "epilogue_map.h"
#include "gpu_tile.h"

/* A matrix of the output's shape, one of a batch: C, residual. */
typedef struct gpu_matrix {
  void *base;
  int64_t stride, ld;
  tdm_type type;
} gpu_matrix;

TDM_INLINE int64_t gpu_offset(const gpu_matrix *x, int batch, int row, int column) {
  return batch * x->stride + row * x->ld + column;
}

/* Vectors of whole tiles are aligned. */
TDM_INLINE bool gpu_matrix_aligned(const gpu_matrix *x) {
  return (uintptr_t)x->base % (4 * (uintptr_t)gpu_bytes(x->type)) == 0 && x->ld % 4 == 0 && x->stride % 4 == 0;
}

/* The first `count` of 4 elements; the others are 0. */
TDM_INLINE gpu_vec gpu_load(const void *base, int64_t at, int count, tdm_type type) {
  gpu_vec v;
  TDM_UNROLL
  for (int e = 0; e < 4; e++) v[e] = e < count ? tdm_load(base, at + e, type) : 0;
  return v;
}

TDM_INLINE void gpu_store(void *base, int64_t at, int count, tdm_type type, gpu_vec v) {
  TDM_UNROLL
  for (int e = 0; e < 4; e++)
    if (e < count) tdm_store(base, at + e, type, v[e]);
}

TDM_INLINE void gpu_store_aligned(void *base, int64_t at, tdm_type type, gpu_vec v) {
  if (type == TDM_F32) {
    *(TDM_GLOBAL gpu_vec *)((float *)base + at) = v;
  } else {
    uint32_t word[4];
    TDM_UNROLL
    for (int e = 0; e < 4; e++) word[e] = type == TDM_F16 ? tdm_f32_to_f16(v[e]) : tdm_f32_to_bf16(v[e]);
    *(TDM_GLOBAL gpu_half_words *)((uint16_t *)base + at) = (gpu_half_words){word[0] | word[1] << 16, word[2] | word[3] << 16};
  }
}

/* A whole tile, as it is. */
TDM_INLINE void gpu_write_typed(gpu_sums sums, const gpu_matrix *c, gpu_place place, int thread, float alpha, tdm_type type) {
  int64_t at = gpu_offset(c, place.batch, place.m0 + gpu_row(thread), place.n0 + gpu_column(thread));
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++)
    gpu_store_aligned(c->base, at + gpu_row_of(i) * c->ld + gpu_column_of(j), type, sums[i][j] * alpha);
}
TDM_INLINE void gpu_write(gpu_sums sums, const gpu_matrix *c, gpu_place place, int thread, float alpha) {
  TDM_BY_TYPE(c->type, gpu_write_typed, sums, c, place, thread, alpha)
}

/* Four neighbours in the output, and how many of them lie inside. */
typedef struct gpu_four {
  int batch, row, column, count;
} gpu_four;

/* i, j: of a thread's sums. */
TDM_INLINE gpu_four gpu_four_at(const gpu_grid *grid, gpu_place place, int thread, int i, int j) {
  int row = place.m0 + gpu_row(thread) + gpu_row_of(i), column = place.n0 + gpu_column(thread) + gpu_column_of(j);
  return (gpu_four){place.batch, row, column, row < grid->m ? grid->n - column : 0};
}

TDM_INLINE gpu_vec gpu_load_four(const gpu_matrix *x, gpu_four at) {
  int64_t offset = gpu_offset(x, at.batch, at.row, at.column);
  switch (x->type) {
    case TDM_F32: return gpu_load(x->base, offset, at.count, TDM_F32);
    case TDM_F16: return gpu_load(x->base, offset, at.count, TDM_F16);
    case TDM_BF16: return gpu_load(x->base, offset, at.count, TDM_BF16);
  }
  return (gpu_vec){0};
}

TDM_INLINE void gpu_store_four(const gpu_matrix *x, gpu_four at, gpu_vec v) {
  int64_t offset = gpu_offset(x, at.batch, at.row, at.column);
  switch (x->type) {
    case TDM_F32: gpu_store(x->base, offset, at.count, TDM_F32, v); break;
    case TDM_F16: gpu_store(x->base, offset, at.count, TDM_F16, v); break;
    case TDM_BF16: gpu_store(x->base, offset, at.count, TDM_BF16, v); break;
  }
}

#endif
