/* rope on GPUs: a team takes pieces of 16 bytes of one position, for all heads one after another. */
#include "offload/device/device.h"
#include "rope.h"

#include "offload/engine/gpu_row.h"

/* The number of pieces that a thread loads before it writes the first. */
enum { PIECES = 4 };

/* ---- Kernel ---- */

typedef float angle_pair __attribute__((vector_size(8), may_alias));

/* n cosines or sines, from an even one on. */
TDM_INLINE void read_angles(float *to, const float *from, int n) {
  TDM_UNROLL
  for (int i = 0; i < n; i += 2) {
    angle_pair pair = *(const TDM_GLOBAL angle_pair *)(uintptr_t)(from + i);
    to[i] = pair[0];
    to[i + 1] = pair[1];
  }
}

TDM_INLINE gpu_piece rotate_neighbours(gpu_piece x, const float *cosines, const float *sines, tdm_type type) {
  float y[GPU_PIECE_ELEMENTS];
  TDM_UNROLL
  for (int i = 0; i < gpu_piece_elements(type) / 2; i++) {
    float a = gpu_piece_get(x, 2 * i, type), b = gpu_piece_get(x, 2 * i + 1, type);
    y[2 * i] = a * cosines[i] - b * sines[i];
    y[2 * i + 1] = a * sines[i] + b * cosines[i];
  }
  return gpu_piece_of(y, type);
}

TDM_INLINE void rotate_halves(gpu_piece *first, gpu_piece *second, const float *cosines, const float *sines, tdm_type type) {
  float y0[GPU_PIECE_ELEMENTS], y1[GPU_PIECE_ELEMENTS];
  TDM_UNROLL
  for (int i = 0; i < gpu_piece_elements(type); i++) {
    float a = gpu_piece_get(*first, i, type), b = gpu_piece_get(*second, i, type);
    y0[i] = a * cosines[i] - b * sines[i];
    y1[i] = a * sines[i] + b * cosines[i];
  }
  *first = gpu_piece_of(y0, type);
  *second = gpu_piece_of(y1, type);
}

TDM_INLINE gpu_piece *piece_at(const void *base, int64_t element, tdm_type type) {
  return (gpu_piece *)((uintptr_t)base + (uintptr_t)(element * tdm_size(type)));
}

/* What a thread rotates at a time: a piece whose pairs are neighbours, or one of each half. */
TDM_INLINE int64_t items_of_head(const tdm_rope_desc *d, tdm_type type) {
  return d->head_dim / (d->style == TDM_ROPE_INTERLEAVED ? 1 : 2) / gpu_piece_elements(type);
}

TDM_INLINE int64_t blocks_of_position(const tdm_rope_desc *d, int each, tdm_type type) {
  return tdm_ceil_div(d->heads * items_of_head(d, type), (int64_t)GPU_ROW_THREADS * each);
}

/* The number of items that a thread loads: with halves each is two pieces. */
TDM_INLINE int items_at_a_time(bool halves) { return halves ? PIECES / 2 : PIECES; }

TDM_INLINE void rope_block(const void *x, void *y, const rope_table *t, int64_t at_x, int64_t at_y, uint32_t first,
                           const float *sincos, tdm_position self, tdm_type type, bool halves) {
  const tdm_rope_desc *d = &t->d;
  const int each = items_at_a_time(halves), elements = gpu_piece_elements(type);
  const uint32_t lanes = (uint32_t)items_of_head(d, type), items = (uint32_t)d->heads * lanes;
  const int64_t half = d->head_dim / 2;
  gpu_piece a[PIECES], b[PIECES];
  TDM_UNROLL
  for (int j = 0; j < each; j++) {
    uint32_t item = first + (uint32_t)(j * self.threads + self.thread), head = item / lanes, lane = item - head * lanes;
    int64_t at = at_x + head * d->x.head + (int64_t)lane * elements;
    if (item >= items) continue;
    a[j] = *(const TDM_GLOBAL gpu_piece *)piece_at(x, at, type);
    if (halves) b[j] = *(const TDM_GLOBAL gpu_piece *)piece_at(x, at + half, type);
  }
  TDM_UNROLL
  for (int j = 0; j < each; j++) {
    uint32_t item = first + (uint32_t)(j * self.threads + self.thread), head = item / lanes, lane = item - head * lanes;
    int64_t at = at_y + head * d->y.head + (int64_t)lane * elements;
    const int angles = halves ? elements : elements / 2;
    float cosines[GPU_PIECE_ELEMENTS], sines[GPU_PIECE_ELEMENTS];
    if (item >= items) continue;
    read_angles(cosines, sincos + (int64_t)lane * angles, angles);
    read_angles(sines, sincos + half + (int64_t)lane * angles, angles);
    if (halves)
      rotate_halves(&a[j], &b[j], cosines, sines, type);
    else
      a[j] = rotate_neighbours(a[j], cosines, sines, type);
    *(TDM_GLOBAL gpu_piece *)piece_at(y, at, type) = a[j];
    if (halves) *(TDM_GLOBAL gpu_piece *)piece_at(y, at + half, type) = b[j];
  }
}

