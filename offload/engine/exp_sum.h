/* The maximum of a row and the sum of exp(x - maximum) in one pass (Milakov and Gimelshein, arXiv 1805.02867), and the
 * columns that a row sees. */
#ifndef TANDEM_OFFLOAD_ENGINE_EXP_SUM_H
#define TANDEM_OFFLOAD_ENGINE_EXP_SUM_H

#include "offload/device/math.h"
#include "row_work.h"
#include "src/base/softmax.h"

typedef struct tdm_row_sum {
  float max;
  double sum; /* of exp(x - max) */
} tdm_row_sum_t;

/* A sum of exponentials relative to another maximum, which is not smaller. */
TDM_INLINE double tdm_rescale(tdm_row_sum_t s, float max) { return s.sum * tdm_exp_nonpositive(s.max - max); }

/* From floats to integers in the same order, and back: compilers make vector code of an integer maximum, but not of a float
 * maximum that may meet a NaN. */
TDM_INLINE int32_t tdm_order(int32_t bits) { return bits ^ (bits >> 31 & 0x7fffffff); }

/* The largest of x and least. A separate function on hosts: where gcc 12 inlines it for rows of several segments, the loop is
 * no vector code, and softmax of 2048x12288 takes three times as long. */
#if TDM_ON_GPU
TDM_INLINE
#else
__attribute__((noinline, unused)) static
#endif
float tdm_chunk_max(const float *x, int64_t n, float least) {
  if (TDM_ON_GPU) {
    TDM_EACH(j, n) if (j < n && x[j] > least) least = x[j];
    return least;
  }
  int32_t max = INT32_MIN;
  TDM_SIMD_REDUCE(max : max)
  for (int64_t j = 0; j < n; j++) {
    int32_t key = tdm_order((int32_t)tdm_bits(x[j]));
    max = key > max ? key : max;
  }
  float largest = tdm_from_bits((uint32_t)tdm_order(max));
  return largest > least ? largest : least;
}

/* A segment is the part of a row that the threads of a team hold in f32 at a time: `kept` chunks each. Its exponentials are
 * computed when its maximum is known, so no chunk waits for another. A host keeps 8192 elements in the L1. If it needs the
 * exponentials again, it keeps 32768 in the L2, because computing them twice takes longer: softmax of 2048x12288 takes 5.3 ms
 * instead of 6.3. */
enum { TDM_KEPT_L1 = TDM_ON_GPU ? 1 : 32, TDM_KEPT_L2 = TDM_ON_GPU ? 1 : 128 };

#define TDM_SEGMENT_BUFFER(name, kept) float name[(kept) * TDM_CHUNK] __attribute__((aligned(TDM_ON_GPU ? 16 : 64)))

TDM_INLINE int64_t tdm_segment_length(tdm_position self, int kept) { return (int64_t)self.threads * kept * TDM_CHUNK; }

/* Adds this thread's chunks of a segment. buffer[] becomes exp(x - max) with the maximum of the result. */
TDM_INLINE tdm_row_sum_t tdm_add_segment(tdm_row_sum_t s, const void *x, int64_t at, int64_t length, float *buffer,
                                         tdm_position self, tdm_type type) {
  float max = s.max, *values = buffer;
  TDM_FOR_CHUNKS(i, n, length, self) {
    max = tdm_chunk_max(tdm_chunk_read(x, at + i, n, type, values), n, max);
    values += TDM_CHUNK;
  }
  double sum = tdm_rescale(s, max);
  values = buffer;
  TDM_FOR_CHUNKS(i, n, length, self) {
    const float *from = type == TDM_F32 && !TDM_ON_GPU ? (const float *)x + at + i : values;
    TDM_EACH(j, n) values[j] = j < n ? tdm_exp_nonpositive(from[j] - max) : 0;
    sum += tdm_chunk_sum(values, n, 1);
    values += TDM_CHUNK;
  }
  return (tdm_row_sum_t){max, sum};
}

/* Every thread of the team calls it for the same row and gets the result. buffer[] keeps the exponentials of this thread's
 * chunks of the last segment, and *kept_max the maximum that they are relative to. The maximum starts at the smallest
 * float, so that a row of -infinity has sum 0. A NaN or +infinity makes the sum NaN. */
TDM_INLINE tdm_row_sum_t tdm_sum_row(const void *x, int64_t at, int64_t cols, float *buffer, float *kept_max, double *slots,
                                     int kept, tdm_position self, tdm_type type) {
  tdm_row_sum_t mine = {-0x1.fffffep127f, 0};
  int64_t step = tdm_segment_length(self, kept);
  for (int64_t start = 0; start < cols; start += step)
    mine = tdm_add_segment(mine, x, at + start, tdm_min(step, cols - start), buffer, self, type);
  *kept_max = mine.max;
  float max = (float)tdm_team_reduce(mine.max, TDM_MAX, slots, self);
  return (tdm_row_sum_t){max, tdm_team_reduce(tdm_rescale(mine, max), TDM_SUM, slots, self)};
}

#endif
