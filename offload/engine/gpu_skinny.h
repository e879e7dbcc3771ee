/* Products with few rows on GPUs, as a model needs them for each new token. Each weight is read once, at the rate of
 * memory. A wave takes one or two rows of weights, which are stored along k, and multiplies them by all rows of x, which
 * stay in the L1. The sums of its lanes are added in a tree. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_SKINNY_H
#define TANDEM_OFFLOAD_ENGINE_GPU_SKINNY_H

#include "gpu_row.h"

/* THREADS: of a team; the same in the host's pass, where TDM_WAVE is 32 for every GPU. PIECES: of 16 bytes, that a lane
 * loads of the weights at a time; half as many for more than two rows. */
enum { SKINNY_ROWS = 8, SKINNY_PIECES = 4, SKINNY_WEIGHTS = 2, SKINNY_THREADS = 128, SKINNY_WAVES = SKINNY_THREADS / TDM_WAVE };

/* The rows of x, and the weights' rows of one wave. Offsets are in elements. */
typedef struct gpu_skinny_part {
  const void *x, *weight[SKINNY_WEIGHTS];
  int64_t at_x, ldx, at[SKINNY_WEIGHTS];
  int rows, k;
} gpu_skinny_part;

/* Elements i ... of a row of k elements, as f32, with 0 after its end. whole: k and the row's address allow pieces. */
TDM_INLINE void gpu_skinny_load(float *to, const void *base, int64_t at, int i, int k, bool whole, tdm_type type) {
  const int elements = gpu_piece_elements(type);
  if (whole) {
    gpu_piece p = {0};
    if (i < k) p = *(const TDM_GLOBAL gpu_piece *)((uintptr_t)base + (uintptr_t)((at + i) * tdm_size(type)));
    TDM_UNROLL
    for (int e = 0; e < elements; e++) to[e] = gpu_piece_get(p, e, type);
  } else {
    TDM_UNROLL
    for (int e = 0; e < elements; e++) to[e] = i + e < k ? tdm_load(base, at + i + e, type) : 0;
  }
}

/* sums[weight][row] of one lane. rows, weights and whole are constants; rows is at least part->rows, and the rows after
 * those repeat the last one. */
TDM_INLINE void gpu_skinny_lane(float (*sums)[SKINNY_ROWS], const gpu_skinny_part *part, int lane, int rows, int weights,
                                bool whole, tdm_type type) {
  const int elements = gpu_piece_elements(type), pieces = SKINNY_PIECES / weights / (rows > 2 ? 2 : 1);
  for (int first = lane * elements; first < part->k; first += pieces * TDM_WAVE * elements) {
    float w[SKINNY_PIECES][GPU_PIECE_ELEMENTS];
    TDM_UNROLL
    for (int j = 0; j < pieces * weights; j++)
      gpu_skinny_load(w[j], part->weight[j % weights], part->at[j % weights], first + j / weights * TDM_WAVE * elements,
                      part->k, whole, type);
    TDM_UNROLL
    for (int r = 0; r < rows; r++) {
      int64_t at_x = part->at_x + (r < part->rows ? r : part->rows - 1) * part->ldx;
      TDM_UNROLL
      for (int j = 0; j < pieces; j++) {
        float x[GPU_PIECE_ELEMENTS];
        gpu_skinny_load(x, part->x, at_x, first + j * TDM_WAVE * elements, part->k, whole, type);
        TDM_UNROLL
        for (int n = 0; n < weights; n++) TDM_UNROLL
        for (int e = 0; e < elements; e++) sums[n][r] += x[e] * w[j * weights + n][e];
      }
    }
  }
}

/* The complete sums of the part, in every lane. */
TDM_INLINE void gpu_skinny_sums(float (*sums)[SKINNY_ROWS], const gpu_skinny_part *part, int lane, int rows, int weights,
                                bool whole, tdm_type type) {
  TDM_UNROLL
  for (int n = 0; n < weights; n++) TDM_UNROLL
  for (int r = 0; r < rows; r++) sums[n][r] = 0;
  if (whole)
    gpu_skinny_lane(sums, part, lane, rows, weights, true, type);
  else
    gpu_skinny_lane(sums, part, lane, rows, weights, false, type);
  TDM_UNROLL
  for (int n = 0; n < weights; n++) TDM_UNROLL
  for (int r = 0; r < rows; r++) sums[n][r] = gpu_lanes_reduce(sums[n][r], TDM_WAVE, TDM_SUM);
}

/* The sum that lane r needs, which finishes row r. */
TDM_INLINE float gpu_skinny_mine(const float *sums, int lane, int rows) {
  float mine = sums[0];
  TDM_UNROLL
  for (int r = 1; r < rows; r++) mine = lane == r ? sums[r] : mine;
  return mine;
}

/* Do the addresses of the operands allow pieces? ld: all leading dimensions and strides, or-ed. */
static inline bool gpu_skinny_whole(const void *x, const void *w, const void *v, int64_t k, int64_t ld, tdm_type type) {
  int64_t elements = gpu_piece_elements(type);
  return ((uintptr_t)x | (uintptr_t)w | (uintptr_t)v) % 16 == 0 && k % elements == 0 && ld % elements == 0;
}

static inline bool gpu_skinny_supports(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, tdm_layout layout,
                                       char *reason, size_t size) {
  if (!tdm_threads_fit(plan->context, SKINNY_THREADS, reason, size)) return false;
  if (layout != TDM_NT)
    snprintf(reason, size, "layout must be nt: it reads rows of weights along k");
  else if (m > SKINNY_ROWS)
    snprintf(reason, size, "more than %d rows", SKINNY_ROWS);
  else if (k > INT32_MAX / 2 || (batch > 0 && n > INT32_MAX / 2 / batch))
    snprintf(reason, size, "k, or columns of all matrices, above 2^30");
  else
    return true;
  return false;
}

/* A region for each of 1, 2, 4 and 8 rows: a kernel's registers are those of its largest part. */
#define GPU_SKINNY_LAUNCH(m, region) \
  if ((m) <= 1) {                    \
    region(1);                       \
  } else if ((m) <= 2) {             \
    region(2);                       \
  } else if ((m) <= 4) {             \
    region(4);                       \
  } else {                           \
    region(8);                       \
  }

#endif
