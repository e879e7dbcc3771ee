/* Scalar arithmetic. Every expectation is written from the description in the MI300 ISA document, chapter 16. */
#include "expect.h"

EXPECT(s_add_carry, (u32)(a + b) | (u64)((u64)(u32)a + (u32)b > UINT32_MAX) << 32)
EXPECT(s_addc_carry, (u32)(a + b + (c & 1)) | (u64)((u64)(u32)a + (u32)b + (c & 1) > UINT32_MAX) << 32)
EXPECT(s_and, (u32)(a &b) | (u64)((u32)(a & b) != 0) << 32)
EXPECT(s_less, (u64)((i32)a < (i32)b) << 32 | (u32)old)
EXPECT(s_select, c & 1 ? (u32)a : (u32)b)
EXPECT(s_xor64, a ^ b)

static const instruction_test tests[] = {
    {"s_add_u32 s14, s8, s10", SCALAR_SCC, s_add_carry}, {"s_addc_u32 s14, s8, s10", SCALAR_SCC, s_addc_carry},
    {"s_and_b32 s14, s8, s10", SCALAR_SCC, s_and},       {"s_cmp_lt_i32 s8, s10", SCALAR_SCC, s_less},
    {"s_cselect_b32 s14, s8, s10", SCALAR32, s_select},  {"s_xor_b64 s[14:15], s[8:9], s[10:11]", SCALAR64, s_xor64},
};
TABLE(salu);
