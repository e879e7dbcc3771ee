/* rmsnorm on GPUs, a row in the registers of a team: x (and residual) is read once. */
#include "gpu_row.h"
#include "rmsnorm.h"

TDM_INLINE void rmsnorm_row(rmsnorm_arrays a, tdm_rmsnorm_desc d, int64_t row, bool aligned, double *slots, int vectors,
                            tdm_here_t here, tdm_type type) {
  float s[16][TDM_CHUNK], other[16][TDM_CHUNK]; /* the first `vectors`; other: residual, then weight */
  gpu_row_read(s, a.x, row * d.ldx, d.cols, aligned, vectors, here, type);
  if (a.residual != NULL) {
    gpu_row_read(other, a.residual, row * d.ldr, d.cols, aligned, vectors, here, type);
    TDM_UNROLL
    for (int j = 0; j < vectors; j++) TDM_UNROLL
    for (int e = 0; e < TDM_CHUNK; e++) s[j][e] += other[j][e];
    gpu_row_write(a.sum, row * d.lds, d.cols, aligned, vectors, here, type, s);
  }
  double squares = 0;
  TDM_UNROLL
  for (int j = 0; j < vectors; j++) squares += sum_of_squares(s[j], TDM_CHUNK);
  float inverse = inverse_root(gpu_row_reduce(squares, TDM_SUM, slots, here), d);
  gpu_row_read(other, a.weight, 0, d.cols, aligned, vectors, here, type);
  TDM_UNROLL
  for (int j = 0; j < vectors; j++) TDM_UNROLL
  for (int e = 0; e < TDM_CHUNK; e++) s[j][e] *= inverse * other[j][e];
  gpu_row_write(a.y, row * d.ldy, d.cols, aligned, vectors, here, type, s);
}

TDM_INLINE void rmsnorm_rows(rmsnorm_arrays a, tdm_rmsnorm_desc d, double *slots, int vectors, tdm_here_t here, tdm_type type) {
  bool aligned = gpu_row_aligned(a.x, d.ldx, d.cols, type) && gpu_row_aligned(a.residual, d.ldr, d.cols, type) &&
                 gpu_row_aligned(a.sum, d.lds, d.cols, type) && gpu_row_aligned(a.y, d.ldy, d.cols, type) &&
                 gpu_row_aligned(a.weight, 0, d.cols, type);
  for (int64_t row = here.team; row < d.rows; row += here.teams) rmsnorm_row(a, d, row, aligned, slots, vectors, here, type);
}

#define REGION(vectors)                                                                  \
  TDM_TARGET_BARE(plan->launch, GPU_ROW_THREADS, x, weight, residual, sum, y, d, type) { \
    TDM_TEAM_SLOTS(slots);                                                               \
    rmsnorm_arrays a = {x, weight, residual, sum, y};                                    \
    TDM_BY_TYPE(type, rmsnorm_rows, a, *d, slots, vectors, tdm_here_bare())              \
  }

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  return gpu_row_supports(plan, plan->desc.rmsnorm.cols, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  tdm_plan_launch(plan, d->rows, GPU_ROW_THREADS);
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *x = buffers[0], *weight = buffers[1], *residual = buffers[2];
  void *sum = buffers[3], *y = buffers[4];
  const tdm_rmsnorm_desc *d = plan->table;
  tdm_type type = plan->desc.rmsnorm.type;
  GPU_ROW_LAUNCH(gpu_row_vectors(plan->desc.rmsnorm.cols), REGION)
  return TDM_OK;
}

const tdm_kernel tdm_rmsnorm_omp_gpu = {.name = "omp_gpu",
                                        .op = TDM_OP_RMSNORM,
                                        .backend = &tdm_backend_omp,
                                        .supports = supports,
                                        .prepare = prepare,
                                        .launch = launch};
