/* From a thread's sums to the output. The epilogue runs in a loop over the rows of sums: unrolled over 128 registers, its
 * code would be 100 KB. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_EPILOGUE_H
#define TANDEM_OFFLOAD_ENGINE_GPU_EPILOGUE_H

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
  return (uintptr_t)x->base % (4 * (uintptr_t)tdm_bytes(x->type)) == 0 && x->ld % 4 == 0 && x->stride % 4 == 0;
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

/* 4 elements of a vector that is inside of the matrix, and aligned. */
TDM_INLINE gpu_vec gpu_load_aligned(const void *base, int64_t at, tdm_type type) {
  if (type == TDM_F32) return *(const TDM_GLOBAL gpu_vec *)((const float *)base + at);
  gpu_half_words two = *(const TDM_GLOBAL gpu_half_words *)((const uint16_t *)base + at);
  gpu_words part = {two[0], two[1], 0, 0};
  return (gpu_vec){gpu_value(part, 0, type), gpu_value(part, 1, type), gpu_value(part, 2, type), gpu_value(part, 3, type)};
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

/* A non-temporal store: the data leave the L2 before operands do. */
TDM_INLINE void gpu_store_streaming(float *at, gpu_vec v) {
#if defined(__NVPTX__)
  __asm__ volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" : : "l"(at), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]));
#else
  *(TDM_GLOBAL gpu_vec *)at = v;
#endif
}

/* Stores a whole tile, without an epilogue. */
TDM_INLINE void gpu_write_typed(gpu_sums sums, const gpu_matrix *c, gpu_place place, int thread, tdm_type type) {
  int64_t at = gpu_offset(c, place.batch, place.m0 + gpu_row(thread), place.n0 + gpu_column(thread));
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++)
    gpu_store_aligned(c->base, at + gpu_row_of(i) * c->ld + gpu_column_of(j), type, sums[i][j]);
}

/* A thread's part of one row of a tile. Its accesses are outstanding together. */
typedef struct gpu_line {
  gpu_vec v[GPU_VECTORS];
} gpu_line;

/* Where it is: vector j has its columns at column + gpu_column_of(j). */
typedef struct gpu_line_at {
  int batch, row, column;
  int columns; /* columns of the matrix from `column` on; 0 or less: the line is outside */
  int vectors; /* number of vectors */
  bool whole;  /* all of them are inside */
} gpu_line_at;

/* Line i of a thread. */
TDM_INLINE gpu_line_at gpu_line_of(const gpu_grid *grid, gpu_place place, int thread, int i, int weights) {
  int row = place.m0 + gpu_row(thread) + gpu_row_of(i), column = place.n0 + gpu_column(thread);
  int columns = row < grid->m ? grid->n - column : 0;
  return (gpu_line_at){place.batch, row, column, columns, GPU_VECTORS / weights, gpu_is_whole(grid, place, weights)};
}

TDM_INLINE void gpu_load_line_typed(gpu_line *line, const gpu_matrix *x, gpu_line_at at, tdm_type type) {
  int64_t offset = gpu_offset(x, at.batch, at.row, at.column);
  bool plain = at.whole && gpu_matrix_aligned(x);
  TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) {
    if (j >= at.vectors) continue;
    int64_t from = offset + gpu_column_of(j);
    line->v[j] = plain ? gpu_load_aligned(x->base, from, type) : gpu_load(x->base, from, at.columns - gpu_column_of(j), type);
  }
}
TDM_INLINE gpu_line gpu_load_line(const gpu_matrix *x, gpu_line_at at) {
  gpu_line line;
  TDM_BY_TYPE(x->type, gpu_load_line_typed, &line, x, at);
  return line;
}

TDM_INLINE void gpu_store_line_typed(const gpu_line *line, const gpu_matrix *x, gpu_line_at at, tdm_type type) {
  int64_t offset = gpu_offset(x, at.batch, at.row, at.column);
  bool plain = at.whole && gpu_matrix_aligned(x);
  TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) {
    if (j >= at.vectors) continue;
    int64_t to = offset + gpu_column_of(j);
    if (plain)
      gpu_store_aligned(x->base, to, type, line->v[j]);
    else
      gpu_store(x->base, to, at.columns - gpu_column_of(j), type, line->v[j]);
  }
}
TDM_INLINE void gpu_store_line(const gpu_line *line, const gpu_matrix *x, gpu_line_at at) {
  TDM_BY_TYPE(x->type, gpu_store_line_typed, line, x, at);
}

/* Returns the first row of a thread's sums, and moves the others up. So a loop over rows, whose code exists once, finds
 * each row in the same registers. A loop could also reach rows in a thread's own memory, but that slowed down the whole
 * kernel: on an H200 swiglu f32 nt 2048x8192x2048 took 3.02 instead of 2.76 ms. */
TDM_INLINE gpu_line gpu_take_row(gpu_sums sums) {
  gpu_line line;
  TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) line.v[j] = sums[0][j];
  TDM_UNROLL
  for (int i = 0; i + 1 < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) sums[i][j] = sums[i + 1][j];
  return line;
}

#endif
