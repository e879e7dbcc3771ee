// c = a + b.
#include "hip/device/binary.h"

DEVICE float add(float a, float b) { return a + b; }

KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_f32(binary_args p) { binary_body(&p, add, TDM_F32); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_f16(binary_args p) { binary_body(&p, add, TDM_F16); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void add_bf16(binary_args p) { binary_body(&p, add, TDM_BF16); }
