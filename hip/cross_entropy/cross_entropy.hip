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

// Every lane loads one, also after the last row; and both halves of either type. After a branch it would be waited for at once.
DEVICE int64_t target_of(const cross_entropy_args *p, int64_t row) {
  const bool exists = row < p->groups.rows, wide = p->index == TDM_I64;
  const char *at = (const char *)p->targets + (exists ? row : p->groups.rows - 1) * (wide ? 8 : 4);
  uint32_t low = *(const uint32_t *)at, high = *(const uint32_t *)(at + (wide ? 4 : 0));
  int64_t target = (int64_t)((uint64_t)(wide ? high : (uint32_t)((int32_t)low >> 31)) << 32 | low);
  return exists ? target : -1;
}

// Whether the row is read.
DEVICE bool has_loss(const cross_entropy_args *p, int64_t target) {
  return (p->total != 0 || (target >= 0 && target < p->groups.cols)) && target != p->ignore;
}

// Whether this part of the vocabulary has the target.
DEVICE bool has_target(const cross_entropy_args *p, int64_t target) {
  return target >= p->first && target - p->first < p->groups.cols;
}

DEVICE void store_loss(const cross_entropy_args *p, int64_t row, int64_t target, float logit, bool valid, row_sum_t s) {
  if (p->total != 0)
    store_part_of_row(p, row, target, logit, s);
  else
    p->loss[row] = loss_of(p, target, logit, valid, s);
}

typedef struct one_row {
  row_batches batches;
  int64_t target;
  bool valid;  // it is read
} one_row;

DEVICE one_row row_of(const cross_entropy_args *p, int64_t first, int64_t target, row_group_t group, int batch, bool any,
                      tdm_type type) {
  const char *at = row_at(p->logits, p->ldl, first, group, type);
  row_place place = place_row(&p->groups, first, at, group, any, type);
  bool valid = first + group.sub < p->groups.rows && has_loss(p, target);
  if (!valid) place.own = 2 * FAR;
  return (one_row){batches_of(at, nothing_compared(type), p->groups.cols, place, group, batch, any, type), target, valid};
}

// A row is loaded a round ahead, and its target two: whether the row is read depends on it.
DEVICE void cross_entropy_body(const cross_entropy_args *p, int batch, bool any, tdm_type type) {
  SHARED static row_slots slots;
  row_group_t group = row_group_of(&p->groups);
  raw_chunk raw[BATCH_MOST];
  int turn = 0;
  int64_t mine = group.first + group.sub, target = target_of(p, mine + group.step);
  one_row now = row_of(p, group.first, target_of(p, mine), group, batch, any, type);
  if (!any) load_batch(raw, &now.batches, 0, group, batch, type);
  FOR_ROWS(first, &p->groups, group) {
    int64_t row = first + group.sub;
    one_row next = row_of(p, first + group.step, target, group, batch, any, type);
    target = target_of(p, row + 2 * group.step);
    // The target's logit: 0 if another part has it.
    bool has = now.valid && has_target(p, now.target);
    float logit = load_global_element(has ? now.batches.at : now.batches.elsewhere,
                                      has ? now.target - p->first - now.batches.own : 0, type);
    row_sum_t s = sum_row(raw, &now.batches, &next.batches, group, &slots, &turn, batch, any, type);
    if (row < p->groups.rows && group.lane == 0) store_loss(p, row, now.target, has ? logit : 0, now.valid, s);
    now = next;
  }
}

// ---- Rows that are split over workgroups: any rows ----

DEVICE float *logit_of(const cross_entropy_parts_args *p, int64_t row) {
  return p->sums + 2 * p->parts.rows * (int64_t)p->parts.parts + row;
}

// The workgroup of a row's first part also reads the target's logit. The second launch would have to wait for the target first.
DEVICE void cross_entropy_sums(const cross_entropy_parts_args *p, int batch, tdm_type type) {
  SHARED static row_slots slots;
  const row_part w = part_of_rows(&p->parts, p->rows.logits, p->rows.ldl, type);
  const char *from = part_at(p->rows.logits, p->rows.ldl, &w, type);
  const int64_t target = target_of(&p->rows, w.row);
  const bool valid = has_loss(&p->rows, target);
  const row_batches r = batches_of_part(from, nothing_compared(type), valid ? w.cols : 0, &w, batch, type);
  raw_chunk raw[BATCH_MOST];
  int turn = 0;
  float logit = 0;
  if (w.start == 0 && valid && has_target(&p->rows, target))
    logit = load_global_element(from - w.group.lane * 16, target - p->rows.first, type);
  store_part_sum(p->sums, sum_row(raw, &r, &r, w.group, &slots, &turn, batch, true, type));
  if (w.start == 0 && thread_index() == 0) *logit_of(p, w.row) = logit;
}

// A wave for each row.
DEVICE void cross_entropy_parts(const cross_entropy_parts_args *p) {
  const int64_t row = (int64_t)__builtin_amdgcn_workgroup_id_x() * (HIP_PARTS_WORKGROUP / WAVE) + wave_index();
  if (row >= p->parts.rows) return;
  const int64_t target = target_of(&p->rows, row);
  const float logit = *logit_of(p, row);
  const row_sum_t s = sum_of_parts(p->sums, row, p->parts.parts);
  if (lane_index() == 0) store_loss(&p->rows, row, target, logit, has_loss(&p->rows, target), s);
}

#define PARTS(word, type)                                                                                         \
  PARTS_KERNEL(6) void cross_entropy_sums_##word(cross_entropy_parts_args p) { cross_entropy_sums(&p, 2, type); } \
  PARTS_KERNEL(6) void cross_entropy_parts_##word(cross_entropy_parts_args p) { cross_entropy_parts(&p); }
PARTS(f32, TDM_F32)
PARTS(f16, TDM_F16)
PARTS(bf16, TDM_BF16)

#define CROSS_ENTROPY(name, waves, ...) \
  ROWS_KERNEL(waves) void name(cross_entropy_args p) { cross_entropy_body(&p, __VA_ARGS__); }

CROSS_ENTROPY(cross_entropy_f32, 5, 4, false, TDM_F32)
CROSS_ENTROPY(cross_entropy_f16, 4, 4, false, TDM_F16)
CROSS_ENTROPY(cross_entropy_bf16, 4, 4, false, TDM_BF16)
// Rows that are not whole chunks of 16 bytes.
CROSS_ENTROPY(cross_entropy_any_f32, 8, 4, true, TDM_F32)
CROSS_ENTROPY(cross_entropy_any_f16, 6, 2, true, TDM_F16)
CROSS_ENTROPY(cross_entropy_any_bf16, 6, 2, true, TDM_BF16)
