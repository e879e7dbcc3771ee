/* Scalar instructions that write EXEC, hardware registers, branches and scalar memory. Every expectation is written from the
 * pseudocode of the CDNA 4 ISA. EXEC is b before the instruction. */
#include "sim/test/expect.h"

#define SAVEEXEC(name, r) EXPECT(name, r) EXPECT(name##_any, (r) != 0)

SAVEEXEC(and, a &b)
SAVEEXEC(or, a | b)
SAVEEXEC(xor, a ^ b)
SAVEEXEC(andn2, a & ~b)
SAVEEXEC(orn2, a | ~b)
SAVEEXEC(andn1, ~a &b)
SAVEEXEC(orn1, ~a | b)
SAVEEXEC(nand, ~(a &b))
SAVEEXEC(nor, ~(a | b))
SAVEEXEC(xnor, ~(a ^ b))
EXPECT(exec_before, b)

EXPECT(low_nibble, a & 15)
EXPECT(mode_at_start, 0x3c0 | 0x30)
EXPECT(nothing_left, 0)
EXPECT(denormals_off, 0xc0)
EXPECT(first_word, (u32)a)
EXPECT(loaded_b, b)
EXPECT(two_dwords, a)
EXPECT(one_inside, (u32)a)
EXPECT(one_stored, (u32)a | (b & ~(u64)UINT32_MAX))
EXPECT(taken, 7)
EXPECT(grows, 1)

/* An atomic of b in memory with a: what memory holds afterwards, and what was found. */
EXPECT(sum32, (u32)(a + b))
EXPECT(sum64, a + b)
EXPECT(difference64, b - a)
EXPECT(found32, (u32)b)
EXPECT(found64, b)
EXPECT(swapped64, a)
EXPECT(least_signed, (i32)a < (i32)b ? (u32)a : (u32)b)
EXPECT(most_unsigned64, a > b ? a : b)
EXPECT(both, a &b)
EXPECT(either, a | b)
EXPECT(one_of, a ^ b)
EXPECT(counted_up, (u32)b >= (u32)a ? 0 : (u32)b + 1)
EXPECT(counted_down, (u32)b == 0 || (u32)b > (u32)a ? (u32)a : (u32)b - 1)
EXPECT(swapped_if_equal, a)
EXPECT(kept_if_other, (u32)b == 5 ? (u32)a : (u32)b)

