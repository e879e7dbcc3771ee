/* rmsnorm of short rows without gaps between them, and what all its kernels do at the end of a row. */
#ifndef TANDEM_HIP_RMSNORM_NEAR_H
#define TANDEM_HIP_RMSNORM_NEAR_H

#include "args.h"
#include "hip/device/near_rows.h"

/* v_rsq_f64 is good to about 2^-24, and one Newton step to 2^-46. 0 and infinity have no step: they are exact. */
DEVICE float inverse_root(double sum, const rmsnorm_args *p) {
  double mean = sum * p->per_col + (double)p->eps, root = __builtin_amdgcn_rsq(mean);
  double step = __builtin_fma(-mean * root, root, 1.0);
  return (float)(mean > 0 && mean < __builtin_inf() ? __builtin_fma(0.5 * root, step, root) : root);
}

/* In f64, of a dword, added to sum. */
DEVICE double square_of(f32x2 x, double sum, tdm_type type) {
  sum = __builtin_fma((double)x.x, (double)x.x, sum);
  return type == TDM_F32 ? sum : __builtin_fma((double)x.y, (double)x.y, sum);
}

/* The weights of the elements in a dword of the row that begins `begin` bytes after its turn; 0 for one that it has not. */
DEVICE uint32_t near_weight(const rmsnorm_args *p, uint32_t dword, uint32_t begin, tdm_type type) {
  const int bytes = tdm_bytes(type), at = (int)(dword * 4 - begin), end = (int)p->groups.cols * bytes;
  const char *from = (const char *)p->beside, *none = (const char *)nothing_added();
  const uint32_t low = load_single(at >= 0 && at < end ? from + at : none, type);
  if (type == TDM_F32) return low;
  return low | load_single(at + bytes >= 0 && at + bytes < end ? from + at + bytes : none, type) << 16;
}

/* Short rows without gaps between them, and without a residual: a wave loads and stores those of a turn as one range, and
 * loads a turn ahead. A work-item has the same elements of each of its rows, so it keeps their weights. */
template <int loads>
DEVICE void rmsnorm_near(rmsnorm_args *p, int log2, tdm_type type) {
  SHARED alignas(16) static uint32_t staged[HIP_ROWS_WORKGROUP / WAVE][near_room(loads)];
  row_group_t g = row_group_of(&p->groups);
  g.log2 = log2;  // a constant
  uint32_t *rows = staged[wave_index()], weight[NEAR_KEPT_MOST];
  const int cols = (int)p->groups.cols, steps = near_steps(cols, g, type);
  const uint32_t stride = 1u << g.log2;
  const near_place place = place_near(cols, g, steps, loads, 0, type);
  for_kept(place.first, steps - 1, stride, loads, [&](int k, int count, uint32_t at) {
#pragma unroll
    for (int i = 0; i < count; i++) weight[k + i] = near_weight(p, at + i * stride, place.begin, type);
  });
  const uint32_t last_weight = near_weight(p, place.last, place.begin, type);
  u32x4 raw[NEAR_LOADS_MOST];
  load_near(p->x, cols, raw, g.first, p->groups.rows, g, loads, type);
  take_rest(p);
  store_nothing_near(p->y, loads);
  rows[near_nothing(loads)] = 0;
  FOR_ROWS(row, &p->groups, g) {
    f32x2 x[NEAR_KEPT_MOST];
    stage_near(p->x, &p->groups, rows, raw, row, g, loads, type);
    load_near(p->x, cols, raw, row + g.step, p->groups.rows, g, loads, type);
    const f32x2 last = pair_in((rows[place.last] & place.keep) | place.add, type);
    double sum = square_of(last, 0, type);
    for_kept(place.first, steps - 1, stride, loads, [&](int k, int count, uint32_t at) {
#pragma unroll
      for (int i = 0; i < count; i++) x[k + i] = pair_in(rows[at + i * stride], type);
#pragma unroll
      for (int i = 0; i < count; i++) sum = square_of(x[k + i], sum, type);
    });
    const float inverse = inverse_root(lanes_reduce<double>(sum, g.log2, 0, sum_of), p);
    for_kept(place.first, steps - 1, stride, loads, [&](int k, int count, uint32_t at) {
#pragma unroll
      for (int i = 0; i < count; i++) {
        weight[k + i] = in_order(weight[k + i]);  // else they stay in registers as f32
        rows[at + i * stride] = word_of_pair(x[k + i] * (f32x2)inverse * pair_in(weight[k + i], type), type);
      }
    });
    put_last_near(rows, &place, loads, word_of_pair(last * (f32x2)inverse * pair_in(last_weight, type), type), type);
    store_near(p->y, &p->groups, rows, row, g, loads, type);
  }
}

#endif
