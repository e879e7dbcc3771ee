/* Sums of exponentials relative to a maximum (Milakov and Gimelshein, arXiv 1805.02867), for softmax and cross_entropy. */
#ifndef TANDEM_HIP_DEVICE_SOFTMAX_H
#define TANDEM_HIP_DEVICE_SOFTMAX_H

#include "math.h"
#include "row_groups.h"

typedef struct row_sum {
  float max;
  double sum; /* of exp(x - max) */
} row_sum_t;

/* Every maximum begins here, and not at -infinity, whose differences are NaN. So a row of -infinity has the sum 0. */
#define LEAST_FLOAT (-0x1.fffffep127f)

/* x[] becomes exp(x - max) for elements that exist, and 0 for the others. Returns their sum. */
DEVICE float exponentials(float *x, int64_t count, float max, tdm_type type) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < chunk_length(type); i++) {
    x[i] = i < count ? exp_f32(x[i] - max) : 0;
    sum += x[i];
  }
  return sum;
}

DEVICE float largest(const float *x, int64_t count, float max, tdm_type type) {
#pragma unroll
  for (int i = 0; i < chunk_length(type); i++) max = i < count && x[i] > max ? x[i] : max;
  return max;
}

/* The maximum and the sum of the whole row, which is read once. Each chunk uses the maximum of all chunks so far. */
DEVICE row_sum_t sum_row(const void *x, int64_t at, int64_t cols, bool wide, row_group_t group, tdm_type type) {
  row_sum_t mine = {LEAST_FLOAT, 0};
  for (int64_t i = (int64_t)group.lane * chunk_length(type); i < cols; i += (int64_t)group.size * chunk_length(type)) {
    float chunk[CHUNK_MOST];
    load_chunk(chunk, x, at + i, cols - i, wide, type);
    float max = largest(chunk, cols - i, mine.max, type);
    mine.sum = mine.sum * exp_f32(mine.max - max) + exponentials(chunk, cols - i, max, type);
    mine.max = max;
  }
  float max = (float)row_group_max(mine.max, group);
  return (row_sum_t){max, row_group_sum(mine.sum * exp_f32(mine.max - max), group)};
}

#endif
