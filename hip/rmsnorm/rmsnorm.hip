// rmsnorm of rows, with or without a residual. A row that fits into a row group's registers is read once; a longer one twice.
#include "args.h"
#include "hip/device/row_groups.h"

DEVICE bool all_wide(const rmsnorm_args *p, tdm_type type) {
  bool wide = wide_rows(p->x, p->ldx, type) && wide_rows(p->y, p->ldy, type) && wide_rows(p->weight, 0, type);
  return wide && (p->residual == nullptr || (wide_rows(p->residual, p->ldr, type) && wide_rows(p->sum, p->lds, type)));
}

// A chunk of the row that is normalised: x, plus the residual if there is one.
DEVICE void load_sum(float *s, const rmsnorm_args *p, int64_t row, int64_t i, int64_t left, bool wide, tdm_type type) {
  load_chunk(s, p->x, row * p->ldx + i, left, wide, type);
  if (p->residual == nullptr) return;
  float r[CHUNK_MOST];
  load_chunk(r, p->residual, row * p->ldr + i, left, wide, type);
#pragma unroll
  for (int j = 0; j < chunk_length(type); j++) s[j] += r[j];
}

// In f64, in which squares of f32 can't overflow or vanish.
DEVICE double squares(const float *s, tdm_type type) {
  double sum = 0;
#pragma unroll
  for (int j = 0; j < chunk_length(type); j++) sum += (double)s[j] * s[j];
  return sum;
}

DEVICE float inverse_root(double sum, int64_t cols, float eps) { return (float)(1 / __builtin_sqrt(sum / (double)cols + eps)); }

// Writes a chunk of sum and of y; changes s.
DEVICE void store_results(float *s, const rmsnorm_args *p, float inverse, int64_t row, int64_t i, int64_t left, bool wide,
                          tdm_type type) {
  if (p->residual != nullptr) store_chunk(p->sum, row * p->lds + i, left, wide, s, type);
  float w[CHUNK_MOST];
  load_chunk(w, p->weight, i, left, wide, type);
#pragma unroll
  for (int j = 0; j < chunk_length(type); j++) s[j] = s[j] * inverse * w[j];
  store_chunk(p->y, row * p->ldy + i, left, wide, s, type);
}

// `kept` chunks in each work-item: chunk k of work-item l is the row's chunk k * size + l.
DEVICE void rmsnorm_registers(const rmsnorm_args *p, int kept, tdm_type type) {
  ROW_GROUP_SLOTS(slots);
  row_group_t group = row_group_of(&p->groups, slots);
  int64_t cols = p->groups.cols, step = (int64_t)group.size * chunk_length(type),
          first = (int64_t)group.lane * chunk_length(type);
  bool wide = all_wide(p, type);
  FOR_ROWS(row, &p->groups, group) {
    int64_t left = row < p->groups.rows ? cols - first : 0;  // from this work-item's first element on
    float s[HIP_KEPT_ELEMENTS / 4][CHUNK_MOST];
    double sum = 0;
#pragma unroll
    for (int k = 0; k < kept; k++) load_sum(s[k], p, row, first + k * step, left - k * step, wide, type);
#pragma unroll
    for (int k = 0; k < kept; k++) sum += squares(s[k], type);
    float inverse = inverse_root(row_group_sum(sum, group), cols, p->eps);
#pragma unroll
    for (int k = 0; k < kept; k++) store_results(s[k], p, inverse, row, first + k * step, left - k * step, wide, type);
  }
}

DEVICE void rmsnorm_loop(const rmsnorm_args *p, tdm_type type) {
  ROW_GROUP_SLOTS(slots);
  row_group_t group = row_group_of(&p->groups, slots);
  int64_t step = (int64_t)group.size * chunk_length(type), first = (int64_t)group.lane * chunk_length(type);
  bool wide = all_wide(p, type);
  FOR_ROWS(row, &p->groups, group) {
    int64_t cols = row < p->groups.rows ? p->groups.cols : 0;
    float s[CHUNK_MOST];
    double sum = 0;
    for (int64_t i = first; i < cols; i += step) {
      load_sum(s, p, row, i, cols - i, wide, type);
      sum += squares(s, type);
    }
    float inverse = inverse_root(row_group_sum(sum, group), p->groups.cols, p->eps);
    for (int64_t i = first; i < cols; i += step) {
      load_sum(s, p, row, i, cols - i, wide, type);
      store_results(s, p, inverse, row, i, cols - i, wide, type);
    }
  }
}

#define REGISTERS(name, kept, type) \
  ROWS_KERNEL void name(rmsnorm_args p) { rmsnorm_registers(&p, kept, type); }
#define OF_TYPE(word, type)            \
  REGISTERS(rmsnorm_1_##word, 1, type) \
  REGISTERS(rmsnorm_2_##word, 2, type) \
  REGISTERS(rmsnorm_4_##word, 4, type) \
  ROWS_KERNEL void rmsnorm_loop_##word(rmsnorm_args p) { rmsnorm_loop(&p, type); }

OF_TYPE(f32, TDM_F32)
REGISTERS(rmsnorm_8_f32, 8, TDM_F32)
OF_TYPE(f16, TDM_F16)
OF_TYPE(bf16, TDM_BF16)
