/* Vector arithmetic on 64 bits. Every expectation is written from the description in the MI300 ISA document, chapter 16. */
#include "expect.h"

EXPECT(shift_left64, b << (a & 63))
EXPECT(wide_add, a + b)
EXPECT(wide_mad, (u64)(u32)a *(u32)b + c)

static const instruction_test tests[] = {
    {"v_lshlrev_b64 v[10:11], v2, v[4:5]", VECTOR64, shift_left64},
    {"v_add_co_u32 v10, vcc, v2, v4\n v_addc_co_u32 v11, vcc, v3, v5, vcc", VECTOR64, wide_add},
    {"v_lshl_add_u64 v[10:11], v[2:3], 0, v[4:5]", VECTOR64, wide_add},
    {"v_mad_u64_u32 v[10:11], vcc, v2, v4, v[6:7]", VECTOR64, wide_mad},
};
TABLE(valu64);
