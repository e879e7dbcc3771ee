/* Few rows, 16-bit weights along k on NVIDIA's matrix units (gpu_skinny.h): 16 lines of weights by 8 rows of x.
 *
 * Operands go from memory to registers. A lane loads 16 bytes of a line, 8 neighbouring k, and the instruction takes them as
 * k 2t, 2t + 1, 2t + 8 and 2t + 9 of two steps, where t is the lane's number in its line. The order of k is not the one of
 * memory, but it is the same for both operands. */
#ifndef TANDEM_OFFLOAD_ENGINE_GPU_SKINNY_MMA_H
#define TANDEM_OFFLOAD_ENGINE_GPU_SKINNY_MMA_H

enum {
  SKINNY_MMA_K = 32,     /* of a lane's 16 bytes times the 4 lanes of a line */
  SKINNY_MMA_PIECES = 4, /* of each of the two lines of a lane */
  SKINNY_MMA_STEP = SKINNY_MMA_K * SKINNY_MMA_PIECES,
};

/* Adds the step from k on. lines: a lane's two lines; x: its row, if it is one. */
TDM_INLINE mma_sums gpu_skinny_step_mma(mma_sums sums, const char *const *line, const char *x, bool is_row, int k, int end,
                                        bool inside, tdm_type type) {
  gpu_skinny_piece w[2][SKINNY_MMA_PIECES], y[SKINNY_MMA_PIECES];
  TDM_UNROLL
  for (int j = 0; j < SKINNY_MMA_PIECES; j++) {
    const bool in = inside || k + j * SKINNY_MMA_K < end;
    const int64_t from = ((int64_t)k + j * SKINNY_MMA_K) * 2;
    w[0][j] = w[1][j] = y[j] = (gpu_skinny_piece){{0}};
    if (in) w[0][j] = gpu_skinny_load(line[0] + from);
    if (in) w[1][j] = gpu_skinny_load(line[1] + from);
    if (in && is_row) y[j] = gpu_skinny_load_x(x + from);
  }
  TDM_UNROLL
  for (int j = 0; j < SKINNY_MMA_PIECES; j++) TDM_UNROLL
  for (int half = 0; half < 4; half += 2) {
    mma_operand a = {{w[0][j].word[half], w[1][j].word[half], w[0][j].word[half + 1], w[1][j].word[half + 1]}};
    mma_operand b = {{y[j].word[half], y[j].word[half + 1], 0, 0}};
    sums = mma_multiply(sums, a, b, 0, 0, type);
  }
  return sums;
}

TDM_INLINE void gpu_skinny_matrices(const gpu_skinny_job *job, gpu_skinny_place place, float *memory, int weights,
                                    tdm_type type) {
  const int of = place.lane / 4, first = place.lane % 4 * 8, columns = SKINNY_MATRIX_LINES / weights;
  const char *line[2];
  TDM_UNROLL
  for (int h = 0; h < 2; h++) { /* columns after the last one repeat it */
    int w = weights == 2 ? h : 0, column = place.column + (weights == 2 ? of : of + 8 * h);
    if (column >= job->n) column = job->n - 1;
    line[h] = (const char *)job->weight[w] + (place.batch * job->stride + column * job->line_step[w] + first) * 2;
  }
  const bool is_row = of < job->m;
  const char *x = (const char *)job->x + (place.batch * job->stride_x + (is_row ? of : 0) * job->row_step + first) * 2;
  mma_sums sums = {0};
  int k = place.part * SKINNY_MMA_STEP;
  TDM_NO_UNROLL
  for (; k <= job->k - SKINNY_MMA_STEP; k += place.parts * SKINNY_MMA_STEP)
    sums = gpu_skinny_step_mma(sums, line, x, is_row, k, 0, true, type);
  if (mma_any(k < job->k)) sums = gpu_skinny_step_mma(sums, line, x, is_row, k, job->k - first, false, type);
  TDM_UNROLL
  for (int h = 0; h < 2; h++) TDM_UNROLL
  for (int r = 0; r < 2; r++) { /* sums of line of + 8 h and rows 2 (lane % 4), 2 (lane % 4) + 1 */
    int w = weights == 2 ? h : 0, column = weights == 2 ? of : of + 8 * h;
    memory[((place.wave * weights + w) * SKINNY_ROWS + place.lane % 4 * 2 + r) * columns + column] = sums[2 * h + r];
  }
}

#endif
