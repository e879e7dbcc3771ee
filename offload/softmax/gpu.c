/* softmax on GPUs, a row in the registers of a team, of a wave, or of half a wave. Rows that are too long for it are read
 * twice, from their end on the second time: what was read last is still in the caches. */
#include "offload/device/device.h"
#include "offload/engine/gpu_exp_sum.h"

/* A row and where its result is stored: what is masked becomes 0. */
typedef struct softmax_view {
  gpu_exp_row from;
  void *y;
  gpu_row_cut to;
} softmax_view;

TDM_INLINE bool is_hidden(const softmax_view *v, int at) { return v->from.masked && at >= v->from.seen; }

/* The result of the pieces from piece `begin` on. */
TDM_INLINE void put_pieces(const softmax_view *v, const gpu_piece *read, float max, float factor, int begin, int pieces,
                           tdm_position self, tdm_type type) {
  TDM_GLOBAL gpu_piece *to = gpu_first_piece(v->y, v->to.at + v->to.first, self, type) + begin;
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) {
    float y[GPU_PIECE_ELEMENTS];
    int at = gpu_cut_element(v->to, begin, j, self, type);
    TDM_UNROLL
    for (int e = 0; e < gpu_piece_elements(type); e++) {
      y[e] = gpu_exp(gpu_exp_get(&v->from, read[j], at, e, type) - max, type) * factor;
      if (is_hidden(v, at + e)) y[e] = 0; /* and not 0 times infinity */
    }
    if (gpu_cut_has(v->to, begin, j, self)) to[j * self.threads] = gpu_piece_of(y, type);
  }
}

TDM_INLINE void put_edge(const softmax_view *v, float y, tdm_type type) {
  gpu_edge_put(v->y, v->to, is_hidden(v, v->to.edge) ? 0 : y, type);
}

/* A row that its threads hold. */
TDM_INLINE void softmax_held(const softmax_view *v, float *slots, int pieces, tdm_position self, tdm_type type) {
  const int elements = gpu_piece_elements(type);
  float kept[GPU_MOST_PIECES][GPU_PIECE_ELEMENTS], edge = gpu_exp_edge(&v->from, type), max = GPU_EXP_LEAST;
  gpu_piece read[GPU_MOST_PIECES];
  gpu_exp_fetch(read, &v->from, 0, pieces, self, type);
  max = gpu_exp_largest(&v->from, read, edge > max ? edge : max, 0, pieces, self, type);
  max = gpu_row_reduce(max, TDM_MAX, slots, 0, self);
  edge = gpu_exp(edge - max, type);
  float part = edge;
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < elements; e++) {
    float x = gpu_exp_get(&v->from, read[j], gpu_cut_element(v->to, 0, j, self, type), e, type);
    kept[j][e] = gpu_exp(x - max, type);
    part += kept[j][e];
  }
  float factor = 1 / gpu_row_reduce(part, TDM_SUM, slots, 1, self);
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) TDM_UNROLL
  for (int e = 0; e < elements; e++) {
    kept[j][e] *= factor;
    if (is_hidden(v, gpu_cut_element(v->to, 0, j, self, type) + e)) kept[j][e] = 0; /* and not 0 times infinity */
  }
  gpu_cut_put(v->y, v->to, 0, pieces, self, type, kept);
  put_edge(v, edge * factor, type);
}

/* A row of any length: the last pieces are held, the others are read again. */
TDM_INLINE void softmax_looped(const softmax_view *v, float *slots, int pieces, tdm_position self, tdm_type type) {
  const int step = pieces * self.threads;
  float edge = gpu_exp_edge(&v->from, type);
  gpu_exp_sum s = gpu_exp_begin(edge, type);
  gpu_piece read[GPU_MOST_PIECES];
  int begin = 0;
  TDM_NO_UNROLL
  for (; begin + step < v->to.pieces; begin += step) {
    gpu_exp_fetch(read, &v->from, begin, pieces, self, type);
    s = gpu_exp_add(s, &v->from, read, begin, pieces, self, type);
  }
  gpu_exp_fetch(read, &v->from, begin, pieces, self, type);
  s = gpu_exp_reduce(gpu_exp_add(s, &v->from, read, begin, pieces, self, type), slots, self, type);
  float factor = 1 / s.sum;
  put_edge(v, gpu_exp(edge - s.max, type) * factor, type);
  put_pieces(v, read, s.max, factor, begin, pieces, self, type);
  TDM_NO_UNROLL
  for (begin -= step; begin >= 0; begin -= step) {
    gpu_exp_fetch(read, &v->from, begin, pieces, self, type);
    put_pieces(v, read, s.max, factor, begin, pieces, self, type);
  }
}

