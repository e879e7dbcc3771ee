/* c = f(a, b), element by element. Memory is the limit, so every access is 16 bytes if the rows allow it. */
#ifndef TANDEM_HIP_DEVICE_BINARY_H
#define TANDEM_HIP_DEVICE_BINARY_H

#include "arguments.h"
#include "blocks.h"
#include "hip/args/binary.h"

typedef f32x2 (*binary_function)(f32x2, f32x2, tdm_type);

DEVICE void set_pointers(binary_args *p) { set_global(&p->a), set_global(&p->b), set_global(&p->c); }

DEVICE void binary_body(binary_args *p, binary_function f, bool any, tdm_type type) {
  if (any) take_rest(p); /* c decides where chunks begin */
  block_walk w = first_block(&p->blocks);
  do {
    const int skew = skew_at(chunk_at(p->c, p->ldc, &w, type), any, type);
    const chunk_part of = part_of(&w, &p->blocks, skew, any, type);
    const raw_chunk raw_a = load_part(chunk_at(p->a, p->lda, &w, type) - 2 * skew, of, 0, any, type),
                    raw_b = load_part(chunk_at(p->b, p->ldb, &w, type) - 2 * skew, of, 0, any, type);
    if (!any) take_rest(p);
    if (of.left <= 0) continue;
    chunk a = chunk_of(raw_a, type), b = chunk_of(raw_b, type);
#pragma unroll
    for (int i = 0; i < chunk_pairs(type); i++) a.of[i] = f(a.of[i], b.of[i], type);
    store_part((char *)chunk_at(p->c, p->ldc, &w, type) - 2 * skew, of, raw_of(a, false, type), any, type);
  } while (next_block(&w, &p->blocks));
}

#define BINARY(name, f, any, type)                                          \
  KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void name(ARGUMENT(binary_args)) { \
    binary_args p = ARGUMENT_OF(binary_args);                               \
    binary_body(&p, f, any, type);                                          \
  }
#define BINARY_OF_TYPES(name, f)           \
  BINARY(name##_f32, f, false, TDM_F32)    \
  BINARY(name##_f16, f, false, TDM_F16)    \
  BINARY(name##_bf16, f, false, TDM_BF16)  \
  BINARY(name##_any_f32, f, true, TDM_F32) \
  BINARY(name##_any_f16, f, true, TDM_F16) \
  BINARY(name##_any_bf16, f, true, TDM_BF16)

#endif
