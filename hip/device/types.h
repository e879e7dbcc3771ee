/* What HIP's own headers would provide, and the types of device code. Kernels are compiled without ROCm.
 *
 * Functions with a tdm_type argument are called with a constant wherever speed matters: they are inlined, and the switch
 * disappears. */
#ifndef TANDEM_HIP_DEVICE_TYPES_H
#define TANDEM_HIP_DEVICE_TYPES_H

#include <stdint.h>

#include "chip.h"
#include "src/base/types.h"
#include "tandem/tandem.h"

#define KERNEL extern "C" __attribute__((global))
#define DEVICE static inline __attribute__((device, always_inline))
/* A variable of the workgroup in LDS; and the type that a pointer to LDS points to. */
#define SHARED __attribute__((shared))
#define LDS __attribute__((address_space(3)))
/* The type that a pointer to memory points to. */
#define GLOBAL __attribute__((address_space(1)))
/* The workgroup's size, and how many waves must fit on a SIMD: each gets 512 registers divided by that number. */
#define WORKGROUP(threads, waves) \
  __attribute__((amdgpu_flat_work_group_size(threads, threads), amdgpu_waves_per_eu(waves, waves)))

typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef __bf16 bf16x4 __attribute__((ext_vector_type(4)));
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef short i16x4 __attribute__((ext_vector_type(4)));
typedef uint32_t u32x2 __attribute__((ext_vector_type(2)));
typedef uint32_t u32x4 __attribute__((ext_vector_type(4)));
typedef u32x4 __attribute__((aligned(4))) u32x4_at_dword; /* as global memory allows */

enum { WAVE = 64 };

DEVICE int thread_index(void) { return (int)__builtin_amdgcn_workitem_id_x(); }
/* The wave's number is the same in all its lanes. readfirstlane tells this to the compiler, which then keeps it in an SGPR. */
DEVICE int wave_index(void) { return __builtin_amdgcn_readfirstlane(thread_index() / WAVE); }
DEVICE int lane_index(void) { return thread_index() % WAVE; }

/* The four dwords that begin at bit `shift`, 0 to 31, of five in memory: of elements of 16 bits between two dwords, 16. */
DEVICE u32x4 shifted_dwords(u32x4 x, uint32_t next, uint32_t shift) {
  return (u32x4){__builtin_amdgcn_alignbit(x[1], x[0], shift), __builtin_amdgcn_alignbit(x[2], x[1], shift),
                 __builtin_amdgcn_alignbit(x[3], x[2], shift), __builtin_amdgcn_alignbit(next, x[3], shift)};
}

/* ---- Elements ---- */

DEVICE float load_element(const void *base, int64_t i, tdm_type type) {
  switch (type) {
    case TDM_F32: return ((const float *)base)[i];
    case TDM_F16: return (float)((const _Float16 *)base)[i];
    case TDM_BF16: return (float)((const __bf16 *)base)[i];
  }
  return 0;
}

/* Rounds to nearest even: v_cvt_f16_f32; for bf16 v_cvt_pk_bf16_f32 (gfx950) or clang's own sequence. */
DEVICE void store_element(void *base, int64_t i, float x, tdm_type type) {
  switch (type) {
    case TDM_F32: ((float *)base)[i] = x; break;
    case TDM_F16: ((_Float16 *)base)[i] = (_Float16)x; break;
    case TDM_BF16: ((__bf16 *)base)[i] = (__bf16)x; break;
  }
}

/* Four neighbours; their address must be a multiple of 4 elements. */
DEVICE f32x4 load_four(const void *base, int64_t i, tdm_type type) {
  switch (type) {
    case TDM_F32: return *(const f32x4 *)((const float *)base + i);
    case TDM_F16: return __builtin_convertvector(*(const f16x4 *)((const _Float16 *)base + i), f32x4);
    case TDM_BF16: return __builtin_convertvector(*(const bf16x4 *)((const __bf16 *)base + i), f32x4);
  }
  return (f32x4)0;
}

DEVICE void store_four(void *base, int64_t i, f32x4 x, tdm_type type) {
  switch (type) {
    case TDM_F32: *(f32x4 *)((float *)base + i) = x; break;
    case TDM_F16: *(f16x4 *)((_Float16 *)base + i) = __builtin_convertvector(x, f16x4); break;
    case TDM_BF16: *(bf16x4 *)((__bf16 *)base + i) = __builtin_convertvector(x, bf16x4); break;
  }
}

/* The same as a non-temporal store (nt), for data that nobody reads soon: the caches keep what they have. */
DEVICE void store_four_non_temporal(void *base, int64_t i, f32x4 x, tdm_type type) {
  switch (type) {
    case TDM_F32: __builtin_nontemporal_store(x, (f32x4 *)((float *)base + i)); break;
    case TDM_F16: __builtin_nontemporal_store(__builtin_convertvector(x, f16x4), (f16x4 *)((_Float16 *)base + i)); break;
    case TDM_BF16: __builtin_nontemporal_store(__builtin_convertvector(x, bf16x4), (bf16x4 *)((__bf16 *)base + i)); break;
  }
}

#endif
