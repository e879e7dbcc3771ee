/* What happens to the sums of a micro tile before they are stored: gemm's epilogue, in f32. */
#ifndef TANDEM_OFFLOAD_ENGINE_EPILOGUE_H
#define TANDEM_OFFLOAD_ENGINE_EPILOGUE_H

#include "epilogue_map.h"
#include "offload/device/chunk.h"
#include "tile.h"

/* The values of a micro tile. On GPUs every loop over them is unrolled, so that they stay in registers. */
typedef float micro_values[MICRO_M][MICRO_N];

/* A micro tile's sums as values. GPUs copy them from registers to registers. On hosts they are the same memory: gcc and
 * clang allow reading the elements of a vector as floats. */
#if TDM_ON_GPU
#define MICRO_VALUES_OF(name, sums)                                                               \
  micro_values name;                                                                              \
  TDM_UNROLL for (int i = 0; i < MICRO_M; i++) TDM_UNROLL for (int j = 0; j < MICRO_VECTORS; j++) \
      tdm_vec_store(&name[i][j * TDM_LANES], (sums)[i][j])
#else
#define MICRO_VALUES_OF(name, sums) float(*name)[MICRO_N] = (float(*)[MICRO_N])(sums)
#endif

/* The rows of a micro tile. Hosts leave out rows that are not in the matrix. */
#if TDM_ON_GPU
#define TILE_EACH_ROW(i, count) TDM_UNROLL for (int i = ((void)(count), 0); i < MICRO_M; i++)
#else
#define TILE_EACH_ROW(i, count) for (int i = 0; i < (count); i++)
#endif
#define TILE_EACH_COLUMN(j) \
  TDM_UNROLL_ON_GPU         \
  for (int j = 0; j < MICRO_N; j++)

/* Where a micro tile is in a matrix of the output's shape, and how much of it is inside. */
typedef struct micro_place {
  int64_t batch, m0, n0;
  int rows, cols;
} micro_place;

TDM_INLINE micro_place micro_place_at(tile_place place, int micro, int64_t m, int64_t n) {
  tile_micro at = tile_micro_at(micro, place.micros_m, place.micros_n);
  int64_t m0 = place.m0 + at.m * MICRO_M, n0 = place.n0 + at.n * MICRO_N;
  return (micro_place){place.batch, m0, n0, (int)tdm_min(MICRO_M, m - m0), (int)tdm_min(MICRO_N, n - n0)};
}

/* A matrix of the output's shape: C, residual. */
typedef struct micro_matrix {
  void *base;
  int64_t stride, ld;
  tdm_type type;
  bool stream; /* non-temporal stores; hosts only, see micro_streams */
} micro_matrix;

TDM_INLINE int64_t micro_offset(const micro_matrix *x, micro_place at, int row) {
  return at.batch * x->stride + (at.m0 + row) * x->ld + at.n0;
}

/* Loads `cols` elements as a row of MICRO_N values; the others become 0. */
TDM_INLINE void micro_load_typed(float *row, const void *base, int64_t at, int cols, tdm_type type) {
  TDM_UNROLL
  for (int j = 0; j < MICRO_N; j += TDM_LANES) tdm_vec_store(row + j, tdm_vec_load_some(base, at + j, cols - j, type));
}

TDM_INLINE void micro_load(float *row, const void *base, int64_t at, int cols, tdm_type type) {
  TDM_BY_TYPE(type, micro_load_typed, row, base, at, cols);
}

/* May a matrix be stored with non-temporal stores? Only if the rows of a micro tile are whole cache lines: parts of lines
 * cost more than the reads that they save. */
enum { MICRO_LINE = 64 };

TDM_INLINE bool micro_streams(const micro_matrix *x) {
  uint64_t size = (uint64_t)tdm_size(x->type);
  return TDM_STREAMS &&
         (MICRO_N * size | (uint64_t)x->ld * size | (uint64_t)x->stride * size | (uintptr_t)x->base) % MICRO_LINE == 0;
}

