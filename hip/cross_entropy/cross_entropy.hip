// cross_entropy of rows: log(sum(exp(row))) - row[target]. A row is read once; a row without a loss is not read.
#include "args.h"
#include "hip/device/softmax.h"

DEVICE float loss_of(const cross_entropy_args *p, int64_t target, float logit, bool valid, row_sum_t s) {
  if (target == p->ignore) return 0;
  if (!valid) return __builtin_nanf("");  // a target that the row does not have
  return log_normal(s.sum) + (s.max - logit);
}

// The largest logit, the sum and the target's logit of a part of the vocabulary.
DEVICE void store_part_of_row(const cross_entropy_args *p, int64_t row, int64_t target, float logit, row_sum_t s) {
  bool counts = target != p->ignore, known = target >= 0 && target < p->total;
  p->loss[3 * row] = counts ? s.sum == s.sum ? s.max : s.sum : 0;
  p->loss[3 * row + 1] = counts ? s.sum : 0;
  p->loss[3 * row + 2] = counts ? known ? logit : __builtin_nanf("") : 0;
}

DEVICE int64_t target_of(const cross_entropy_args *p, int64_t row) {
  return row < p->groups.rows ? load_index(p->targets, row, p->index) : -1;
}

// A row's target is loaded a round ahead: whether the row is read depends on it.
DEVICE void cross_entropy_body(const cross_entropy_args *p, int batch, bool any, tdm_type type) {
  SHARED static row_slots slots;
  row_group_t group = row_group_of(&p->groups);
  const bool part = p->total != 0;
  int turn = 0;
  int64_t next = target_of(p, group.first + group.sub);
  FOR_ROWS(first, &p->groups, group) {
    int64_t row = first + group.sub, target = next;
    const char *at = row_at(p->logits, p->ldl, first, group, type);
    row_place place = place_row(&p->groups, first, at, group, any, type);
    bool exists = row < p->groups.rows;
    next = target_of(p, row + group.step);
    bool valid = (part ? exists : target >= 0 && target < p->groups.cols) && target != p->ignore;
    if (!valid) place.own = 2 * FAR;
    // The target's logit, which comes before the row: 0 if another part has it.
    bool mine = valid && target >= p->first && target - p->first < p->groups.cols && group.lane == 0;
    float logit = mine ? load_element(p->logits, row * p->ldl + target - p->first, type) : 0;
    row_sum_t s = sum_row(at, p->groups.cols, place, group, &slots, &turn, batch, any, type);
    if (exists && group.lane == 0) {
      if (part)
        store_part_of_row(p, row, target, logit, s);
      else
        p->loss[row] = loss_of(p, target, logit, valid, s);
    }
  }
}

#define CROSS_ENTROPY(name, waves, ...) \
  ROWS_KERNEL(waves) void name(cross_entropy_args p) { cross_entropy_body(&p, __VA_ARGS__); }

CROSS_ENTROPY(cross_entropy_f32, 8, 4, false, TDM_F32)
CROSS_ENTROPY(cross_entropy_f16, 6, 4, false, TDM_F16)
CROSS_ENTROPY(cross_entropy_bf16, 6, 4, false, TDM_BF16)
// Rows that are not whole chunks of 16 bytes.
CROSS_ENTROPY(cross_entropy_any_f32, 8, 4, true, TDM_F32)
CROSS_ENTROPY(cross_entropy_any_f16, 6, 2, true, TDM_F16)
CROSS_ENTROPY(cross_entropy_any_bf16, 6, 2, true, TDM_BF16)
