/* rmsnorm on GPUs, a row in the registers of a team: x (and residual) is read once. */
#include "offload/device/device.h"
#include "offload/engine/gpu_row.h"
#include "rmsnorm.h"

/* A row's elements: as in memory, which needs half the registers for 16-bit types; or with the residual added, in f32. */
typedef struct row_values {
  gpu_piece memory[GPU_MOST_PIECES];
  float sum[GPU_MOST_PIECES][GPU_PIECE_ELEMENTS];
} row_values;

TDM_INLINE float value_of(const row_values *s, int j, int e, bool residual, tdm_type type) {
  return residual ? s->sum[j][e] : gpu_piece_get(s->memory[j], e, type);
}

/* The sum of (scale s)^2 of a row: four sums in a thread, then the team's. */
TDM_INLINE float row_squares(const row_values *s, float scale, bool residual, int pieces, float *slots, int set,
                             tdm_position self, tdm_type type) {
  float sum[4] = {0};
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < gpu_piece_elements(type); e++) {
    float v = value_of(s, j, e, residual, type) * scale;
    sum[e % 4] += v * v;
  }
  return gpu_row_reduce((sum[0] + sum[1]) + (sum[2] + sum[3]), TDM_SUM, slots, set, self);
}

/* 1 / sqrt(x): NVIDIA's instruction within 2^-22.9, and a Newton step. */
TDM_INLINE float inverse_root_f32(float x) {
  if (x == 0) return __builtin_inff();
  if (!(x < __builtin_inff())) return x != x ? x : 0;
#if defined(__NVPTX__)
  float guess = __nvvm_rsqrt_approx_f(x);
  return guess * (1.5f - 0.5f * x * guess * guess);
#else
  return 1 / __builtin_sqrtf(x);
#endif
}

/* 1 / sqrt(mean + eps) in f32, because f64 needs 30 registers more. If the sum of squares overflows or may have lost
 * squares, the row is multiplied by a power of two. All threads know it from the first sum. */
TDM_INLINE float row_inverse_root(const row_values *s, const tdm_rmsnorm_desc *d, bool residual, int pieces, float *slots,
                                  tdm_position self, tdm_type type) {
  float share = 1 / (float)d->cols, squares = row_squares(s, 1, residual, pieces, slots, 0, self, type);
  if (squares > 0x1p-90f && squares < __builtin_inff()) return inverse_root_f32(squares * share + d->eps);
  bool small = squares <= 0x1p-90f;
  if (small && d->eps >= 0x1p-64f)
    return inverse_root_f32(squares * share + d->eps); /* squares that were lost are below 2^-26 of eps */
  float scale = small ? 0x1p90f : 0x1p-72f;
  squares = row_squares(s, scale, residual, pieces, slots, 1, self, type);
  return inverse_root_f32(squares * share + d->eps * scale * scale) * scale;
}

/* The team's row. */
TDM_INLINE void rmsnorm_row(rmsnorm_arrays a, tdm_rmsnorm_desc d, float *slots, bool residual, int pieces, tdm_position self,
                            tdm_type type) {
  const int elements = gpu_piece_elements(type), cols = (int)d.cols;
  const int64_t row = self.team;
  row_values s;
  gpu_piece other[GPU_MOST_PIECES]; /* residual, then weight */
  gpu_row_fetch(s.memory, a.x, row * d.ldx, cols, pieces, self, type);
  if (residual) {
    gpu_row_fetch(other, a.residual, row * d.ldr, cols, pieces, self, type);
    TDM_UNROLL
    for (int j = 0; j < pieces; j++) TDM_UNROLL
    for (int e = 0; e < elements; e++) s.sum[j][e] = gpu_piece_get(s.memory[j], e, type) + gpu_piece_get(other[j], e, type);
    if (a.sum != NULL) gpu_row_put(a.sum, row * d.lds, cols, pieces, self, type, s.sum);
  }
  float inverse = row_inverse_root(&s, &d, residual, pieces, slots, self, type);
  gpu_row_fetch(other, a.weight, 0, cols, pieces, self, type);
  TDM_GLOBAL gpu_piece *to = gpu_first_piece(a.y, row * d.ldy, self, type);
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) {
    float y[GPU_PIECE_ELEMENTS];
    TDM_UNROLL
    for (int e = 0; e < elements; e++) y[e] = value_of(&s, j, e, residual, type) * (inverse * gpu_piece_get(other[j], e, type));
    if (gpu_piece_start(j, self, type) < cols) to[j * self.threads] = gpu_piece_of(y, type);
  }
}

/* A separate region, because the sum needs registers that the plain norm can't spare. The description is passed as scalars:
 * a team would have to wait for memory before it knows where its row is. */
#define PLAIN(threads, pieces, kind)                                                              \
  TDM_TARGET_BARE(plan->launch, threads, x, weight, y) {                                          \
    GPU_ROW_SLOTS(slots);                                                                         \
    rmsnorm_arrays a = {.x = x, .weight = weight, .y = y};                                        \
    tdm_rmsnorm_desc of = {.cols = cols, .ldx = ldx, .ldy = ldy, .eps = eps};                     \
    GPU_ROW_BY_TYPE(kind, type, rmsnorm_row, a, of, slots, false, pieces, gpu_position(threads)); \
  }
#define SUMMED(threads, pieces, kind)                                                                 \
  TDM_TARGET_BARE(plan->launch, threads, x, weight, residual, sum, y) {                               \
    GPU_ROW_SLOTS(slots);                                                                             \
    rmsnorm_arrays a = {x, weight, residual, sum, y};                                                 \
    tdm_rmsnorm_desc of = {.cols = cols, .ldx = ldx, .ldr = ldr, .lds = lds, .ldy = ldy, .eps = eps}; \
    GPU_ROW_BY_TYPE(kind, type, rmsnorm_row, a, of, slots, true, pieces, gpu_position(threads));      \
  }

extern const tdm_kernel tdm_rmsnorm_omp;

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  return gpu_row_supports(plan, d->rows, d->cols, d->type, reason, size) &&
         gpu_row_whole(d->cols, d->ldx | d->ldr | d->lds | d->ldy, d->type, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  tdm_plan_launch(plan, d->rows, gpu_row_shape_for(d->cols, d->type).threads);
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *x = buffers[0], *weight = buffers[1], *residual = buffers[2];
  void *sum = buffers[3], *y = buffers[4];
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  int64_t cols = d->cols, ldx = d->ldx, ldr = d->ldr, lds = d->lds, ldy = d->ldy;
  float eps = d->eps;
  tdm_type type = d->type;
  gpu_row_shape shape = gpu_row_shape_for(cols, type);
  if (residual == NULL) {
    GPU_ROW_LAUNCH(shape, type, PLAIN);
  } else {
    GPU_ROW_LAUNCH(shape, type, SUMMED);
  }
  return TDM_OK;
}

const tdm_kernel tdm_rmsnorm_omp_gpu = {.name = "omp_gpu",
                                        .op = TDM_OP_RMSNORM,
                                        .backend = &tdm_backend_omp,
                                        .runs_on = tdm_gpus_only,
                                        .supports = supports,
                                        .prepare = prepare,
                                        .launch = launch,
                                        .fallback = {16, 0x1f, &tdm_rmsnorm_omp}};