/* The new EXEC, the saved one, SCC. */
#define EXEC_TEXT(name) "s_mov_b64 exec, s[10:11]\n " name " s[14:15], s[8:9]"
#define SAVEEXEC_ROWS(op)                                                                                \
  {EXEC_TEXT("s_" #op "_saveexec_b64") "\n s_mov_b64 s[14:15], exec\n s_mov_b64 exec, 1", SCALAR64, op}, \
      {EXEC_TEXT("s_" #op "_saveexec_b64") "\n s_mov_b64 exec, 1", SCALAR64, exec_before}, {             \
    EXEC_TEXT("s_" #op "_saveexec_b64") "\n s_mov_b64 exec, 1", SCC_ONLY, op##_any                       \
  }
#define WREXEC_ROWS(op)                                                                                \
  {EXEC_TEXT("s_" #op "_wrexec_b64") "\n s_mov_b64 s[14:15], exec\n s_mov_b64 exec, 1", SCALAR64, op}, \
      {EXEC_TEXT("s_" #op "_wrexec_b64") "\n s_mov_b64 exec, 1", SCALAR64, op}, {                      \
    EXEC_TEXT("s_" #op "_wrexec_b64") "\n s_mov_b64 exec, 1", SCC_ONLY, op##_any                       \
  }

/* s[16:17]: the address of the item. */
#define ITEM_ADDRESS "s_mul_i32 s16, s2, 48\n s_mul_hi_u32 s17, s2, 48\n s_add_u32 s16, s16, s4\n s_addc_u32 s17, s17, s5\n "
#define WAIT "\n s_waitcnt lgkmcnt(0)"
/* With a in s[20:21], b in memory. */
#define ATOMIC(name, data, more, kind, expect)                                                        \
  {ITEM_ADDRESS "s_mov_b64 s[20:21], s[8:9]\n " more "s_atomic_" name " " data ", s[16:17], 0x8" WAIT \
                "\n s_load_dwordx2 s[14:15], s[16:17], 0x8" WAIT,                                     \
   kind, expect}

static const instruction_test tests[] = {
    SAVEEXEC_ROWS(and),
    SAVEEXEC_ROWS(or),
    SAVEEXEC_ROWS(xor),
    SAVEEXEC_ROWS(andn2),
    SAVEEXEC_ROWS(orn2),
    SAVEEXEC_ROWS(andn1),
    SAVEEXEC_ROWS(orn1),
    SAVEEXEC_ROWS(nand),
    SAVEEXEC_ROWS(nor),
    SAVEEXEC_ROWS(xnor),
    WREXEC_ROWS(andn1),
    WREXEC_ROWS(andn2),
    {"s_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 10)", SCALAR32, mode_at_start},
    {"s_and_b32 s16, s8, 15\n s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s16\n s_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 4)\n"
     " s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
     SCALAR32, low_nibble},
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n s_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 8)\n"
     " s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3",
     SCALAR32, denormals_off},
    /* s2 is the number of the workgroup; the chips have 8 XCDs */
    {"s_getreg_b32 s14, hwreg(HW_REG_XCC_ID, 0, 4)\n s_and_b32 s16, s2, 7\n s_xor_b32 s14, s14, s16", SCALAR32, nothing_left},
    {ITEM_ADDRESS "s_load_dword s14, s[16:17], 0x0" WAIT, SCALAR32, first_word},
    {ITEM_ADDRESS "s_load_dwordx2 s[14:15], s[16:17], 0x8" WAIT, SCALAR64, loaded_b},
    {ITEM_ADDRESS "s_load_dword s14, s[16:17], 0x0 glc" WAIT, SCALAR32, first_word},
    {ITEM_ADDRESS "s_mov_b32 s18, 4\n s_load_dwordx2 s[14:15], s[16:17], s18 offset:0x4 glc" WAIT, SCALAR64, loaded_b},
    {ITEM_ADDRESS "s_mov_b32 s18, 8\n s_mov_b32 s19, 0\n s_buffer_load_dwordx2 s[14:15], s[16:19], 0x0 glc" WAIT, SCALAR64,
     two_dwords},
    {ITEM_ADDRESS "s_mov_b64 s[20:21], s[8:9]\n s_store_dwordx2 s[20:21], s[16:17], 0x8 glc\n s_dcache_wb" WAIT
                  "\n s_load_dwordx2 s[14:15], s[16:17], 0x8 glc" WAIT,
     SCALAR64, two_dwords},
    {ITEM_ADDRESS "s_mov_b32 s18, 12\n s_mov_b32 s19, 0\n s_mov_b64 s[20:21], s[8:9]\n"
                  " s_buffer_store_dwordx2 s[20:21], s[16:19], 0x8 glc\n s_dcache_wb" WAIT
                  "\n s_load_dwordx2 s[14:15], s[16:17], 0x8" WAIT,
     SCALAR64, one_stored},
    {ITEM_ADDRESS "s_mov_b32 s18, 4\n s_load_dwordx2 s[14:15], s[16:17], s18 offset:0x4" WAIT, SCALAR64, loaded_b},
    {ITEM_ADDRESS "s_mov_b32 s18, 8\n s_load_dwordx2 s[14:15], s[16:17], s18" WAIT, SCALAR64, loaded_b},
    {ITEM_ADDRESS "s_add_u32 s16, s16, 16\n s_addc_u32 s17, s17, 0\n s_load_dwordx2 s[14:15], s[16:17], -0x8" WAIT, SCALAR64,
     loaded_b},
    {ITEM_ADDRESS "s_mov_b64 s[20:21], s[8:9]\n s_store_dwordx2 s[20:21], s[16:17], 0x8\n s_dcache_wb" WAIT
                  "\n s_load_dwordx2 s[14:15], s[16:17], 0x8" WAIT,
     SCALAR64, two_dwords},
    {ITEM_ADDRESS "s_mov_b32 s18, 8\n s_mov_b32 s19, 0\n s_buffer_load_dwordx2 s[14:15], s[16:19], 0x0" WAIT, SCALAR64,
     two_dwords},
    {ITEM_ADDRESS "s_mov_b32 s18, 4\n s_mov_b32 s19, 0\n s_buffer_load_dwordx2 s[14:15], s[16:19], 0x0" WAIT, SCALAR64,
     one_inside},
    {ITEM_ADDRESS "s_or_b32 s17, s17, 0x80000\n s_mov_b32 s18, 2\n s_mov_b32 s19, 0\n s_mov_b32 s20, 4\n"
                  " s_buffer_load_dwordx2 s[14:15], s[16:19], s20 offset:0x4" WAIT,
     SCALAR64, loaded_b},
    {ITEM_ADDRESS "s_mov_b32 s18, 12\n s_mov_b32 s19, 0\n s_mov_b64 s[20:21], s[8:9]\n"
                  " s_buffer_store_dwordx2 s[20:21], s[16:19], 0x8\n s_dcache_wb" WAIT
                  "\n s_load_dwordx2 s[14:15], s[16:17], 0x8" WAIT,
     SCALAR64, one_stored},
    ATOMIC("add", "s20", "", SCALAR32, sum32),
    ATOMIC("add_x2", "s[20:21]", "", SCALAR64, sum64),
    ATOMIC("sub_x2", "s[20:21]", "", SCALAR64, difference64),
    ATOMIC("swap_x2", "s[20:21]", "", SCALAR64, swapped64),
    ATOMIC("smin", "s20", "", SCALAR32, least_signed),
    ATOMIC("umax_x2", "s[20:21]", "", SCALAR64, most_unsigned64),
    ATOMIC("and_x2", "s[20:21]", "", SCALAR64, both),
    ATOMIC("or_x2", "s[20:21]", "", SCALAR64, either),
    ATOMIC("xor_x2", "s[20:21]", "", SCALAR64, one_of),
    ATOMIC("inc", "s20", "", SCALAR32, counted_up),
    ATOMIC("dec", "s20", "", SCALAR32, counted_down),
    ATOMIC("cmpswap_x2", "s[20:23]", "s_mov_b64 s[22:23], s[10:11]\n ", SCALAR64, swapped_if_equal),
    ATOMIC("cmpswap", "s[20:21]", "s_mov_b32 s21, 5\n ", SCALAR32, kept_if_other),
    {ITEM_ADDRESS "s_mov_b64 s[14:15], s[8:9]\n s_atomic_add s14, s[16:17], 0x8 glc" WAIT, SCALAR32, found32},
    {ITEM_ADDRESS "s_mov_b64 s[14:15], s[8:9]\n s_mov_b32 s18, 8\n s_atomic_swap_x2 s[14:15], s[16:17], s18 glc" WAIT, SCALAR64,
     found64},
    {"s_mov_b32 s14, 0\n s_call_b64 s[16:17], 2\n s_add_u32 s14, s14, 3\n s_branch 2\n s_add_u32 s14, s14, 4\n"
     " s_setpc_b64 s[16:17]",
     SCALAR32, taken},
    {"s_memtime s[16:17]" WAIT "\n s_memrealtime s[18:19]" WAIT "\n s_cmp_lt_u32 s16, s18", SCC_ONLY, grows},
};
TABLE(exec);
