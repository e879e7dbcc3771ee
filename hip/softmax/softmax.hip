// softmax of rows. A row that fits into a row group's registers is read once; a longer one twice.
#include "args.h"
#include "hip/device/softmax.h"

// The number of columns that a row sees; a row after the last one sees none.
DEVICE int64_t columns_seen(const softmax_args *p, int64_t row) {
  int64_t cols = p->groups.cols;
  if (row >= p->groups.rows) return 0;
  if (p->causal_rows == 0) return cols;
  int64_t seen = row % p->causal_rows + 1 - p->causal_rows + cols;
  return seen < 0 ? 0 : seen < cols ? seen : cols;
}

// `kept` chunks in each work-item: chunk k of work-item l is the row's chunk k * size + l.
DEVICE void softmax_registers(const softmax_args *p, int kept, tdm_type type) {
  ROW_GROUP_SLOTS(slots);
  row_group_t group = row_group_of(&p->groups, slots);
  int64_t cols = p->groups.cols, step = (int64_t)group.size * chunk_length(type),
          first = (int64_t)group.lane * chunk_length(type);
  bool wide = wide_rows(p->x, p->ldx, type) && wide_rows(p->y, p->ldy, type);
  FOR_ROWS(row, &p->groups, group) {
    // From this work-item's first element on: the elements of the row, and those that it sees.
    int64_t left = row < p->groups.rows ? cols - first : 0, seen = columns_seen(p, row) - first;
    float x[HIP_KEPT_ELEMENTS / 4][CHUNK_MOST], max = LEAST_FLOAT, sum = 0;
#pragma unroll
    for (int k = 0; k < kept; k++) load_chunk(x[k], p->x, row * p->ldx + first + k * step, seen - k * step, wide, type);
#pragma unroll
    for (int k = 0; k < kept; k++) max = largest(x[k], seen - k * step, max, type);
    max = (float)row_group_max(max, group);
#pragma unroll
    for (int k = 0; k < kept; k++) sum += exponentials(x[k], seen - k * step, max, type);
    float inverse = 1 / (float)row_group_sum(sum, group);
#pragma unroll
    for (int k = 0; k < kept; k++) {
#pragma unroll
      for (int i = 0; i < chunk_length(type); i++)
        x[k][i] = i < seen - k * step ? x[k][i] * inverse : 0;  // and not x times 0, which may be NaN
      store_chunk(p->y, row * p->ldy + first + k * step, left - k * step, wide, x[k], type);
    }
  }
}

DEVICE void softmax_loop(const softmax_args *p, tdm_type type) {
  ROW_GROUP_SLOTS(slots);
  row_group_t group = row_group_of(&p->groups, slots);
  bool wide = wide_rows(p->x, p->ldx, type) && wide_rows(p->y, p->ldy, type);
  FOR_ROWS(row, &p->groups, group) {
    int64_t cols = row < p->groups.rows ? p->groups.cols : 0, seen = columns_seen(p, row);
    row_sum_t s = sum_row(p->x, row * p->ldx, seen, wide, group, type);
    float inverse = 1 / (float)s.sum;
    for (int64_t i = (int64_t)group.lane * chunk_length(type); i < cols; i += (int64_t)group.size * chunk_length(type)) {
      float x[CHUNK_MOST];
      load_chunk(x, p->x, row * p->ldx + i, seen - i, wide, type);
      exponentials(x, seen - i, s.max, type);
#pragma unroll
      for (int j = 0; j < chunk_length(type); j++) x[j] = j < seen - i ? x[j] * inverse : 0;
      store_chunk(p->y, row * p->ldy + i, cols - i, wide, x, type);
    }
  }
}

#define REGISTERS(name, kept, type) \
  ROWS_KERNEL void name(softmax_args p) { softmax_registers(&p, kept, type); }
#define OF_TYPE(word, type)            \
  REGISTERS(softmax_1_##word, 1, type) \
  REGISTERS(softmax_2_##word, 2, type) \
  REGISTERS(softmax_4_##word, 4, type) \
  ROWS_KERNEL void softmax_loop_##word(softmax_args p) { softmax_loop(&p, type); }

OF_TYPE(f32, TDM_F32)
REGISTERS(softmax_8_f32, 8, TDM_F32)
OF_TYPE(f16, TDM_F16)
OF_TYPE(bf16, TDM_BF16)