TDM_INLINE void rope_body(const void *x, void *y, const rope_table *t, int64_t skipped, bool halves, tdm_position self,
                          tdm_type type) {
  const tdm_rope_desc *d = &t->d;
  const int each = items_at_a_time(halves);
  /* 32 bits are enough, because `supports` checks it; a GPU needs a hundred instructions for a 64-bit division */
  const uint32_t blocks = (uint32_t)blocks_of_position(d, each, type), seq = (uint32_t)d->seq;
  const uint32_t units = (uint32_t)d->batch * seq * blocks;
  TDM_NO_UNROLL
  for (uint32_t unit = (uint32_t)self.team; unit < units; unit += (uint32_t)self.teams) {
    uint32_t position = unit / blocks, batch = position / seq, s = position - batch * seq;
    uint32_t first = (unit - position * blocks) * (uint32_t)(each * self.threads);
    rope_block(x, y, t, batch * d->x.batch + s * d->x.seq, batch * d->y.batch + s * d->y.seq, first,
               t->sincos + skipped + s * d->head_dim, self, type, halves);
  }
}

/* ---- Plan ---- */

extern const tdm_kernel tdm_rope_omp;

static int64_t unit_count(const tdm_rope_desc *d) {
  return d->batch * d->seq * blocks_of_position(d, items_at_a_time(d->style == TDM_ROPE_HALF), d->type);
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_rope_desc *d = &plan->desc.rope;
  int64_t part = d->style == TDM_ROPE_INTERLEAVED ? d->head_dim : d->head_dim / 2;
  if (!tdm_threads_fit(plan->context, GPU_ROW_THREADS, reason, size) ||
      !gpu_row_whole(part, d->x.batch | d->x.seq | d->x.head | d->y.batch | d->y.seq | d->y.head, d->type, reason, size))
    return false;
  if (!plan->empty && (d->heads * d->head_dim > INT32_MAX || d->batch > INT32_MAX / d->seq || unit_count(d) > INT32_MAX)) {
    snprintf(reason, size, "more than 2^31 - 1 blocks, or elements of a position");
    return false;
  }
  return true;
}

static tdm_status prepare(tdm_plan *plan) {
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  tdm_plan_launch(plan, unit_count(&plan->desc.rope), GPU_ROW_THREADS);
  return tdm_rope_upload(plan);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *x = buffers[0];
  void *y = buffers[1];
  const rope_table *table = plan->table;
  tdm_type type = plan->desc.rope.type;
  int64_t skipped = tdm_rope_skipped(plan);
  if (plan->desc.rope.style == TDM_ROPE_INTERLEAVED) {
    TDM_TARGET_BARE(plan->launch, GPU_ROW_THREADS, x, y, table) {
      TDM_BY_TYPE(type, rope_body, x, y, table, skipped, false, gpu_position(GPU_ROW_THREADS));
    }
  } else {
    TDM_TARGET_BARE(plan->launch, GPU_ROW_THREADS, x, y, table) {
      TDM_BY_TYPE(type, rope_body, x, y, table, skipped, true, gpu_position(GPU_ROW_THREADS));
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_rope_omp_gpu = {.name = "omp_gpu",
                                     .op = TDM_OP_ROPE,
                                     .backend = &tdm_backend_omp,
                                     .runs_on = tdm_gpus_only,
                                     .supports = supports,
                                     .prepare = prepare,
                                     .launch = launch,
                                     .fallback = {16, 0x3, &tdm_rope_omp},
                                     .rebindable = true};
