/* softmax: a team takes a row at a time. Its threads keep the exponentials of their first chunks and scale them; the others are
 * read a second time, which on hosts comes from the caches. */
#include "softmax.h"

/* y = exp(x - s.max) / s.sum; `factor` is 1 / s.sum for x, and for exponentials under a smaller maximum corrects that too. */
TDM_INLINE void scale_kept(float *y, const float *exps, int64_t n, float factor) {
  TDM_SIMD
  for (int64_t j = 0; j < n; j++) y[j] = exps[j] * factor;
}

TDM_INLINE void scale_again(float *y, const float *x, int64_t n, float max, float factor) {
  TDM_SIMD
  for (int64_t j = 0; j < n; j++) y[j] = tdm_exp_nonpositive(x[j] - max) * factor;
}

TDM_INLINE void softmax_body(const void *x, void *y, tdm_softmax_desc d, int stream, double *slots, tdm_here_t here,
                             tdm_type type) {
  tdm_kept_t kept;
  TDM_CHUNK_ROOM(room_x);
  TDM_CHUNK_ROOM(room_y);
  for (int64_t row = here.team; row < d.rows; row += here.teams) {
    int64_t at_x = row * d.ldx, at_y = row * d.ldy;
    tdm_row_sum_t s = tdm_sum_row(x, at_x, d.cols, &kept, slots, here, type);
    float inverse = (float)(1 / s.sum); /* of 0, for a row of -infinity: infinity, and NaN below */
    int chunk = 0;
    TDM_FOR_CHUNKS(i, n, d.cols, here) {
      if (row + here.teams < d.rows) tdm_chunk_prefetch(x, (row + here.teams) * d.ldx + i, n, type);
      float *to = tdm_chunk_place(y, at_y + i, type, stream, room_y);
      if (chunk < TDM_KEPT) {
        scale_kept(to, kept.exps[chunk], n, inverse * tdm_exp_nonpositive(kept.max[chunk] - s.max));
        chunk++;
      } else {
        scale_again(to, tdm_chunk_read(x, at_x + i, n, type, room_x), n, s.max, inverse);
      }
      tdm_chunk_write(y, at_y + i, n, type, stream, to);
    }
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
    TDM_PARALLEL { TDM_BY_TYPE(type, softmax_body, x, y, *d, past, slots, tdm_here()) }
  }
  return TDM_OK;
}

const tdm_kernel tdm_softmax_omp = {"omp", TDM_OP_SOFTMAX, &tdm_backend_omp, NULL, prepare, launch};
