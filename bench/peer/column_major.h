/* A gemm case for libraries with column-major matrices: C^T = op(B)^T op(A)^T, so that B is their first operand, A their
 * second, and a matrix that is stored by rows needs no transposition. */
#ifndef TANDEM_BENCH_PEER_COLUMN_MAJOR_H
#define TANDEM_BENCH_PEER_COLUMN_MAJOR_H

#include <limits.h>

#include "bench/core/count.h"
#include "bench/core/peer.h"

typedef struct bench_columns {
  int m, n, k;                  /* of the library: m = N, n = M */
  bool turn_first, turn_second; /* transpose the operand */
  int64_t ld[3], stride[3];     /* first operand (b), second (a), c; strides between matrices of a batch, 0: one for all */
  int64_t rows[3], cols[3];     /* as they lie in memory, by columns */
  int batch;
  float alpha, beta;
} bench_columns;

static inline bench_columns bench_columns_of(const tdm_case *c) {
  static const int from[] = {1, 0, 2}; /* the case's arrays: a, b, c */
  case_array arrays[CASE_MAX_ARRAYS];
  c->op->arrays(c, arrays);
  bench_columns x = {.m = (int)c->shape[1],
                     .n = (int)c->shape[0],
                     .k = (int)c->shape[2],
                     .turn_first = c->layout == TDM_NT || c->layout == TDM_TT,
                     .turn_second = c->layout == TDM_TN || c->layout == TDM_TT,
                     .batch = (int)c->batch,
                     .alpha = (float)c->alpha,
                     .beta = (float)c->beta};
  for (int i = 0; i < 3; i++) {
    const case_array *array = &arrays[from[i]];
    x.ld[i] = array->stride[array->rank - 2];
    x.stride[i] = array->rank == 3 ? array->stride[0] : 0;
    x.rows[i] = array->dim[array->rank - 1];
    x.cols[i] = array->dim[array->rank - 2];
  }
  return x;
}

/* Refuses what this program does not ask of ROCm's libraries. They are opened for the first GPU, which is the current one. */
static inline bool bench_columns_supported(const tdm_case *c, const char *device, const char *peer, char *reason, size_t size) {
  const char *what = NULL;
  bool fits = strcmp(c->op->name, "gemm") == 0 && c->batch <= INT_MAX;
  for (int i = 0; i < 3 && fits; i++) fits = c->shape[i] <= INT_MAX && c->ld[i] <= INT_MAX;
  if (strcmp(c->op->name, "gemm") != 0)
    what = "is asked for gemm alone";
  else if (strcmp(device, "hip:0") != 0)
    what = "runs on hip:0 alone";
  else if (c->epilogue_steps > 0)
    what = "is asked for no epilogue";
  else if (c->out != c->type && c->out != TDM_F32)
    what = "writes the type of its inputs or f32: --set out=f32";
  else if (!fits)
    what = "takes dimensions up to 2^31 - 1";
  if (what != NULL) snprintf(reason, size, "%s: %s", peer, what);
  return what == NULL;
}

#endif
