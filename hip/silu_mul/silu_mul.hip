// y = silu(gate) * up.
#include "hip/device/binary.h"
#include "hip/device/math.h"

DEVICE float silu_mul(float gate, float up) { return silu_f32(gate) * up; }

KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void silu_mul_f32(binary_args p) { binary_body(&p, silu_mul, TDM_F32); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void silu_mul_f16(binary_args p) { binary_body(&p, silu_mul, TDM_F16); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void silu_mul_bf16(binary_args p) { binary_body(&p, silu_mul, TDM_BF16); }
