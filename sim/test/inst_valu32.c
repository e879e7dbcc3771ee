/* Vector arithmetic on 32 bits. Every expectation is written from the description in the MI300 ISA document, chapter 16. */
#include "expect.h"

EXPECT(move, a)
EXPECT(add, (u32)(a + b))
EXPECT(sub, (u32)(a - b))
EXPECT(add_half, (u32)((a >> 16 & 0xffff) + (u32)b))
EXPECT(shift_left, (u32)b << (a & 31))
EXPECT(shift_right_signed, (u32)((i32)b >> (a & 31)))
EXPECT(multiply_high, (u64)(u32)a *(u32)b >> 32)
EXPECT(bit_field, (u32)((u32)a >> (b & 31) & ((UINT64_C(1) << (c & 31)) - 1)))
EXPECT(insert, (u32)((a & b) | (~a & c)))
EXPECT(add_f32, bits(f(a) + f(b)))
EXPECT(mul_f32, bits(f(a) * f(b)))
EXPECT(fma_f32, bits(fmaf(f(a), f(b), f(c))))
EXPECT(fmac_f32, bits(fmaf(f(a), f(b), f(old))))
EXPECT(sub_abs, bits(-f(a) + fabsf(f(b))))
EXPECT(clamped, bits(f(a) + f(b) > 0 ? fminf(f(a) + f(b), 1) : 0))
EXPECT(two_pi_inverse, bits(f(a) * f(0x3e22f983)))

static const instruction_test tests[] = {
    {"v_mov_b32 v10, v2", VECTOR32, move},
    {"v_add_u32 v10, v2, v4", VECTOR32, add},
    {"v_sub_u32 v10, v2, v4", VECTOR32, sub},
    {"v_subrev_u32 v10, v4, v2", VECTOR32, sub},
    {"v_add_u32_sdwa v10, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD", VECTOR32, add_half},
    {"v_lshlrev_b32 v10, v2, v4", VECTOR32, shift_left},
    {"v_ashrrev_i32 v10, v2, v4", VECTOR32, shift_right_signed},
    {"v_mul_hi_u32 v10, v2, v4", VECTOR32, multiply_high},
    {"v_bfe_u32 v10, v2, v4, v6", VECTOR32, bit_field},
    {"v_bfi_b32 v10, v2, v4, v6", VECTOR32, insert},
    {"v_add_f32 v10, v2, v4", VECTOR32, add_f32, .real = 'f'},
    {"v_mul_f32 v10, v2, v4", VECTOR32, mul_f32, .real = 'f'},
    {"v_fma_f32 v10, v2, v4, v6", VECTOR32, fma_f32, .real = 'f'},
    {"v_fmac_f32 v10, v2, v4", VECTOR32, fmac_f32, .real = 'f'},
    {"v_add_f32 v10, -v2, |v4|", VECTOR32, sub_abs, .real = 'f'},
    {"v_add_f32 v10, v2, v4 clamp", VECTOR32, clamped, .real = 'f'},
    {"v_mul_f32 v10, 0.15915494, v2", VECTOR32, two_pi_inverse, .real = 'f'},
};
TABLE(valu32);
