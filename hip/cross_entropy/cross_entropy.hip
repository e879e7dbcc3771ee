// cross_entropy of rows: log(sum(exp(row))) - row[target]. A row is read once; a row without a loss is not read.
#include "args.h"
#include "hip/device/softmax.h"

DEVICE float loss_of(const cross_entropy_args *p, int64_t row, int64_t target, bool valid, row_sum_t s, tdm_type type) {
  if (target == p->ignore) return 0;
  if (!valid) return __builtin_nanf("");  // a target that the row does not have
  return log_f32((float)s.sum) + (s.max - load_element(p->logits, row * p->ldl + target, type));
}

// The largest logit, the sum and the target's logit of a part of the vocabulary.
DEVICE void store_part(const cross_entropy_args *p, int64_t row, int64_t target, row_sum_t s, tdm_type type) {
  bool counts = target != p->ignore, known = target >= 0 && target < p->total;
  bool mine = known && target >= p->first && target - p->first < p->groups.cols;
  float sum = (float)s.sum, logit = mine ? load_element(p->logits, row * p->ldl + target - p->first, type) : 0;
  p->loss[3 * row] = counts ? sum == sum ? s.max : sum : 0;
  p->loss[3 * row + 1] = counts ? sum : 0;
  p->loss[3 * row + 2] = counts ? known ? logit : __builtin_nanf("") : 0;
}

DEVICE void cross_entropy_body(const cross_entropy_args *p, tdm_type type) {
  ROW_GROUP_SLOTS(slots);
  row_group_t group = row_group_of(&p->groups, slots);
  bool wide = wide_rows(p->logits, p->ldl, type);
  FOR_ROWS(row, &p->groups, group) {
    bool exists = row < p->groups.rows;
    int64_t target = exists ? load_index(p->targets, row, p->index) : -1;
    bool part = p->total != 0, valid = (part ? exists : target >= 0 && target < p->groups.cols) && target != p->ignore;
    row_sum_t s = sum_row(p->logits, row * p->ldl, valid ? p->groups.cols : 0, wide, group, type);
    if (exists && group.lane == 0) {
      if (part)
        store_part(p, row, target, s, type);
      else
        p->loss[row] = loss_of(p, row, target, valid, s, type);
    }
  }
}

ROWS_KERNEL void cross_entropy_f32(cross_entropy_args p) { cross_entropy_body(&p, TDM_F32); }
ROWS_KERNEL void cross_entropy_f16(cross_entropy_args p) { cross_entropy_body(&p, TDM_F16); }
ROWS_KERNEL void cross_entropy_bf16(cross_entropy_args p) { cross_entropy_body(&p, TDM_BF16); }
