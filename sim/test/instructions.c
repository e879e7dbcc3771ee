/* The rows. Every expectation is written from the description in the MI300 ISA document, chapter 16. */
#include <math.h>
#include <string.h>

#include "harness.h"

typedef uint64_t u64;
typedef uint32_t u32;
typedef int32_t i32;

static float f(u64 bits) {
  float value;
  u32 low = (u32)bits;
  memcpy(&value, &low, sizeof value);
  return value;
}
static u64 bits(float value) {
  u32 low;
  memcpy(&low, &value, sizeof low);
  return low;
}

#define EXPECT(symbol, r)                           \
  static u64 symbol(u64 a, u64 b, u64 c, u64 old) { \
    (void)a, (void)b, (void)c, (void)old;           \
    return (r);                                     \
  }

EXPECT(move, a)
EXPECT(add, (u32)(a + b))
EXPECT(sub, (u32)(a - b))
EXPECT(add_half, (u32)((a >> 16 & 0xffff) + (u32)b))
EXPECT(shift_left, (u32)b << (a & 31))
EXPECT(shift_right_signed, (u32)((i32)b >> (a & 31)))
EXPECT(shift_left64, b << (a & 63))
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
EXPECT(less_i32, (i32)a < (i32)b ? 1 : 0)
EXPECT(not_less_f32, f(a) < f(b) ? 0 : 1)
EXPECT(wide_add, a + b)
EXPECT(wide_mad, (u64)(u32)a *(u32)b + c)

EXPECT(s_add_carry, (u32)(a + b) | (u64)((u64)(u32)a + (u32)b > UINT32_MAX) << 32)
EXPECT(s_addc_carry, (u32)(a + b + (c & 1)) | (u64)((u64)(u32)a + (u32)b + (c & 1) > UINT32_MAX) << 32)
EXPECT(s_and, (u32)(a &b) | (u64)((u32)(a & b) != 0) << 32)
EXPECT(s_less, (u64)((i32)a < (i32)b) << 32 | (u32)old)
EXPECT(s_select, c & 1 ? (u32)a : (u32)b)
EXPECT(s_xor64, a ^ b)

const instruction_test instruction_tests[] = {
    {"v_mov_b32 v10, v2", VECTOR32, move, false},
    {"v_add_u32 v10, v2, v4", VECTOR32, add, false},
    {"v_sub_u32 v10, v2, v4", VECTOR32, sub, false},
    {"v_subrev_u32 v10, v4, v2", VECTOR32, sub, false},
    {"v_add_u32_sdwa v10, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD", VECTOR32, add_half,
     false},
    {"v_lshlrev_b32 v10, v2, v4", VECTOR32, shift_left, false},
    {"v_ashrrev_i32 v10, v2, v4", VECTOR32, shift_right_signed, false},
    {"v_lshlrev_b64 v[10:11], v2, v[4:5]", VECTOR64, shift_left64, false},
    {"v_mul_hi_u32 v10, v2, v4", VECTOR32, multiply_high, false},
    {"v_bfe_u32 v10, v2, v4, v6", VECTOR32, bit_field, false},
    {"v_bfi_b32 v10, v2, v4, v6", VECTOR32, insert, false},
    {"v_add_f32 v10, v2, v4", VECTOR32, add_f32, true},
    {"v_mul_f32 v10, v2, v4", VECTOR32, mul_f32, true},
    {"v_fma_f32 v10, v2, v4, v6", VECTOR32, fma_f32, true},
    {"v_fmac_f32 v10, v2, v4", VECTOR32, fmac_f32, true},
    {"v_add_f32 v10, -v2, |v4|", VECTOR32, sub_abs, true},
    {"v_add_f32 v10, v2, v4 clamp", VECTOR32, clamped, true},
    {"v_mul_f32 v10, 0.15915494, v2", VECTOR32, two_pi_inverse, true},
    {"v_cmp_lt_i32 vcc, v2, v4\n v_cndmask_b32 v10, 0, 1, vcc", VECTOR32, less_i32, false},
    {"v_cmp_nlt_f32 s[20:21], v2, v4\n v_cndmask_b32 v10, 0, 1, s[20:21]", VECTOR32, not_less_f32, false},
    {"v_add_co_u32 v10, vcc, v2, v4\n v_addc_co_u32 v11, vcc, v3, v5, vcc", VECTOR64, wide_add, false},
    {"v_lshl_add_u64 v[10:11], v[2:3], 0, v[4:5]", VECTOR64, wide_add, false},
    {"v_mad_u64_u32 v[10:11], vcc, v2, v4, v[6:7]", VECTOR64, wide_mad, false},
    {"s_add_u32 s14, s8, s10", SCALAR_SCC, s_add_carry, false},
    {"s_addc_u32 s14, s8, s10", SCALAR_SCC, s_addc_carry, false},
    {"s_and_b32 s14, s8, s10", SCALAR_SCC, s_and, false},
    {"s_cmp_lt_i32 s8, s10", SCALAR_SCC, s_less, false},
    {"s_cselect_b32 s14, s8, s10", SCALAR32, s_select, false},
    {"s_xor_b64 s[14:15], s[8:9], s[10:11]", SCALAR64, s_xor64, false},
};
const int instruction_test_count = sizeof instruction_tests / sizeof instruction_tests[0];
