/* cross_entropy: log(sum(exp(row))) - row[target]. A team takes a row at a time and reads it once. */
#include "offload/device/device.h"
#include "offload/engine/exp_sum.h"
#include "src/base/loss.h"

/* The same value in every thread of the team. */
TDM_INLINE tdm_row_sum_t sum_of(const void *logits, int64_t row, tdm_cross_entropy_desc d, double *slots, tdm_position self,
                                tdm_type type) {
  TDM_SEGMENT_BUFFER(exps, TDM_KEPT_L1);
  float max;
  return tdm_sum_row(logits, row * d.ldl, d.vocab, exps, &max, slots, TDM_KEPT_L1, self, type);
}

TDM_INLINE float row_loss(const void *logits, int64_t row, int64_t target, tdm_cross_entropy_desc d, double *slots,
                          tdm_position self, tdm_type type) {
  if (target == d.ignore) return 0;
  if (target < 0 || target >= d.vocab) return __builtin_nanf("");
  tdm_row_sum_t s = sum_of(logits, row, d, slots, self, type);
  return tdm_log((float)s.sum) + (s.max - tdm_load(logits, row * d.ldl + target, type));
}

TDM_INLINE tdm_loss_part row_part(const void *logits, int64_t row, int64_t target, tdm_cross_entropy_desc d, double *slots,
                                  tdm_position self, tdm_type type) {
  if (target == d.ignore) return (tdm_loss_part){0, 0, 0};
  tdm_row_sum_t s = sum_of(logits, row, d, slots, self, type);
  int64_t local = tdm_loss_column(&d, target);
  return tdm_loss_part_of(&d, target, s.max, (float)s.sum, local < 0 ? 0 : tdm_load(logits, row * d.ldl + local, type));
}

TDM_INLINE void cross_entropy_body(const void *logits, const void *targets, float *loss, tdm_cross_entropy_desc d,
                                   double *slots, int64_t *claimed, tdm_position self, tdm_type type) {
  TDM_FOR_RUNS(rows, d.rows, d.vocab, claimed, self)
  for (int64_t row = rows.first; row < rows.end; row++) {
    int64_t target = tdm_index(targets, row, d.targets);
    if (d.total == 0) {
      float value = row_loss(logits, row, target, d, slots, self, type);
      if (self.thread == 0) loss[row] = value;
    } else {
      tdm_loss_part part = row_part(logits, row, target, d, slots, self, type);
      if (self.thread == 0) ((tdm_loss_part *)loss)[row] = part;
    }
  }
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  tdm_rows_launch(plan, d->rows, d->rows * (int64_t)sizeof(float));
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *logits = buffers[0];
  const void *targets = buffers[1];
  float *loss = buffers[2];
  const tdm_cross_entropy_desc *d = plan->table;
  tdm_type type = plan->desc.cross_entropy.type;
  TDM_TARGET_TEAMS(plan->launch, logits, targets, loss, d, type) {
    TDM_TEAM_SLOTS(slots);
    TDM_CLAIMS;
    TDM_PARALLEL {
      tdm_cross_entropy_desc own = *d; /* target.h says why */
      TDM_BY_TYPE(type, cross_entropy_body, logits, targets, loss, own, slots, TDM_CLAIMED, tdm_my_position());
    }
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_cross_entropy_omp) = {TDM_LEVEL_ROW("omp"), .op = TDM_OP_CROSS_ENTROPY,
                                                        .backend = &tdm_backend_omp, .prepare = prepare, .launch = launch};
