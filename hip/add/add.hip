// c = a + b; add_sums: b is f32, and the others have 16 bits.
#include "hip/device/binary.h"

DEVICE float add(float a, float b) { return a + b; }

KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_f32(binary_args p) { binary_body(&p, add, TDM_F32); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_f16(binary_args p) { binary_body(&p, add, TDM_F16); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_bf16(binary_args p) { binary_body(&p, add, TDM_BF16); }

DEVICE void add_sums_body(const binary_args *p, tdm_type type) {
  bool wide = wide_rows(p->a, p->lda, type) && wide_rows(p->c, p->ldc, type), wide_b = wide_rows(p->b, p->ldb, TDM_F32);
  const int half = chunk_length(TDM_F32);
  FOR_BLOCKS(at, &p->blocks, type) {
    float a[CHUNK_MOST], b[CHUNK_MOST];
    load_chunk(a, p->a, at.row * p->lda + at.start, at.count, wide, type);
#pragma unroll
    for (int i = 0; i < 2; i++)
      load_chunk(b + i * half, p->b, at.row * p->ldb + at.start + i * half, at.count - i * half, wide_b, TDM_F32);
#pragma unroll
    for (int i = 0; i < chunk_length(type); i++) a[i] += b[i];
    store_chunk(p->c, at.row * p->ldc + at.start, at.count, wide, a, type);
  }
}

KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_sums_f16(binary_args p) { add_sums_body(&p, TDM_F16); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_sums_bf16(binary_args p) { add_sums_body(&p, TDM_BF16); }
