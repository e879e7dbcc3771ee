// y = silu(gate) * up.
#include "hip/device/binary.h"
#include "hip/device/math.h"

// 1 + e^-x for x whose exponent to base 2 is p. A reciprocal below 2^-126 would be 0, and 0 times an infinity NaN. So it stays
// 2^-126 until e^-x is above 2^150, where f32 has no smaller number than 0 either.
DEVICE float divisor(float p) {
  float d = 1 + __builtin_amdgcn_exp2f(__builtin_fminf(p, 126));
  return p < 150 ? d : __builtin_inff();
}

// 16-bit types: x / (1 + e^-x), with an exponent that is rounded once, as precise as an f32 that is rounded to them needs.
DEVICE f32x2 silu_mul(f32x2 gate, f32x2 up, tdm_type type) {
  if (type == TDM_F32) return (f32x2){silu_f32(gate.x), silu_f32(gate.y)} * up;
  f32x2 p = __builtin_elementwise_fma(gate, (f32x2)-0x1.715476p+0f, gate * -0x1.4ae0bep-26f);
  return gate * (f32x2){__builtin_amdgcn_rcpf(divisor(p.x)), __builtin_amdgcn_rcpf(divisor(p.y))} * up;
}

BINARY_OF_TYPES(silu_mul, silu_mul)
