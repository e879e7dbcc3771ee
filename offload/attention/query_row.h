/* What the attention kernels do with a row of queries. row_softmax is for those that have all scores of a tile in a row. */
#ifndef TANDEM_OFFLOAD_ATTENTION_QUERY_ROW_H
#define TANDEM_OFFLOAD_ATTENTION_QUERY_ROW_H

#include "offload/device/math.h"
#include "offload/device/vector.h"
#include "src/core/kernel.h"

/* The number of keys that query row `row` sees, out of a run's skv. */
TDM_INLINE int64_t keys_seen(const tdm_attention_desc *d, int64_t skv, int64_t row) {
  return d->causal ? tdm_min(skv, tdm_max(0, row + 1 + skv - d->sq)) : skv;
}

typedef int32_t vector_mask __attribute__((vector_size(4 * TDM_LANES)));

/* a > b ? a : b in each lane. In C, gcc 12 has no such operation on vectors. */
TDM_INLINE tdm_vec vector_greater(tdm_vec a, tdm_vec b) {
  vector_mask greater = a > b;
  return (tdm_vec)((greater & (vector_mask)a) | (~greater & (vector_mask)b));
}

TDM_INLINE float vector_max(const float *x, int count, float least) {
  tdm_vec best = tdm_vec_load(x);
  for (int j = TDM_LANES; j < count; j += TDM_LANES) best = vector_greater(tdm_vec_load(x + j), best);
  for (int l = 0; l < TDM_LANES; l++) least = best[l] > least ? best[l] : least;
  return least;
}

/* P = exp(S - max) in place, for the first `count` of a row's scores (more than 0; the memory has whole vectors). Updates
 * max and sum; sum is in as many partial sums as a vector has lanes. Returns the factor for the row's results so far. The
 * maximum ignores a NaN in a row, but the NaN makes the row's sum NaN. */
TDM_INLINE float row_softmax(float *s, int count, float *max, tdm_vec *sum) {
  int padded = (count + TDM_LANES - 1) / TDM_LANES * TDM_LANES;
  for (int j = count; j < padded; j++) s[j] = -__builtin_inff();
  float most = vector_max(s, padded, *max);
  float reference = most == -__builtin_inff() ? 0 : most; /* only -infinity so far: avoids inf - inf */
  for (int j = 0; j < padded; j++) s[j] = tdm_exp_nonpositive(s[j] - reference);
  float factor = tdm_exp_nonpositive(*max - reference);
  tdm_vec total = factor * *sum;
  for (int j = 0; j < padded; j += TDM_LANES) total += tdm_vec_load(s + j);
  *sum = total;
  *max = most;
  return factor;
}

#endif
