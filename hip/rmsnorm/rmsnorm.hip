// rmsnorm of rows, with or without a residual. A row that fits into a row group's registers is read once; a longer one twice,
// and so are those that are not whole chunks of 16 bytes.
#include "args.h"
#include "hip/device/row_groups.h"

// A chunk of the row that is normalised: x, plus the residual if there is one.
DEVICE chunk sum_of_raw(raw_chunk x, raw_chunk r, bool residual, tdm_type type) {
  chunk s = chunk_of(x, type);
  if (!residual) return s;
  chunk add = chunk_of(r, type);
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) s.of[i] += add.of[i];
  return s;
}

// In f64, in which squares of f32 can't overflow or vanish.
DEVICE double squares(const chunk *s, tdm_type type) {
  double sum = 0;
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) {
    sum = __builtin_fma((double)s->of[i].x, (double)s->of[i].x, sum);
    sum = __builtin_fma((double)s->of[i].y, (double)s->of[i].y, sum);
  }
  return sum;
}

// v_rsq_f64 is good to about 2^-24, and one Newton step to 2^-46. 0 and infinity have no step: they are exact.
DEVICE float inverse_root(double sum, const rmsnorm_args *p) {
  double mean = sum * p->per_col + (double)p->eps, root = __builtin_amdgcn_rsq(mean);
  double step = __builtin_fma(-mean * root, root, 1.0);
  return (float)(mean > 0 && mean < __builtin_inf() ? __builtin_fma(0.5 * root, step, root) : root);
}

// Writes a chunk of sum and of y.
DEVICE void store_results(char *y, char *sum, chunk s, raw_chunk weight, float inverse, bool residual, chunk_part of, bool any,
                          tdm_type type) {
  if (residual) store_part(sum, of, raw_of(s, false, type), any, type);
  chunk w = chunk_of(weight, type);
#pragma unroll
  for (int i = 0; i < chunk_pairs(type); i++) s.of[i] = s.of[i] * (f32x2)inverse * w.of[i];
  store_part(y, of, raw_of(s, false, type), any, type);
}

enum { KEPT_MOST = 4, BATCH_MOST = 4 };

DEVICE raw_chunk load_weight(const rmsnorm_args *p, int at, row_group_t g, tdm_type type) {
  chunk_part of = part_of(at, p->groups.cols, (row_place){0, g.lane * chunk_length(type)});
  return load_part((const char *)p->weight + g.lane * 16 + at * tdm_bytes(type), of, 0, false, type);
}

// `kept` chunks in each work-item: chunk k of work-item l is the row's chunk k * size + l. One or two keep their weights too.
DEVICE void rmsnorm_registers(const rmsnorm_args *p, int kept, tdm_type type) {
  SHARED static double slots[2 * ROW_WAVES_MOST];
  row_group_t group = row_group_of(&p->groups);
  const int cols = (int)p->groups.cols, step = chunk_length(type) << group.log2, step_bytes = 16 << group.log2;
  const bool residual = p->residual != nullptr;
  raw_chunk weight[KEPT_MOST];
  int turn = 0;
  bool first = true;
  FOR_ROWS(row, &p->groups, group) {
    const char *x = row_at(p->x, p->ldx, row, group, type), *r = row_at(p->residual, p->ldr, row, group, type);
    row_place place = place_row(&p->groups, row, x, group, false, type);
    raw_chunk raw[KEPT_MOST], more[KEPT_MOST];
    chunk s[KEPT_MOST];
    double sum = 0;
#pragma unroll
    for (int k = 0; k < kept; k++) {
      chunk_part of = part_of(k * step, cols, place);
      raw[k] = load_part(x + k * step_bytes, of, 0, false, type);
      if (residual) more[k] = load_part(r + k * step_bytes, of, 0, false, type);
    }
    if (first && kept <= 2)
      for (int k = 0; k < kept; k++) weight[k] = load_weight(p, k * step, group, type);
    first = false;
#pragma unroll
    for (int k = 0; k < kept; k++) {
      s[k] = sum_of_raw(raw[k], more[k], residual, type);
      sum += squares(&s[k], type);
    }
    float inverse = inverse_root(row_group_sum(sum, group, slots, &turn), p);
    char *y = (char *)row_at(p->y, p->ldy, row, group, type), *to = (char *)row_at(p->sum, p->lds, row, group, type);
#pragma unroll
    for (int k = 0; k < kept; k++) {
      place.own = in_order(place.own);  // else the masks of the loads stay in registers until here
      if (kept > 2) weight[k] = load_weight(p, k * step, group, type);
      store_results(y + k * step_bytes, to + k * step_bytes, s[k], weight[k], inverse, residual, part_of(k * step, cols, place),
                    false, type);
    }
  }
}

