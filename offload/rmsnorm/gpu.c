/* rmsnorm on GPUs, a row in the registers of a team, of a wave, or of half a wave: x (and residual) is read once, unless the
 * row is too long for them. */
#include "offload/device/device.h"
#include "offload/engine/gpu_row.h"
#include "rmsnorm.h"

/* A row, as one of its threads sees it. */
typedef struct row_view {
  rmsnorm_arrays a;
  gpu_row_cut x, residual, sum, y;
  float edge;
  int cols;
  bool summed; /* the residual is added */
} row_view;

/* Elements of a row: as in memory, which needs half the registers for 16-bit types; or with the residual added, in f32. */
typedef struct row_values {
  gpu_piece memory[GPU_MOST_PIECES];
  float sum[GPU_MOST_PIECES][GPU_PIECE_ELEMENTS];
} row_values;

TDM_INLINE float value_of(const row_values *s, int j, int e, bool summed, tdm_type type) {
  return summed ? s->sum[j][e] : gpu_piece_get(s->memory[j], e, type);
}

/* The pieces from piece `begin` on. */
TDM_INLINE void read_values(row_values *s, const row_view *v, int begin, int pieces, tdm_position self, tdm_type type) {
  gpu_piece residual[GPU_MOST_PIECES];
  gpu_cut_fetch(s->memory, v->a.x, v->x, begin, pieces, 0, self, type);
  if (!v->summed) return;
  gpu_cut_fetch(residual, v->a.residual, v->residual, begin, pieces, 0, self, type);
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < gpu_piece_elements(type); e++)
    s->sum[j][e] = gpu_piece_get(s->memory[j], e, type) + gpu_piece_get(residual[j], e, type);
}

/* Adds (scale s)^2 of the pieces: four sums in a thread. */
TDM_INLINE void add_squares(float sum[4], const row_values *s, const row_view *v, float scale, int pieces, tdm_type type) {
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < gpu_piece_elements(type); e++) {
    float x = value_of(s, j, e, v->summed, type) * scale;
    sum[e % 4] += x * x;
  }
}

/* Of the row: of the pieces in s, or, if it is looped, of pieces that are read into s now. */
TDM_INLINE float row_squares(row_values *s, const row_view *v, float scale, int pieces, bool looped, float *slots, int set,
                             tdm_position self, tdm_type type) {
  float sum[4] = {v->edge * scale * (v->edge * scale)};
  if (looped) {
    TDM_NO_UNROLL
    for (int begin = 0; begin < v->x.pieces; begin += pieces * self.threads) {
      read_values(s, v, begin, pieces, self, type);
      add_squares(sum, s, v, scale, pieces, type);
    }
  } else {
    add_squares(sum, s, v, scale, pieces, type);
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
TDM_INLINE float row_inverse_root(row_values *s, const row_view *v, float eps, int pieces, bool looped, float *slots,
                                  tdm_position self, tdm_type type) {
  float share = 1 / (float)v->cols, squares = row_squares(s, v, 1, pieces, looped, slots, 0, self, type);
  bool small = squares <= 0x1p-90f, scaled = !(squares > 0x1p-90f && squares < __builtin_inff());
  if (small && eps >= 0x1p-64f) scaled = false; /* squares that were lost are below 2^-26 of eps */
  float scale = small ? 0x1p90f : 0x1p-72f;
  if (gpu_any_of_wave(scaled, self)) {
    float again = row_squares(s, v, scale, pieces, looped, slots, 1, self, type);
    if (scaled) return inverse_root_f32(again * share + eps * scale * scale) * scale;
  }
  return inverse_root_f32(squares * share + eps);
}

/* y of the pieces from piece `begin` on, and the sum, if it is asked for. Weights begin at a multiple of 16 bytes, so pieces of
 * them do only where those of x begin with the row. */
TDM_INLINE void put_values(row_values *s, const row_view *v, float inverse, bool with_sum, int begin, int pieces,
                           tdm_position self, tdm_type type) {
  gpu_piece weight[GPU_MOST_PIECES];
  if (with_sum) gpu_cut_put(v->a.sum, v->sum, begin, pieces, self, type, s->sum);
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) {
    int at = gpu_cut_element(v->y, begin, j, self, type);
    weight[j] = gpu_cut_has(v->y, begin, j, self) ? gpu_piece_anywhere(v->a.weight, at, v->y.first == 0, type) : (gpu_piece){0};
  }
  TDM_GLOBAL gpu_piece *to = gpu_first_piece(v->a.y, v->y.at + v->y.first, self, type) + begin;
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) {
    float y[GPU_PIECE_ELEMENTS];
    TDM_UNROLL
    for (int e = 0; e < gpu_piece_elements(type); e++)
      y[e] = value_of(s, j, e, v->summed, type) * inverse * gpu_piece_get(weight[j], e, type);
    if (gpu_cut_has(v->y, begin, j, self)) to[j * self.threads] = gpu_piece_of(y, type);
  }
}

/* A group's row. looped: it is too long for the registers, and read twice, from its end on the second time: what was read last
 * is still in the caches. */
