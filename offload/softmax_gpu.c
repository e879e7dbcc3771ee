/* softmax on GPUs, a row in the registers of a team. */
#include "gpu_row.h"
#include "softmax.h"

TDM_INLINE void softmax_row(const void *x, void *y, tdm_softmax_desc d, int64_t row, bool aligned, double *slots, int vectors,
                            tdm_here_t here, tdm_type type) {
  float v[16][TDM_CHUNK]; /* the first `vectors` */
  int64_t cols = tdm_softmax_seen(&d, row);
  gpu_row_read(v, x, row * d.ldx, cols, aligned, vectors, here, type);
  tdm_row_sum_t s = {-0x1.fffffep127f, 0}; /* as tdm_sum_row: a row of -infinity has sum 0 */
  TDM_UNROLL
  for (int j = 0; j < vectors; j++) s.max = tdm_chunk_max(v[j], cols - gpu_chunk_start(j, here), s.max);
  s.max = (float)gpu_row_reduce(s.max, TDM_MAX, slots, here);
  TDM_UNROLL
  for (int j = 0; j < vectors; j++) {
    int64_t n = cols - gpu_chunk_start(j, here);
    TDM_UNROLL
    for (int e = 0; e < TDM_CHUNK; e++) v[j][e] = e < n ? tdm_exp_nonpositive(v[j][e] - s.max) : 0;
    s.sum += tdm_chunk_sum(v[j], TDM_CHUNK, 1);
  }
  float factor = (float)(1 / gpu_row_reduce(s.sum, TDM_SUM, slots, here));
  TDM_UNROLL
  for (int j = 0; j < vectors; j++) {
    int64_t n = cols - gpu_chunk_start(j, here);
    TDM_UNROLL
    for (int e = 0; e < TDM_CHUNK; e++) v[j][e] = e < n ? v[j][e] * factor : 0; /* not 0 times a NaN */
  }
  gpu_row_write(y, row * d.ldy, d.cols, aligned, vectors, here, type, v);
}

TDM_INLINE void softmax_rows(const void *x, void *y, tdm_softmax_desc d, double *slots, int vectors, tdm_here_t here,
                             tdm_type type) {
  bool aligned = gpu_row_aligned(x, d.ldx, d.cols, type) && gpu_row_aligned(y, d.ldy, d.cols, type);
  for (int64_t row = here.team; row < d.rows; row += here.teams) softmax_row(x, y, d, row, aligned, slots, vectors, here, type);
}

#define REGION(vectors)                                                        \
  TDM_TARGET_BARE(plan->launch, GPU_ROW_THREADS, x, y, d, type) {              \
    TDM_TEAM_SLOTS(slots);                                                     \
    TDM_BY_TYPE(type, softmax_rows, x, y, *d, slots, vectors, tdm_here_bare()) \
  }

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  return gpu_row_supports(plan, plan->desc.softmax.cols, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  tdm_plan_launch(plan, d->rows, GPU_ROW_THREADS);
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *x = buffers[0];
  void *y = buffers[1];
  const tdm_softmax_desc *d = plan->table;
  tdm_type type = plan->desc.softmax.type;
  GPU_ROW_LAUNCH(gpu_row_vectors(plan->desc.softmax.cols), REGION)
  return TDM_OK;
}

const tdm_kernel tdm_softmax_omp_gpu = {.name = "omp_gpu",
                                        .op = TDM_OP_SOFTMAX,
                                        .backend = &tdm_backend_omp,
                                        .supports = supports,
                                        .prepare = prepare,
                                        .launch = launch};
