/* The maximum of a row and the sum of exp(x - maximum), in one reading (Milakov and Gimelshein, arXiv 1805.02867). */
#ifndef TANDEM_OFFLOAD_SOFTMAX_H
#define TANDEM_OFFLOAD_SOFTMAX_H

#include "math.h"
#include "rows.h"

typedef struct tdm_row_sum {
  float max;
  double sum; /* of exp(x - max) */
} tdm_row_sum_t;

/* A sum of exponentials under another maximum, which is not smaller. */
TDM_INLINE double tdm_rescale(tdm_row_sum_t s, float max) { return s.sum * tdm_exp_nonpositive(s.max - max); }

/* Integers in the order of floats, and back: compilers make vector code of their maximum, but not of one that may meet a NaN.
 */
TDM_INLINE int32_t tdm_order(int32_t bits) { return bits ^ (bits >> 31 & 0x7fffffff); }

TDM_INLINE float tdm_chunk_max(const float *x, int64_t n, float least) {
  int32_t max = tdm_order((int32_t)tdm_bits(least));
  TDM_SIMD_REDUCE(max : max)
  for (int64_t j = 0; j < n; j++) {
    int32_t key = tdm_order((int32_t)tdm_bits(x[j]));
    max = key > max ? key : max;
  }
  return tdm_from_bits((uint32_t)tdm_order(max));
}

/* Adds a chunk; exps[j] becomes exp(x[j] - max) with the maximum of the result. */
TDM_INLINE tdm_row_sum_t tdm_add_chunk(tdm_row_sum_t s, const float *x, int64_t n, float *exps) {
  float max = tdm_chunk_max(x, n, s.max);
  TDM_SIMD
  for (int64_t j = 0; j < n; j++) exps[j] = tdm_exp_nonpositive(x[j] - max);
  return (tdm_row_sum_t){max, tdm_rescale(s, max) + tdm_chunk_sum(exps, n, 1)};
}

/* What a thread keeps of its first chunks, so that it need not compute exponentials twice: 8192 of them on hosts. */
enum { TDM_KEPT = TDM_ON_GPU ? 1 : 32 };

typedef struct tdm_kept {
  float exps[TDM_KEPT][TDM_CHUNK]; /* of x - max */
  float max[TDM_KEPT];
} tdm_kept_t;

/* Every thread of the team calls it for the same row and gets the result. The maximum starts at the smallest float, so that a
 * row of -infinity has sum 0; a NaN or +infinity makes the sum NaN. */
TDM_INLINE tdm_row_sum_t tdm_sum_row(const void *x, int64_t at, int64_t cols, tdm_kept_t *kept, double *slots, tdm_here_t here,
                                     tdm_type type) {
  TDM_CHUNK_ROOM(room_x);
  TDM_CHUNK_ROOM(room_exps);
  tdm_row_sum_t mine = {-0x1.fffffep127f, 0};
  int chunk = 0;
  TDM_FOR_CHUNKS(i, n, cols, here) {
    int keep = kept != NULL && chunk < TDM_KEPT;
    mine = tdm_add_chunk(mine, tdm_chunk_read(x, at + i, n, type, room_x), n, keep ? kept->exps[chunk] : room_exps);
    if (keep) kept->max[chunk++] = mine.max;
  }
  float max = (float)tdm_team_reduce(mine.max, TDM_MAX, slots, here);
  return (tdm_row_sum_t){max, tdm_team_reduce(tdm_rescale(mine, max), TDM_SUM, slots, here)};
}

#endif