// Loads `batch` chunks at once.
DEVICE void rmsnorm_loop(const rmsnorm_args *p, int batch, bool any, tdm_type type) {
  SHARED static double slots[2 * ROW_WAVES_MOST];
  row_group_t group = row_group_of(&p->groups);
  const int64_t cols = p->groups.cols, step = (int64_t)chunk_length(type) << group.log2, step_bytes = 16LL << group.log2;
  const bool residual = p->residual != nullptr;
  int turn = 0;
  FOR_ROWS(row, &p->groups, group) {
    char *y = (char *)row_at(p->y, p->ldy, row, group, type);
    row_place place = place_row(&p->groups, row, y, group, any, type);
    const int64_t skew = 2 * place.skew;
    const char *x = row_at(p->x, p->ldx, row, group, type) - skew, *r = row_at(p->residual, p->ldr, row, group, type) - skew;
    double sum = 0;
    for (int64_t before = 0; before < cols + any; before += batch * step) {
      raw_chunk raw[BATCH_MOST], more[BATCH_MOST];
      int64_t at = before * tdm_bytes(type);
#pragma unroll
      for (int k = 0; k < batch; k++) {
        raw[k] = more[k] = raw_fill(0);
        if (k > 0 && before + k * step >= cols + any) continue;
        chunk_part of = part_of(before + k * step, cols, place);
        raw[k] = load_part(x + at + k * step_bytes, of, 0, any, type);
        if (residual) more[k] = load_part(r + at + k * step_bytes, of, 0, any, type);
      }
#pragma unroll
      for (int k = 0; k < batch; k++) {
        chunk s = sum_of_raw(raw[k], more[k], residual, type);
        sum += squares(&s, type);
      }
    }
    float inverse = inverse_root(row_group_sum(sum, group, slots, &turn), p);
    const char *weight = (const char *)p->weight + group.lane * 16 - skew;
    char *to = (char *)row_at(p->sum, p->lds, row, group, type) - skew;
    y -= skew;
    for (int64_t before = 0; before < cols + any; before += step) {
      int64_t at = before * tdm_bytes(type);
      chunk_part of = part_of(before, cols, place);
      raw_chunk one = load_part(x + at, of, 0, any, type), other = raw_fill(0), w = load_part(weight + at, of, 0, any, type);
      if (residual) other = load_part(r + at, of, 0, any, type);
      store_results(y + at, to + at, sum_of_raw(one, other, residual, type), w, inverse, residual, of, any, type);
    }
  }
}

#define RMSNORM(name, waves, body, ...) \
  ROWS_KERNEL(waves) void name(rmsnorm_args p) { body(&p, __VA_ARGS__); }
#define OF_16_BITS(word, type)                                  \
  RMSNORM(rmsnorm_1_##word, 8, rmsnorm_registers, 1, type)      \
  RMSNORM(rmsnorm_2_##word, 6, rmsnorm_registers, 2, type)      \
  RMSNORM(rmsnorm_4_##word, 4, rmsnorm_registers, 4, type)      \
  RMSNORM(rmsnorm_loop_##word, 4, rmsnorm_loop, 4, false, type) \
  RMSNORM(rmsnorm_any_##word, 4, rmsnorm_loop, 2, true, type)

RMSNORM(rmsnorm_1_f32, 8, rmsnorm_registers, 1, TDM_F32)
RMSNORM(rmsnorm_2_f32, 8, rmsnorm_registers, 2, TDM_F32)
RMSNORM(rmsnorm_4_f32, 5, rmsnorm_registers, 4, TDM_F32)
RMSNORM(rmsnorm_loop_f32, 5, rmsnorm_loop, 4, false, TDM_F32)
RMSNORM(rmsnorm_any_f32, 8, rmsnorm_loop, 2, true, TDM_F32)
OF_16_BITS(f16, TDM_F16)
OF_16_BITS(bf16, TDM_BF16)