TDM_INLINE void rmsnorm_row(rmsnorm_arrays a, int64_t rows, tdm_rmsnorm_desc d, float *slots, bool summed, int pieces,
                            bool looped, bool edged, tdm_position self, tdm_type type) {
  const int64_t row = self.team;
  const int cols = row < rows ? (int)d.cols : 0; /* the last team may have groups without a row */
  const int step = pieces * self.threads;
  row_view v = {.a = a, .cols = (int)d.cols, .summed = summed};
  v.x = gpu_cut(row * d.ldx, cols, edged, self, type);
  v.y = gpu_cut_at(v.x, row * d.ldy);
  v.edge = gpu_edge_get(a.x, v.x, 0, type);
  if (summed) {
    v.residual = gpu_cut_at(v.x, row * d.ldr);
    v.sum = gpu_cut_at(v.x, row * d.lds);
    v.edge += gpu_edge_get(a.residual, v.residual, 0, type);
  }
  row_values s;
  if (!looped) read_values(&s, &v, 0, pieces, self, type);
  if (!looped && summed) gpu_cut_put(a.sum, v.sum, 0, pieces, self, type, s.sum);
  float inverse = row_inverse_root(&s, &v, d.eps, pieces, looped, slots, self, type);
  if (looped) {
    TDM_NO_UNROLL
    for (int begin = (v.x.pieces - 1) / step * step; begin >= 0; begin -= step) {
      read_values(&s, &v, begin, pieces, self, type);
      put_values(&s, &v, inverse, summed, begin, pieces, self, type);
    }
  } else {
    put_values(&s, &v, inverse, false, 0, pieces, self, type);
  }
  if (summed) gpu_edge_put(a.sum, v.sum, v.edge, type);
  if (v.y.edge >= 0) gpu_edge_put(a.y, v.y, v.edge * inverse * tdm_load(a.weight, v.y.edge, type), type);
}

/* A separate region, because the sum needs registers that the plain norm can't spare. The description is passed as scalars:
 * a team would have to wait for memory before it knows where its row is. With four pieces of 16-bit elements a looped one
 * needs 79 registers, and 1024 threads have 64. */
#define PIECES(pieces, looped, kind) ((looped) && (kind) != TDM_F32 ? 2 : (pieces))
#define PLAIN(threads, group, pieces, looped, edged, kind)                                                           \
  TDM_TARGET_BARE(plan->launch, threads, x, weight, y) {                                                             \
    GPU_ROW_SLOTS(slots);                                                                                            \
    rmsnorm_arrays a = {.x = x, .weight = weight, .y = y};                                                           \
    tdm_rmsnorm_desc of = {.cols = cols, .ldx = ldx, .ldy = ldy, .eps = eps};                                        \
    GPU_ROW_BY_TYPE(kind, type, rmsnorm_row, a, rows, of, slots, false, PIECES(pieces, looped, kind), looped, edged, \
                    gpu_group_position(threads, group));                                                             \
  }
#define SUMMED(threads, group, pieces, looped, edged, kind)                                                         \
  TDM_TARGET_BARE(plan->launch, threads, x, weight, residual, sum, y) {                                             \
    GPU_ROW_SLOTS(slots);                                                                                           \
    rmsnorm_arrays a = {x, weight, residual, sum, y};                                                               \
    tdm_rmsnorm_desc of = {.cols = cols, .ldx = ldx, .ldr = ldr, .lds = lds, .ldy = ldy, .eps = eps};               \
    GPU_ROW_BY_TYPE(kind, type, rmsnorm_row, a, rows, of, slots, true, PIECES(pieces, looped, kind), looped, edged, \
                    gpu_group_position(threads, group));                                                            \
  }

/* ---- Plan ---- */

extern const tdm_kernel tdm_rmsnorm_omp;

static gpu_row_shape shape_of(const tdm_rmsnorm_desc *d) {
  int64_t others = d->residual ? d->ldr | d->lds : 0;
  const int64_t rows = d->residual ? 0 : d->rows; /* two arrays are read, and two rows of them leave the L2 */
  return gpu_row_shape_for(rows, d->cols, !gpu_row_is_whole(d->cols, d->ldx | d->ldy | others, d->type), d->type);
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  return gpu_row_supports(plan, d->rows, d->cols, shape_of(d), reason, size) &&
         gpu_row_alike(d->rows, d->ldx, d->ldy, d->type, reason, size) &&
         (!d->residual || (gpu_row_alike(d->rows, d->ldx, d->ldr, d->type, reason, size) &&
                           gpu_row_alike(d->rows, d->ldx, d->lds, d->type, reason, size)));
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  gpu_row_shape shape = shape_of(d);
  tdm_plan_launch(plan, gpu_row_teams(d->rows, shape), shape.threads);
  return tdm_plan_upload(plan, d, sizeof *d); /* for the fallback */
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *x = buffers[0], *weight = buffers[1], *residual = buffers[2];
  void *sum = buffers[3], *y = buffers[4];
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  int64_t rows = d->rows, cols = d->cols, ldx = d->ldx, ldr = d->ldr, lds = d->lds, ldy = d->ldy;
  float eps = d->eps;
  tdm_type type = d->type;
  gpu_row_shape shape = shape_of(d);
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
