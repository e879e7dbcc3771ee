/* The second pass of decode: adds the key splits of each row, in their order. A work-item has one element of O. */
#include "work.h"

DEVICE void parts_body(const attention_args *a, tdm_type type) {
  int64_t element = (int64_t)__builtin_amdgcn_workgroup_id_x() * PARTS_THREADS + thread_index();
  int64_t row = element / a->head_dim, column = element % a->head_dim; /* row of [batch, heads_q, sq] */
  int64_t head = row / a->sq, query = row % a->sq, batch = head / a->heads_q, rows = a->group * a->sq;
  if (batch * a->heads_kv * a->splits >= a->count) return;
  int64_t first = head / a->group * a->splits, of_group = head % a->group * a->sq + query;
  const float *o = part_results(a, first) + of_group * a->head_dim + column, *numbers = part_numbers(a, first) + of_group * 2;
  float reference = -__builtin_inff(), sum = 0, x = 0;
  for (uint32_t i = 0; i < a->splits; i++) reference = __builtin_fmaxf(reference, numbers[i * rows * 2]);
  for (uint32_t i = 0; i < a->splits; i++) {
    float own = numbers[i * rows * 2];
    float factor = reference == -__builtin_inff() ? 1 : __builtin_amdgcn_exp2f(own - reference);
    sum += factor * numbers[i * rows * 2 + 1];
    x += factor * o[i * rows * a->head_dim];
  }
  bool any = !a->causal || query + a->skv >= a->sq;
  int64_t to = batch * a->o_stride.batch + head % a->heads_q * a->o_stride.head + query * a->o_stride.row + column;
  store_element(a->o, to, any ? x / sum : 0, type);
  if (a->lse != nullptr && column == 0) a->lse[row] = log_sum(reference, sum);
}

#define PARTS_KERNEL(name, type) \
  KERNEL WORKGROUP(PARTS_THREADS, 4) void name(attention_args a) { parts_body(&a, type); }
PARTS_KERNEL(parts_f32, TDM_F32)
PARTS_KERNEL(parts_f16, TDM_F16)
PARTS_KERNEL(parts_bf16, TDM_BF16)
