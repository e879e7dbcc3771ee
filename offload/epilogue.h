/* The epilogue chain of gemm on one row of a micro tile, in f32. */
#ifndef TANDEM_OFFLOAD_EPILOGUE_H
#define TANDEM_OFFLOAD_EPILOGUE_H

#include "math.h"
#include "tandem/gemm.h"
#include "tile.h"

/* x[j] for the columns of a micro tile; those beyond the matrix hold 0 and are not stored. */
typedef struct epilogue_row {
  float x[MICRO_N], bias[MICRO_N], residual[MICRO_N];
} epilogue_row;

#define TDM_EACH_COLUMN(expression)   \
  for (int j = 0; j < MICRO_N; j++) { \
    float v = row->x[j];              \
    row->x[j] = (expression);         \
  }

TDM_INLINE void tdm_epilogue_apply(epilogue_row *row, tdm_epilogue_step step) {
  float value = step.value;
  switch (step.op) {
    case TDM_BIAS: TDM_EACH_COLUMN(v + row->bias[j]) break;
    case TDM_RESIDUAL: TDM_EACH_COLUMN(v + row->residual[j]) break;
    case TDM_RELU: TDM_EACH_COLUMN(v < 0 ? 0 : v) break; /* NaN < 0 is false: it stays */
    case TDM_GELU: TDM_EACH_COLUMN(0.5f * v * (1 + tdm_erf(v * 0.70710678f))) break;
    case TDM_GELU_TANH: TDM_EACH_COLUMN(0.5f * v * (1 + tdm_tanh(0.79788456f * (v + 0.044715f * v * v * v)))) break;
    case TDM_QUICK_GELU: TDM_EACH_COLUMN(v * tdm_sigmoid(1.702f * v)) break;
    case TDM_LEAKY_RELU: TDM_EACH_COLUMN(v < 0 ? value * v : v) break;
    case TDM_SILU: TDM_EACH_COLUMN(tdm_silu(v)) break;
    case TDM_SCALE: TDM_EACH_COLUMN(v * value) break;
    case TDM_DIVIDE: TDM_EACH_COLUMN(v / value) break;
  }
}

/* A row's first `count` (at most MICRO_N) columns; the others become 0 and are not stored. */
TDM_INLINE void tile_load_typed(float *to, const void *base, int64_t at, int64_t count, tdm_type type) {
  for (int j = 0; j < MICRO_N; j += TDM_LANES) tdm_vec_store(to + j, tdm_vec_load_some(base, at + j, count - j, type));
}

TDM_INLINE void tile_store_typed(const float *from, void *base, int64_t at, int64_t count, tdm_type type) {
  for (int j = 0; j < MICRO_N; j += TDM_LANES) tdm_vec_store_some(base, at + j, count - j, type, tdm_vec_load(from + j));
}

TDM_INLINE void tile_load_row(float *to, const void *base, int64_t at, int64_t count,
                              tdm_type type){TDM_BY_TYPE(type, tile_load_typed, to, base, at, count)}

TDM_INLINE void tile_store_row(const float *from, void *base, int64_t at, int64_t count, tdm_type type) {
  TDM_BY_TYPE(type, tile_store_typed, from, base, at, count)
}

#endif
