/* Which tile of queries a workgroup has, and which keys its rows see. */
#ifndef TANDEM_HIP_ATTENTION_WORK_H
#define TANDEM_HIP_ATTENTION_WORK_H

#include "../../src/order.h"
#include "../device/types.h"
#include "args.h"

/* A tile's arrays begin at the first row of its head. */
typedef struct attention_work {
  const char *q, *k, *v;
  char *o;
  float *lse;    /* of the head's first row */
  int64_t first; /* query row */
} attention_work;

/* Heads that share keys and values follow each other, and the order gives them to one XCD, whose L2 then holds their keys. The
 * last tiles come first: causal, they see the most keys, and the workgroups end together. */
DEVICE attention_work find_work(const attention_args *a, int rows, tdm_type type) {
  uint32_t at = tdm_order_remap(__builtin_amdgcn_workgroup_id_x(), a->count, a->xcds, a->chunk);
  uint32_t group = (uint32_t)a->group, of_kv = group * a->tiles, kv = at / of_kv, within = at % of_kv;
  int64_t batch = kv / (uint32_t)a->heads_kv, head_kv = kv % (uint32_t)a->heads_kv;
  int64_t head = head_kv * a->group + within % group, bytes = type_bytes(type);
  attention_work w;
  w.first = (int64_t)(a->tiles - 1 - within / group) * rows;
  w.q = (const char *)a->q + (batch * a->q_stride.batch + head * a->q_stride.head) * bytes;
  w.k = (const char *)a->k + (batch * a->k_stride.batch + head_kv * a->k_stride.head) * bytes;
  w.v = (const char *)a->v + (batch * a->v_stride.batch + head_kv * a->v_stride.head) * bytes;
  w.o = (char *)a->o + (batch * a->o_stride.batch + head * a->o_stride.head) * bytes;
  w.lse = a->lse == nullptr ? nullptr : a->lse + (batch * a->heads_q + head) * a->sq;
  return w;
}

DEVICE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Keys that query row `row` sees, the first ones: at most skv; rows beyond the last one see none. */
DEVICE int64_t keys_seen(const attention_args *a, int64_t row) {
  if (row >= a->sq) return 0;
  int64_t seen = a->causal ? row + 1 + a->skv - a->sq : a->skv;
  return seen < 0 ? 0 : seen;
}

/* Keys that any of `rows` rows from `first` on sees. */
DEVICE int64_t keys_seen_by_any(const attention_args *a, int64_t first, int rows) {
  return first >= a->sq ? 0 : keys_seen(a, least(first + rows, a->sq) - 1);
}

/* The same float of lane ^ 32: the lane that has the other keys of the same query. */
DEVICE float other_half(float x) {
#if defined(__gfx950__)
  u32x2 both = __builtin_bit_cast(
      u32x2, __builtin_amdgcn_permlane32_swap(__builtin_bit_cast(uint32_t, x), __builtin_bit_cast(uint32_t, x), false, false));
  return __builtin_bit_cast(float, lane_index() < 32 ? both[1] : both[0]);
#else
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane_index() ^ 32) * 4, __builtin_bit_cast(int, x)));
#endif
}

#endif
