/* Few rows, weights whose columns are contiguous (gpu_skinny.h). `across` lanes take the neighbouring columns of one k; the
 * other lanes of the wave take other k. The lanes of one k need the same elements of x. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_SKINNY_N_H
#define TANDEM_OFFLOAD_ENGINE_GPU_SKINNY_N_H

/* Columns of a lane: 16 bytes, or 8 in 16 bits where 16 would need 64 sums or more. */
TDM_INLINE int gpu_skinny_lane_columns(int rows, int weights, tdm_type type) {
  return type == TDM_F32 || weights == 2 || rows > 4 ? 4 : 8;
}

enum { SKINNY_MOST_SUMS = 8 }; /* columns of a lane, of all weights */

/* Loads of a step for each weight: at most SKINNY_LOADS, or 32 of single elements. */
TDM_INLINE int gpu_skinny_pieces_n(int rows, int weights, bool whole, tdm_type type) {
  return (whole ? SKINNY_LOADS : 32 / gpu_skinny_lane_columns(rows, weights, type)) / weights;
}

typedef struct gpu_skinny_columns {
  const char *weight[2], *x[SKINNY_ROWS];
  int64_t down[2], k_step; /* bytes */
  int column[8];           /* bytes from the first column of the lane; not whole: columns after the last one repeat it */
} gpu_skinny_columns;

/* Adds the k from k on, in steps of `far`. */
TDM_INLINE void gpu_skinny_step_n(float (*sums)[SKINNY_ROWS], const gpu_skinny_columns *at, int k, int far, int end,
                                  bool inside, int rows, int weights, bool whole, tdm_type type) {
  const int columns = gpu_skinny_lane_columns(rows, weights, type), pieces = gpu_skinny_pieces_n(rows, weights, whole, type);
  gpu_skinny_piece w[SKINNY_LOADS];
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int i = 0; i < weights; i++) {
    const char *from = at->weight[i] + (int64_t)(k + j * far) * at->down[i];
    gpu_skinny_piece piece = {{0}};
    if (inside || k + j * far < end) {
      if (whole) {
        piece = columns * tdm_bytes(type) == 16 ? gpu_skinny_load(from) : gpu_skinny_load_half(from);
      } else {
        TDM_UNROLL
        for (int e = 0; e < columns; e++) piece.word[e] = gpu_skinny_element(from + at->column[e], type);
      }
    }
    w[j * weights + i] = piece;
  }
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    gpu_skinny_piece x = {{0}};
    if (inside || k + j * far < end) x.word[0] = gpu_skinny_element(at->x[r] + (int64_t)(k + j * far) * at->k_step, type);
    TDM_UNROLL
    for (int i = 0; i < weights; i++) TDM_UNROLL
    for (int e = 0; e < columns; e++)
      sums[i * columns + e][r] += gpu_skinny_get(&x, 0, false, type) * gpu_skinny_get(&w[j * weights + i], e, whole, type);
  }
}

TDM_INLINE void gpu_skinny_along_n(const gpu_skinny_job *job, gpu_skinny_place place, float *memory, int rows, int weights,
                                   bool whole, tdm_type type) {
  const int columns = gpu_skinny_lane_columns(rows, weights, type), pieces = gpu_skinny_pieces_n(rows, weights, whole, type);
  const int size = tdm_bytes(type), across = job->cut.across, far = TDM_WAVE / across, lane = place.lane % across;
  gpu_skinny_columns at = {.k_step = job->k_step * size};
  int column = place.column + (whole ? lane * columns : lane);
  if (whole && column >= job->n) column = job->n - columns;
  if (!whole && column >= job->n) column = job->n - 1;
  TDM_UNROLL
  for (int i = 0; i < weights; i++) {
    at.weight[i] = (const char *)job->weight[i] + (place.batch * job->stride + column) * size;
    at.down[i] = job->down[i] * size;
  }
  TDM_UNROLL
  for (int e = 0; e < columns; e++) at.column[e] = (column + e * across < job->n ? e * across : job->n - 1 - column) * size;
  TDM_UNROLL
  for (int r = 0; r < rows; r++)
    at.x[r] = (const char *)job->x + (place.batch * job->stride_x + (r < job->m ? r : job->m - 1) * job->row_step) * size;
  float sums[SKINNY_MOST_SUMS][SKINNY_ROWS];
  TDM_UNROLL
  for (int c = 0; c < columns * weights; c++) TDM_UNROLL
  for (int r = 0; r < rows; r++) sums[c][r] = 0;
  const int step = far * pieces, end = job->k;
  int k = place.part * step;
  TDM_NO_UNROLL
  for (; k <= end - step; k += place.parts * step)
    gpu_skinny_step_n(sums, &at, k + place.lane / across, far, end, true, rows, weights, whole, type);
  if (k < end) gpu_skinny_step_n(sums, &at, k + place.lane / across, far, end, false, rows, weights, whole, type);
  TDM_NO_UNROLL
  for (int mask = across; mask < TDM_WAVE; mask *= 2) TDM_UNROLL
  for (int c = 0; c < columns * weights; c++) TDM_UNROLL
  for (int r = 0; r < rows; r++) sums[c][r] += tdm_lane_xor(sums[c][r], mask);
  if (place.lane >= across) return;
  TDM_UNROLL
  for (int c = 0; c < columns * weights; c++) TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    int of = c % columns, in_group = whole ? lane * columns + of : lane + of * across;
    memory[gpu_skinny_slot(job, place.wave, c / columns, r, in_group, rows, weights)] = sums[c][r];
  }
}

#endif
