/* rmsnorm on GPUs, a row in the registers of a team: x (and residual) is read once. */
#include "gpu_row.h"
#include "rmsnorm.h"

TDM_INLINE float scaled_squares(float (*s)[GPU_PIECE_ELEMENTS], int pieces, int elements, float scale) {
  float sum = 0;
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < elements; e++) sum += (s[j][e] * scale) * (s[j][e] * scale);
  return sum;
}

/* In f32; where that overflows or may have lost squares, of multiples by a power of two. */
TDM_INLINE double row_squares(float (*s)[GPU_PIECE_ELEMENTS], int pieces, int elements) {
  float fast = scaled_squares(s, pieces, elements, 1);
  if (fast > 0x1p-90f && fast < __builtin_inff()) return fast;
  if (fast <= 0x1p-90f) return scaled_squares(s, pieces, elements, 0x1p100f) * 0x1p-200;
  return scaled_squares(s, pieces, elements, 0x1p-72f) * 0x1p144;
}

/* 1 / sqrt(x), within 2^-40, of which a float keeps half an ulp: f64's own division and root take 30 registers more. With
 * x = 4^h m, m in 1 .. 4: a guess in f32, and a Newton step. */
TDM_INLINE float short_inverse_root(double x) {
  if (x == 0) return __builtin_inff();
  if (!(x < __builtin_inf())) return x != x ? (float)x : 0;
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  int64_t half = ((int64_t)(bits >> 52) - 1023) >> 1;
  bits -= (uint64_t)(2 * half) << 52;
  double m, scale;
  __builtin_memcpy(&m, &bits, sizeof m);
  bits = (uint64_t)(1023 - half) << 52;
  __builtin_memcpy(&scale, &bits, sizeof scale);
#if defined(__NVPTX__)
  double guess = __nvvm_rsqrt_approx_f((float)m);
#else
  double guess = 1 / __builtin_sqrtf((float)m);
#endif
  return (float)(guess * (1.5 - 0.5 * m * guess * guess) * scale);
}

TDM_INLINE void rmsnorm_rows(rmsnorm_arrays a, tdm_rmsnorm_desc d, double *slots, bool residual, int vectors, tdm_here_t here,
                             tdm_type type) {
  const int elements = gpu_piece_elements(type), pieces = gpu_row_pieces(vectors, type);
  const double share = 1 / (double)d.cols;
  int turn = 0;
  TDM_NO_UNROLL
  for (int64_t row = here.team; row < d.rows; row += here.teams) {
    gpu_piece other[GPU_MOST_PIECES]; /* x, then residual, then weight */
    float s[GPU_MOST_PIECES][GPU_PIECE_ELEMENTS];
    gpu_row_fetch(other, a.x, row * d.ldx, d.cols, pieces, here, type);
    TDM_UNROLL
    for (int j = 0; j < pieces; j++) TDM_UNROLL
    for (int e = 0; e < elements; e++) s[j][e] = gpu_piece_get(other[j], e, type);
    if (residual) {
      gpu_row_fetch(other, a.residual, row * d.ldr, d.cols, pieces, here, type);
      TDM_UNROLL
      for (int j = 0; j < pieces; j++) TDM_UNROLL
      for (int e = 0; e < elements; e++) s[j][e] += gpu_piece_get(other[j], e, type);
      if (a.sum != NULL) gpu_row_put(a.sum, row * d.lds, d.cols, pieces, here, type, s);
    }
    double squares = gpu_row_reduce(row_squares(s, pieces, elements), TDM_SUM, slots, turn, here);
    float inverse = short_inverse_root(squares * share + d.eps);
    turn ^= 1;
    gpu_row_fetch(other, a.weight, 0, d.cols, pieces, here, type);
    TDM_UNROLL
    for (int j = 0; j < pieces; j++) TDM_UNROLL
    for (int e = 0; e < elements; e++) s[j][e] *= inverse * gpu_piece_get(other[j], e, type);
    gpu_row_put(a.y, row * d.ldy, d.cols, pieces, here, type, s);
  }
}

/* Apart, because the sum needs registers that the plain norm has not to spare. */
#define PLAIN(threads, vectors)                                                      \
  TDM_TARGET_BARE(plan->launch, threads, x, weight, y, d, type) {                    \
    GPU_ROW_SLOTS(slots);                                                            \
    rmsnorm_arrays a = {.x = x, .weight = weight, .y = y};                           \
    TDM_BY_TYPE(type, rmsnorm_rows, a, *d, slots, false, vectors, gpu_here(threads)) \
  }
#define SUMMED(threads, vectors)                                                    \
  TDM_TARGET_BARE(plan->launch, threads, x, weight, residual, sum, y, d, type) {    \
    GPU_ROW_SLOTS(slots);                                                           \
    rmsnorm_arrays a = {x, weight, residual, sum, y};                               \
    TDM_BY_TYPE(type, rmsnorm_rows, a, *d, slots, true, vectors, gpu_here(threads)) \
  }

extern const tdm_kernel tdm_rmsnorm_omp;

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  return gpu_row_supports(plan, d->cols, reason, size) &&
         gpu_row_whole(d->cols, d->ldx | d->ldr | d->lds | d->ldy, d->type, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  tdm_plan_launch(plan, d->rows, gpu_row_shape_for(d->cols).threads);
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_detours(plan, buffers)) return tdm_rmsnorm_omp.launch(plan, buffers, stream);
  const void *x = buffers[0], *weight = buffers[1], *residual = buffers[2];
  void *sum = buffers[3], *y = buffers[4];
  const tdm_rmsnorm_desc *d = plan->table;
  tdm_type type = plan->desc.rmsnorm.type;
  gpu_row_shape shape = gpu_row_shape_for(plan->desc.rmsnorm.cols);
  if (residual == NULL) {
    GPU_ROW_LAUNCH(shape, PLAIN)
  } else {
    GPU_ROW_LAUNCH(shape, SUMMED)
  }
  return TDM_OK;
}

const tdm_kernel tdm_rmsnorm_omp_gpu = {.name = "omp_gpu",
                                        .op = TDM_OP_RMSNORM,
                                        .backend = &tdm_backend_omp,
                                        .supports = supports,
                                        .prepare = prepare,
                                        .launch = launch,
                                        .detour = {16, 0x1f, "omp"}};
