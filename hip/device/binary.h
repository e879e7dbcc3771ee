/* c = f(a, b), element by element. Memory is the limit, so every access is 16 bytes if the rows allow it. */
#ifndef TANDEM_HIP_DEVICE_BINARY_H
#define TANDEM_HIP_DEVICE_BINARY_H

#include "blocks.h"
#include "hip/args/binary.h"

typedef float (*binary_function)(float, float);

DEVICE void binary_body(const binary_args *p, binary_function f, tdm_type type) {
  bool wide = wide_rows(p->a, p->lda, type) && wide_rows(p->b, p->ldb, type) && wide_rows(p->c, p->ldc, type);
  FOR_BLOCKS(at, &p->blocks, type) {
    float a[CHUNK_MOST], b[CHUNK_MOST];
    load_chunk(a, p->a, at.row * p->lda + at.start, at.count, wide, type);
    load_chunk(b, p->b, at.row * p->ldb + at.start, at.count, wide, type);
#pragma unroll
    for (int i = 0; i < chunk_length(type); i++) a[i] = f(a[i], b[i]);
    store_chunk(p->c, at.row * p->ldc + at.start, at.count, wide, a, type);
  }
}

#endif
