/* rope: rotates pairs of a head by the angle of their position. A team takes a position, and its threads take pairs of all
 * heads. */
#include <inttypes.h>
#include <stdlib.h>

#include "offload/device/device.h"
#include "offload/engine/row_work.h"
#include "rope.h"

/* ---- Kernel ---- */

TDM_INLINE void rotate_neighbours(float *y, const float *x, const float *cosines, const float *sines, int64_t n) {
  TDM_EACH_OF(j, TDM_CHUNK / 2, n) {
    float a = x[2 * j], b = x[2 * j + 1];
    y[2 * j] = a * cosines[j] - b * sines[j];
    y[2 * j + 1] = a * sines[j] + b * cosines[j];
  }
}

TDM_INLINE void rotate_halves(float *y0, float *y1, const float *x0, const float *x1, const float *cosines, const float *sines,
                              int64_t n) {
  TDM_EACH_OF(j, TDM_CHUNK, n) {
    float a = x0[j], b = x1[j];
    y0[j] = a * cosines[j] - b * sines[j];
    y1[j] = a * sines[j] + b * cosines[j];
  }
}

/* The number of pairs that a thread handles at a time: a chunk, or one of each half. */
TDM_INLINE int64_t pairs_at_a_time(const tdm_rope_desc *d) {
  return d->style == TDM_ROPE_INTERLEAVED ? TDM_CHUNK / 2 : TDM_CHUNK;
}

/* n pairs of a head, from pair i on. */
TDM_INLINE void rotate_chunk(const void *x, int64_t at_x, void *y, int64_t at_y, const rope_table *t, const float *sincos,
                             int64_t i, int64_t n, int stream, tdm_type type) {
  TDM_CHUNK_BUFFER(buffer_x0);
  TDM_CHUNK_BUFFER(buffer_x1);
  TDM_CHUNK_BUFFER(buffer_y0);
  TDM_CHUNK_BUFFER(buffer_y1);
  int64_t half = t->d.head_dim / 2;
  const float *cosines = sincos + i, *sines = sincos + half + i;
  if (t->d.style == TDM_ROPE_INTERLEAVED) {
    float *to = tdm_chunk_place(y, at_y + 2 * i, type, stream, buffer_y0);
    rotate_neighbours(to, tdm_chunk_read(x, at_x + 2 * i, 2 * n, type, buffer_x0), cosines, sines, n);
    tdm_chunk_write(y, at_y + 2 * i, 2 * n, type, stream, to);
  } else {
    int64_t first = at_x + i, second = first + half, to_first = at_y + i, to_second = to_first + half;
    float *y0 = tdm_chunk_place(y, to_first, type, stream, buffer_y0);
    float *y1 = tdm_chunk_place(y, to_second, type, stream, buffer_y1);
    rotate_halves(y0, y1, tdm_chunk_read(x, first, n, type, buffer_x0), tdm_chunk_read(x, second, n, type, buffer_x1), cosines,
                  sines, n);
    tdm_chunk_write(y, to_first, n, type, stream, y0);
    tdm_chunk_write(y, to_second, n, type, stream, y1);
  }
}

TDM_INLINE void rope_body(const void *x, void *y, const rope_table *t, int64_t skipped, int stream, int64_t *claimed,
                          tdm_position self, tdm_type type) {
  const tdm_rope_desc *d = &t->d;
  int64_t half = d->head_dim / 2, pairs = pairs_at_a_time(d);
  /* Groups of as many threads as a head has work for; each group takes a head. The remaining threads have nothing to do. */
  int lanes = (int)tdm_min(self.threads, tdm_ceil_div(half, pairs)), groups = self.threads / lanes;
  int group = self.thread / lanes, lane = self.thread % lanes;
  TDM_FOR_RUNS(units, d->batch * d->seq, d->heads * d->head_dim, claimed, self)
  for (int64_t unit = units.first; unit < units.end; unit++) {
    int64_t batch = unit / d->seq, s = unit % d->seq;
    int64_t at_x = batch * d->x.batch + s * d->x.seq, at_y = batch * d->y.batch + s * d->y.seq;
    for (int64_t head = group; head < d->heads && group < groups; head += groups)
      for (int64_t i = lane * pairs; i < half; i += lanes * pairs) {
        int64_t n = tdm_min(pairs, half - i), in = at_x + head * d->x.head, out = at_y + head * d->y.head;
        if (s + 1 < d->seq) tdm_chunk_prefetch(x, in + d->x.seq + 2 * i, 2 * n, type);
        rotate_chunk(x, in, y, out, t, t->sincos + skipped + s * d->head_dim, i, n, stream, type);
      }
  }
  tdm_stream_fence(stream);
}

/* ---- Plan ---- */

static void fill_sincos(float *sincos, const tdm_rope_desc *d) {
  int64_t half = d->head_dim / 2;
  for (int64_t i = 0; i < half; i++) {
    double frequency = tdm_rope_frequency(d, i);
    for (int64_t s = 0; s < d->positions; s++) {
      double angle = (double)(d->offset + s) * frequency;
      sincos[s * d->head_dim + i] = (float)__builtin_cos(angle);
      sincos[s * d->head_dim + half + i] = (float)__builtin_sin(angle);
    }
  }
}

tdm_status tdm_rope_upload(tdm_plan *plan) {
  const tdm_rope_desc *d = &plan->desc.rope;
  size_t bytes;
  rope_table *table = NULL;
  if (!__builtin_mul_overflow(d->positions, d->head_dim * sizeof(float), &bytes) &&
      !__builtin_add_overflow(bytes, sizeof *table, &bytes))
    table = malloc(bytes);
  if (table == NULL)
    return tdm_fail(TDM_ERROR_MEMORY,
                    "rope: positions = %" PRId64 ", head_dim = %" PRId64 ": no memory for a table of their angles",
                    d->positions, d->head_dim);
  table->d = *d;
  fill_sincos(table->sincos, d);
  tdm_status status = tdm_plan_upload(plan, table, bytes);
  free(table);
  return status;
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rope_desc *d = &plan->desc.rope;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  tdm_rows_launch(plan, d->batch * d->seq, d->batch * d->seq * d->heads * d->head_dim * tdm_size(d->type));
  return tdm_rope_upload(plan);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *x = buffers[0];
  void *y = buffers[1];
  const rope_table *table = plan->table;
  tdm_type type = plan->desc.rope.type;
  int past = plan->launch.stream;
  int64_t skipped = tdm_rope_skipped(plan);
  TDM_TARGET_TEAMS(plan->launch, x, y, table, type, skipped, past) {
    TDM_CLAIMS;
    TDM_PARALLEL { TDM_BY_TYPE(type, rope_body, x, y, table, skipped, past, TDM_CLAIMED, tdm_my_position()); }
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_rope_omp) = {TDM_LEVEL_ROW("omp"), .op = TDM_OP_ROPE, .backend = &tdm_backend_omp,
                                               .prepare = prepare,   .launch = launch,  .rebindable = true};