TDM_INLINE void micro_store_typed(micro_values x, const micro_matrix *to, micro_place at, tdm_type type) {
#if !TDM_ON_GPU
  if (to->stream && at.cols == MICRO_N) {
    for (int i = 0; i < at.rows; i++) tdm_chunk_write(to->base, micro_offset(to, at, i), MICRO_N, type, 1, x[i]);
    return;
  }
#endif
  TILE_EACH_ROW(i, at.rows) {
    if (i >= at.rows) break;
    TDM_UNROLL
    for (int j = 0; j < MICRO_N; j += TDM_LANES)
      tdm_vec_store_some(to->base, micro_offset(to, at, i) + j, at.cols - j, type, tdm_vec_load(&x[i][j]));
  }
}

TDM_INLINE void micro_store(micro_values x, const micro_matrix *to, micro_place at) {
  TDM_BY_TYPE(to->type, micro_store_typed, x, to, at);
}

/* x += factor * matrix. */
TDM_INLINE void micro_add(micro_values x, const micro_matrix *matrix, float factor, micro_place at) {
  TILE_EACH_ROW(i, at.rows) {
    if (i >= at.rows) break;
    float row[MICRO_N] = {0};
    micro_load(row, matrix->base, micro_offset(matrix, at, i), at.cols, matrix->type);
    TILE_EACH_COLUMN(j) x[i][j] += factor * row[j];
  }
}

TDM_INLINE void micro_add_bias(micro_values x, const void *bias, tdm_type type, micro_place at) {
  float row[MICRO_N] = {0};
  micro_load(row, bias, at.n0, at.cols, type);
  TILE_EACH_ROW(i, at.rows) TILE_EACH_COLUMN(j) x[i][j] += row[j];
}

/* Applies the step to every value, including values outside of the matrix, which are not stored. */
#define MICRO_MAP(op) \
  case op: TILE_EACH_ROW(i, at.rows) TILE_EACH_COLUMN(j) x[i][j] = tdm_epilogue_map(x[i][j], op, step.value); break

/* A step without an array. */
TDM_INLINE void micro_map(micro_values x, tdm_epilogue_step step, micro_place at) {
  switch (step.op) {
    case TDM_BIAS:
    case TDM_RESIDUAL:
      break; /* they add an array */
      MICRO_MAP(TDM_RELU);
      MICRO_MAP(TDM_GELU);
      MICRO_MAP(TDM_GELU_TANH);
      MICRO_MAP(TDM_QUICK_GELU);
      MICRO_MAP(TDM_LEAKY_RELU);
      MICRO_MAP(TDM_SILU);
      MICRO_MAP(TDM_SCALE);
      MICRO_MAP(TDM_DIVIDE);
  }
}

/* swiglu: replaces gate by silu(gate) * up. */
TDM_INLINE void micro_silu_mul(micro_values gate, micro_values up, micro_place at) {
  TILE_EACH_ROW(i, at.rows) TILE_EACH_COLUMN(j) gate[i][j] = tdm_silu(gate[i][j]) * up[i][j];
}

/* The arrays of a launch of gemm. */
typedef struct gemm_arrays {
  const void *a, *b;
  void *c;
  const void *bias, *residual;
  bool stream; /* non-temporal stores of C */
} gemm_arrays;

/* From alpha A B to C: adds beta C, applies the epilogue, and stores. */
TDM_INLINE void micro_finish(micro_values x, const tdm_gemm_desc *d, const tdm_epilogue_step *step, int64_t steps,
                             const gemm_arrays *arrays, micro_place at) {
  micro_matrix c = {arrays->c, d->stride_c, d->ldc, d->out, arrays->stream};
  micro_matrix residual = {(void *)(uintptr_t)arrays->residual, d->stride_r, d->ldr, d->out, false};
  if (d->beta != 0) micro_add(x, &c, d->beta, at);
  for (int64_t s = 0; s < steps; s++) {
    if (step[s].op == TDM_BIAS)
      micro_add_bias(x, arrays->bias, d->type, at);
    else if (step[s].op == TDM_RESIDUAL)
      micro_add(x, &residual, 1, at);
    else
      micro_map(x, step[s], at);
  }
  micro_store(x, &c, at);
}

#endif
