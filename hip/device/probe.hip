// What a compiler must support to be used: a matrix instruction of each chip, and load-to-LDS.
#include "hip/device/chip.h"

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float4 __attribute__((ext_vector_type(4)));

extern "C" __attribute__((global)) void probe(float *to, const void *from) {
  __attribute__((shared)) static float memory[256];
  float4 sum = {};
#if CHIP_MFMA_16BIT_K == 32
  sum = __builtin_amdgcn_mfma_f32_16x16x32_f16((half8)(_Float16)1, (half8)(_Float16)1, sum, 0, 0, 0);
#else
  sum = __builtin_amdgcn_mfma_f32_16x16x16f16((half4)(_Float16)1, (half4)(_Float16)1, sum, 0, 0, 0);
#endif
  __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)from,
                                   (__attribute__((address_space(3))) void *)memory, CHIP_LOAD_TO_LDS_BYTES, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);  // the load is in LDS
  to[__builtin_amdgcn_workitem_id_x()] = sum[0] + memory[__builtin_amdgcn_workitem_id_x()];
}
