/* Few rows, weights along k (gpu_skinny.h). A wave takes 4 lines. In each step its lanes take neighbouring k of all of them,
 * which are multiplied by all rows of x. A row of x comes from the L1 once for 4 lines. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_SKINNY_K_H
#define TANDEM_OFFLOAD_ENGINE_GPU_SKINNY_K_H

/* Where a wave's operands begin. */
typedef struct gpu_skinny_lines {
  const char *line[SKINNY_LINES], *x[SKINNY_ROWS];
  int64_t k_step; /* bytes of x */
} gpu_skinny_lines;

TDM_INLINE gpu_skinny_lines gpu_skinny_lines_of(const gpu_skinny_job *job, gpu_skinny_place place, int rows, int weights,
                                                tdm_type type) {
  const int columns = SKINNY_LINES / weights, size = tdm_bytes(type);
  gpu_skinny_lines at = {.k_step = job->k_step * size};
  TDM_UNROLL
  for (int l = 0; l < SKINNY_LINES; l++) { /* columns after the last one repeat it */
    int w = l / columns, column = place.column + l % columns;
    if (column >= job->n) column = job->n - 1;
    at.line[l] = (const char *)job->weight[w] + (place.batch * job->stride + column * job->line_step[w]) * size;
  }
  TDM_UNROLL
  for (int r = 0; r < rows; r++)
    at.x[r] = (const char *)job->x + (place.batch * job->stride_x + (r < job->m ? r : job->m - 1) * job->row_step) * size;
  return at;
}

/* Of a step and line. */
TDM_INLINE int gpu_skinny_pieces_k(bool whole, tdm_type type) {
  return whole || type == TDM_F32 ? SKINNY_LOADS / SKINNY_LINES : SKINNY_LOADS / SKINNY_LINES / 2;
}

/* Adds the step from k on. Whole pieces: a lane takes neighbouring k; otherwise neighbouring lanes do. inside: all of the step
 * is below `end`. */
TDM_INLINE void gpu_skinny_step_k(float (*sums)[SKINNY_ROWS], const gpu_skinny_lines *at, int k, int end, bool inside, int lane,
                                  int pieces, int rows, bool whole, tdm_type type) {
  const int elements = gpu_piece_elements(type), size = tdm_bytes(type);
  const int first = k + (whole ? lane * elements : lane), spread = whole ? 1 : TDM_WAVE;
  gpu_skinny_piece w[2][SKINNY_LINES];
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int l = 0; l < SKINNY_LINES; l++) {
    int64_t from = (int64_t)(first + j * TDM_WAVE * elements) * size;
    w[j][l] = (gpu_skinny_piece){{0}};
    if (whole) {
      if (inside || first + j * TDM_WAVE * elements < end) w[j][l] = gpu_skinny_load(at->line[l] + from);
    } else {
      TDM_UNROLL
      for (int e = 0; e < elements; e++)
        if (inside || first + j * TDM_WAVE * elements + e * spread < end)
          w[j][l].word[e] = gpu_skinny_element(at->line[l] + from + e * spread * size, type);
    }
  }
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    int i = first + j * TDM_WAVE * elements;
    gpu_skinny_piece x = {{0}};
    if (whole) {
      if (inside || i < end) x = gpu_skinny_load_x(at->x[r] + (int64_t)i * size);
    } else {
      TDM_UNROLL
      for (int e = 0; e < elements; e++)
        if (inside || i + e * spread < end) x.word[e] = gpu_skinny_element(at->x[r] + (i + e * spread) * at->k_step, type);
    }
    TDM_UNROLL
    for (int e = 0; e < elements; e++) TDM_UNROLL
    for (int l = 0; l < SKINNY_LINES; l++)
      sums[l][r] += gpu_skinny_get(&x, e, whole, type) * gpu_skinny_get(&w[j][l], e, whole, type);
  }
}

/* Exchanges `half` values with the lane that differs in `mask`: each keeps the half of the values that the other one gives.
 * half = 0: both add their only value. */
TDM_INLINE void gpu_skinny_halve(float *value, int half, int mask, int lane) {
  if (mask == 0) return;
  if (half == 0) value[0] += tdm_lane_xor(value[0], mask);
  const bool upper = (lane & mask) != 0;
  TDM_UNROLL
  for (int i = 0; i < half; i++) {
    float low = value[i], high = value[i + half];
    value[i] = (upper ? high : low) + tdm_lane_xor(upper ? low : high, mask);
  }
}

/* Adds the `count` values of all lanes, a power of 2 of at most 32. Afterwards a lane has value lane / (TDM_WAVE / count).
 * That takes 31 exchanges for 32 values, not 160. */
TDM_INLINE float gpu_skinny_scatter(float *value, int count, int lane) {
  gpu_skinny_halve(value, count / 2, TDM_WAVE / 2, lane);
  gpu_skinny_halve(value, count / 4, TDM_WAVE / 4, lane);
  gpu_skinny_halve(value, count / 8, TDM_WAVE / 8, lane);
  gpu_skinny_halve(value, count / 16, TDM_WAVE / 16, lane);
  gpu_skinny_halve(value, count / 32, TDM_WAVE / 32, lane);
  gpu_skinny_halve(value, count / 64, TDM_WAVE / 64, lane);
  return value[0];
}

TDM_INLINE void gpu_skinny_along_k(const gpu_skinny_job *job, gpu_skinny_place place, float *memory, int rows, int weights,
                                   bool whole, tdm_type type) {
  const int pieces = gpu_skinny_pieces_k(whole, type), piece = TDM_WAVE * gpu_piece_elements(type), step = piece * pieces;
  gpu_skinny_lines at = gpu_skinny_lines_of(job, place, rows, weights, type);
  float sums[SKINNY_LINES][SKINNY_ROWS], value[SKINNY_LINES * SKINNY_ROWS];
  TDM_UNROLL
  for (int l = 0; l < SKINNY_LINES; l++) TDM_UNROLL
  for (int r = 0; r < rows; r++) sums[l][r] = 0;
  int k = place.part * step;
  TDM_NO_UNROLL
  for (; k <= job->k - step; k += place.parts * step)
    gpu_skinny_step_k(sums, &at, k, job->k, true, place.lane, pieces, rows, whole, type);
  TDM_NO_UNROLL
  for (int end = k + step < job->k ? k + step : job->k; k < end; k += piece)
    gpu_skinny_step_k(sums, &at, k, end, false, place.lane, 1, rows, whole, type);
  const int columns = SKINNY_LINES / weights, count = SKINNY_LINES * rows, lanes = TDM_WAVE / count;
  TDM_UNROLL
  for (int l = 0; l < SKINNY_LINES; l++) TDM_UNROLL
  for (int r = 0; r < rows; r++) value[(l / columns * rows + r) * columns + l % columns] = sums[l][r];
  float mine = gpu_skinny_scatter(value, count, place.lane);
  if (place.lane % lanes == 0) memory[place.wave * count + place.lane / lanes] = mine;
}

#endif
