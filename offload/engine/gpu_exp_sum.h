/* The maximum of a row and the sum of exp(x - maximum) on GPUs, in f32, by pieces of 16 bytes (gpu_row.h). */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_EXP_SUM_H
#define TANDEM_OFFLOAD_ENGINE_GPU_EXP_SUM_H

#include "exp_sum.h"
#include "gpu_row.h"

#define GPU_EXP_LEAST (-0x1.fffffep127f)    /* maximum of nothing, as in tdm_sum_row: a row of -infinity has sum 0 */
#define GPU_EXP_NOTHING (-__builtin_inff()) /* an element that changes neither the maximum nor the sum */

/* A row, as one of its threads sees it. Where it is masked, a constant, the first `seen` elements count. */
typedef struct gpu_exp_row {
  const void *x;
  gpu_row_cut cut;
  int seen;
  bool masked;
} gpu_exp_row;

typedef struct gpu_exp_sum {
  float max, sum;
} gpu_exp_sum;

TDM_INLINE float gpu_exp(float x, tdm_type type) { return type == TDM_F32 ? tdm_exp_nonpositive(x) : tdm_exp_short(x); }

/* Pieces from piece `begin` on; after the last one follow elements of GPU_EXP_NOTHING. */
TDM_INLINE void gpu_exp_fetch(gpu_piece *read, const gpu_exp_row *r, int begin, int pieces, tdm_position self, tdm_type type) {
  const uint32_t nothing = type == TDM_F32 ? 0xff800000 : type == TDM_F16 ? 0xfc00fc00 : 0xff80ff80;
  gpu_cut_fetch(read, r->x, r->cut, begin, pieces, nothing, self, type);
}

/* Element e of a piece that begins at element `at` of its row. */
TDM_INLINE float gpu_exp_get(const gpu_exp_row *r, gpu_piece p, int at, int e, tdm_type type) {
  float x = gpu_piece_get(p, e, type);
  return r->masked && at + e >= r->seen ? GPU_EXP_NOTHING : x;
}

TDM_INLINE float gpu_exp_edge(const gpu_exp_row *r, tdm_type type) {
  float x = gpu_edge_get(r->x, r->cut, GPU_EXP_NOTHING, type);
  return r->masked && r->cut.edge >= r->seen ? GPU_EXP_NOTHING : x;
}

/* The largest of the pieces from piece `begin` on, and of max. */
TDM_INLINE float gpu_exp_largest(const gpu_exp_row *r, const gpu_piece *read, float max, int begin, int pieces,
                                 tdm_position self, tdm_type type) {
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < gpu_piece_elements(type); e++) {
    float x = gpu_exp_get(r, read[j], gpu_cut_element(r->cut, begin, j, self, type), e, type);
    max = x > max ? x : max;
  }
  return max;
}

/* A thread's sum begins with its edge. */
TDM_INLINE gpu_exp_sum gpu_exp_begin(float edge, tdm_type type) {
  float max = edge > GPU_EXP_LEAST ? edge : GPU_EXP_LEAST;
  return (gpu_exp_sum){max, gpu_exp(edge - max, type)};
}

/* Adds the pieces from piece `begin` on, relative to one maximum. */
TDM_INLINE gpu_exp_sum gpu_exp_add(gpu_exp_sum s, const gpu_exp_row *r, const gpu_piece *read, int begin, int pieces,
                                   tdm_position self, tdm_type type) {
  float max = gpu_exp_largest(r, read, s.max, begin, pieces, self, type), part = 0;
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < gpu_piece_elements(type); e++)
    part += gpu_exp(gpu_exp_get(r, read[j], gpu_cut_element(r->cut, begin, j, self, type), e, type) - max, type);
  return (gpu_exp_sum){max, s.sum * gpu_exp(s.max - max, type) + part};
}

/* Of the row's threads. */
TDM_INLINE gpu_exp_sum gpu_exp_reduce(gpu_exp_sum s, float *slots, tdm_position self, tdm_type type) {
  float max = gpu_row_reduce(s.max, TDM_MAX, slots, 0, self);
  return (gpu_exp_sum){max, gpu_row_reduce(s.sum * gpu_exp(s.max - max, type), TDM_SUM, slots, 1, self)};
}

#endif