TDM_INLINE void softmax_row(const void *x, void *y, tdm_softmax_desc d, float *slots, bool causal, int pieces, bool looped,
                            bool edged, tdm_position self, tdm_type type) {
  const int64_t row = self.team;
  const int cols = row < d.rows ? (int)d.cols : 0; /* the last team may have groups without a row */
  softmax_view v = {.from = {.x = x, .masked = causal}, .y = y};
  v.from.cut = gpu_cut(row * d.ldx, cols, edged, self, type);
  v.from.seen = causal ? (int)tdm_softmax_seen(&d, row) : cols;
  v.to = gpu_cut_at(v.from.cut, row * d.ldy);
  if (looped)
    softmax_looped(&v, slots, pieces, self, type);
  else
    softmax_held(&v, slots, pieces, self, type);
}

/* A separate region, because causal rows take twice the time of whole rows. The description is passed as scalars, as in
 * rmsnorm/gpu.c. */
#define REGION(threads, group, pieces, looped, edged, kind, causal)                                         \
  TDM_TARGET_BARE(plan->launch, threads, x, y) {                                                            \
    GPU_ROW_SLOTS(slots);                                                                                   \
    tdm_softmax_desc of = {.rows = rows, .cols = cols, .ldx = ldx, .ldy = ldy, .causal_rows = causal_rows}; \
    GPU_ROW_BY_TYPE(kind, type, softmax_row, x, y, of, slots, causal, pieces, looped, edged,                \
                    gpu_group_position(threads, group));                                                    \
  }
/* With four pieces of 16-bit elements a looped one needs 67 registers, a causal one 71; 1024 threads have 64. */
#define FEWER(pieces, looped, kind, fewer) ((looped) && (kind) != TDM_F32 ? (fewer) : (pieces))
#define WHOLE(threads, group, pieces, looped, edged, kind) \
  REGION(threads, group, FEWER(pieces, looped, kind, 3), looped, edged, kind, false)
#define CAUSAL(threads, group, pieces, looped, edged, kind) \
  REGION(threads, group, FEWER(pieces, looped, kind, 2), looped, edged, kind, true)

/* ---- Plan ---- */

static gpu_row_shape shape_of(const tdm_softmax_desc *d) {
  return gpu_row_shape_for(d->rows, d->cols, !gpu_row_is_whole(d->cols, d->ldx | d->ldy, d->type), d->type);
}

extern const tdm_kernel tdm_softmax_omp;

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  return gpu_row_supports(plan, d->rows, d->cols, shape_of(d), reason, size) &&
         gpu_row_alike(d->rows, d->ldx, d->ldy, d->type, reason, size);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  gpu_row_shape shape = shape_of(d);
  tdm_plan_launch(plan, gpu_row_teams(d->rows, shape), shape.threads);
  return tdm_plan_upload(plan, d, sizeof *d); /* for the fallback */
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *x = buffers[0];
  void *y = buffers[1];
  const tdm_softmax_desc *d = &plan->desc.softmax;
  int64_t rows = d->rows, cols = d->cols, ldx = d->ldx, ldy = d->ldy, causal_rows = d->causal_rows;
  tdm_type type = d->type;
  gpu_row_shape shape = shape_of(d);
  if (causal_rows == 0) {
    GPU_ROW_LAUNCH(shape, type, WHOLE);
  } else {
    GPU_ROW_LAUNCH(shape, type, CAUSAL);
  }
  return TDM_OK;
}

const tdm_kernel tdm_softmax_omp_gpu = {.name = "omp_gpu",
                                        .op = TDM_OP_SOFTMAX,
                                        .backend = &tdm_backend_omp,
                                        .runs_on = tdm_gpus_only,
                                        .supports = supports,
                                        .prepare = prepare,
                                        .launch = launch,
                                        .fallback = {16, 0x3, &tdm_softmax_omp}};
