// c = a + b; add_sums: b is f32, and the others have 16 bits.
#include "hip/device/binary.h"

DEVICE f32x2 add(f32x2 a, f32x2 b, tdm_type) { return a + b; }

BINARY_OF_TYPES(add, add)

// Of 16-bit elements two chunks of b are the same elements.
DEVICE void add_sums_body(const binary_args *p, bool any, tdm_type type) {
  const int half = chunk_length(TDM_F32);
  fetch_args(p);
  block_walk w = first_block(&p->blocks);
  do {
    char *c = (char *)chunk_at(p->c, p->ldc, &w, type);
    int skew = skew_at(c, any, type);
    chunk_part of = part_of(&w, &p->blocks, skew, any, type);
    if (of.left <= 0) continue;
    chunk a = chunk_of(load_part(chunk_at(p->a, p->lda, &w, type) - 2 * skew, of, 0, any, type), type);
    int64_t at = row_of(&w) * p->ldb + start_of(&w, type) - skew;
#pragma unroll
    for (int i = 0; i < 2; i++) {
      chunk_part part = {of.skipped - i * half, of.left - i * half};
      chunk b = chunk_of(load_part((const char *)p->b + (at + i * half) * 4, part, 0, any, TDM_F32), TDM_F32);
#pragma unroll
      for (int j = 0; j < 2; j++) a.of[2 * i + j] += b.of[j];
    }
    store_part(c - 2 * skew, of, raw_of(a, true, type), any, type);
  } while (next_block(&w, &p->blocks));
}

#define SUMS(name, any, type) \
  KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void name(binary_args p) { add_sums_body(&p, any, type); }
SUMS(add_sums_f16, false, TDM_F16)
SUMS(add_sums_bf16, false, TDM_BF16)
SUMS(add_sums_any_f16, true, TDM_F16)
SUMS(add_sums_any_bf16, true, TDM_BF16)
