/* rmsnorm: y = x / sqrt(mean(x^2) + eps) * weight. A team takes a row at a time and reads it twice; on hosts the second
 * time comes from the caches. */
#include "rmsnorm.h"
#include "offload/device/device.h"

TDM_INLINE void rmsnorm_body(rmsnorm_arrays a, tdm_rmsnorm_desc d, int stream, double *slots, int64_t *claimed,
                             tdm_position self, tdm_type type) {
  TDM_CHUNK_BUFFER(buffer_s);
  TDM_CHUNK_BUFFER(buffer_w);
  TDM_CHUNK_BUFFER(buffer_y);
  TDM_FOR_RUNS(rows, d.rows, d.cols, claimed, self)
  for (int64_t row = rows.first; row < rows.end; row++) {
    int64_t at_x = row * d.ldx, at_r = row * d.ldr, at_s = row * d.lds, at_y = row * d.ldy;
    double squares = 0;
    TDM_FOR_CHUNKS(i, n, d.cols, self) squares += sum_of_squares(read_sum(a, at_x + i, at_r + i, n, type, buffer_s), n);
    squares = tdm_team_reduce(squares, TDM_SUM, slots, self);
    float inverse = inverse_root(squares, d);
    int64_t next = row + 1;
    TDM_FOR_CHUNKS(i, n, d.cols, self) {
      if (next < rows.end) tdm_chunk_prefetch(a.x, next * d.ldx + i, n, type);
      if (next < rows.end && a.residual != NULL) tdm_chunk_prefetch(a.residual, next * d.ldr + i, n, type);
      float *place_s = a.sum == NULL ? buffer_s : tdm_chunk_place(a.sum, at_s + i, type, stream, buffer_s);
      const float *s = read_sum(a, at_x + i, at_r + i, n, type, place_s);
      const float *w = tdm_chunk_read(a.weight, i, n, type, buffer_w);
      float *y = tdm_chunk_place(a.y, at_y + i, type, stream, buffer_y);
      TDM_EACH(j, n) y[j] = s[j] * inverse * w[j];
      if (a.sum != NULL) tdm_chunk_write(a.sum, at_s + i, n, type, stream, s);
      tdm_chunk_write(a.y, at_y + i, n, type, stream, y);
    }
  }
  tdm_stream_fence(stream);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  tdm_rows_launch(plan, d->rows, d->rows * d->cols * tdm_size(d->type));
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  rmsnorm_arrays a = {buffers[0], buffers[1], buffers[2], buffers[3], buffers[4]};
  const tdm_rmsnorm_desc *d = plan->table;
  tdm_type type = plan->desc.rmsnorm.type;
  int past = plan->launch.stream;
  TDM_TARGET_TEAMS(plan->launch, a, d, type, past) {
    TDM_TEAM_SLOTS(slots);
    TDM_CLAIMS;
    TDM_PARALLEL {
      rmsnorm_arrays arrays = a;
      tdm_rmsnorm_desc own = *d; /* target.h says why */
      TDM_BY_TYPE(type, rmsnorm_body, arrays, own, past, slots, TDM_CLAIMED, tdm_my_position());
    }
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_rmsnorm_omp) = {TDM_LEVEL_ROW("omp"), .op = TDM_OP_RMSNORM, .backend = &tdm_backend_omp,
                                                  .prepare = prepare, .launch = launch};
