// c = a + b: memory is the limit, so every access is 16 bytes where rows allow it.
#include "../device/blocks.h"
#include "args.h"

DEVICE void add_body(const add_args *p, tdm_type type) {
  bool wide = wide_rows(p->a, p->lda, type) && wide_rows(p->b, p->ldb, type) && wide_rows(p->c, p->ldc, type);
  FOR_BLOCKS(at, &p->blocks, type) {
    float a[CHUNK_MOST], b[CHUNK_MOST];
    load_chunk(a, p->a, at.row * p->lda + at.start, at.count, wide, type);
    load_chunk(b, p->b, at.row * p->ldb + at.start, at.count, wide, type);
#pragma unroll
    for (int i = 0; i < chunk_length(type); i++) a[i] += b[i];
    store_chunk(p->c, at.row * p->ldc + at.start, at.count, wide, a, type);
  }
}

KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_f32(add_args p) { add_body(&p, TDM_F32); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_f16(add_args p) { add_body(&p, TDM_F16); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_bf16(add_args p) { add_body(&p, TDM_BF16); }
