/* softmax: a team takes a row at a time. Its threads keep the exponentials of the row's last segment and scale them. Longer
 * rows are read a second time, which on hosts comes from the caches. */
#include "offload/device/device.h"
#include "offload/engine/exp_sum.h"

TDM_INLINE void scale(float *y, const float *exps, int64_t n, float factor) { TDM_EACH(j, n) y[j] = exps[j] * factor; }

/* Writes zeros to the columns that a row does not see. */
TDM_INLINE void clear(void *y, int64_t at, int64_t length, int stream, tdm_position self, tdm_type type) {
  TDM_CHUNK_BUFFER(buffer);
  TDM_FOR_CHUNKS(i, n, length, self) {
    float *to = tdm_chunk_place(y, at + i, type, stream, buffer);
    TDM_EACH(j, n) to[j] = 0;
    tdm_chunk_write(y, at + i, n, type, stream, to);
  }
}

TDM_INLINE void softmax_body(const void *x, void *y, tdm_softmax_desc d, int stream, double *slots, int64_t *claimed,
                             tdm_position self, tdm_type type) {
  TDM_SEGMENT_BUFFER(exps, TDM_KEPT_L2);
  TDM_CHUNK_BUFFER(buffer_y);
  int64_t step = tdm_segment_length(self, TDM_KEPT_L2);
  TDM_FOR_RUNS(rows, d.rows, d.cols, claimed, self)
  for (int64_t row = rows.first; row < rows.end; row++) {
    int64_t at_x = row * d.ldx, at_y = row * d.ldy, cols = tdm_softmax_seen(&d, row);
    int64_t last = cols > 0 ? (cols - 1) / step * step : -1;
    float max;
    tdm_row_sum_t s = tdm_sum_row(x, at_x, cols, exps, &max, slots, TDM_KEPT_L2, self, type);
    for (int64_t start = last; start >= 0;
         start -= step) { /* the last segment first, because its exponentials have been kept */
      int64_t length = tdm_min(step, cols - start);
      if (start < last) max = tdm_add_segment((tdm_row_sum_t){s.max, 0}, x, at_x + start, length, exps, self, type).max;
      /* 1 / s.sum, and from the segment's maximum to the row's. For a row of -infinity 1 / 0 makes it NaN. */
      float factor = (float)(1 / s.sum) * tdm_exp_nonpositive(max - s.max);
      const float *from = exps;
      TDM_FOR_CHUNKS(i, n, length, self) {
        if (row + 1 < rows.end) tdm_chunk_prefetch(x, at_x + d.ldx + start + i, n, type);
        float *to = tdm_chunk_place(y, at_y + start + i, type, stream, buffer_y);
        scale(to, from, n, factor);
        tdm_chunk_write(y, at_y + start + i, n, type, stream, to);
        from += TDM_CHUNK;
      }
    }
    clear(y, at_y + cols, d.cols - cols, stream, self, type);
  }
  tdm_stream_fence(stream);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  tdm_rows_launch(plan, d->rows, d->rows * d->cols * tdm_size(d->type));
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *x = buffers[0];
  void *y = buffers[1];
  const tdm_softmax_desc *d = plan->table;
  tdm_type type = plan->desc.softmax.type;
  int past = plan->launch.stream;
  TDM_TARGET_TEAMS(plan->launch, x, y, d, type, past) {
    TDM_TEAM_SLOTS(slots);
    TDM_CLAIMS;
    TDM_PARALLEL { TDM_BY_TYPE(type, softmax_body, x, y, *d, past, slots, TDM_CLAIMED, tdm_my_position()); }
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_softmax_omp) = {TDM_LEVEL_ROW("omp"), .op = TDM_OP_SOFTMAX, .backend = &tdm_backend_omp,
                                                  .prepare = prepare, .launch = launch};
