/* Vector comparisons. Every expectation is written from the description in the MI300 ISA document, chapter 16. */
#include "expect.h"

EXPECT(less_i32, (i32)a < (i32)b ? 1 : 0)
EXPECT(not_less_f32, f(a) < f(b) ? 0 : 1)

static const instruction_test tests[] = {
    {"v_cmp_lt_i32 vcc, v2, v4\n v_cndmask_b32 v10, 0, 1, vcc", VECTOR32, less_i32},
    {"v_cmp_nlt_f32 s[20:21], v2, v4\n v_cndmask_b32 v10, 0, 1, s[20:21]", VECTOR32, not_less_f32},
};
TABLE(vcmp);
