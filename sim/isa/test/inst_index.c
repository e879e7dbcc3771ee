/* Registers by an index in M0, registers beyond accum_offset, and vector instructions that are skipped. Every expectation is
 * written from the CDNA 4 ISA: 6.6.2 says which of M0's bits moves which operand of v_readlane, v_mac, v_madmk and the like.
 * The kernels' accum_offset is 128. */
#include "sim/test/expect.h"

#define WIDE(name, ...)                                                                   \
  static void name(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) { \
    (void)wave, (void)lane, (void)exec;                                                   \
    __VA_ARGS__                                                                           \
  }

EXPECT(first, (u32)a)
EXPECT(second, (u32)b)
EXPECT(second_pair, b)
EXPECT(kept, (u32)old)
EXPECT(kept_and_second, (old & UINT32_MAX) | b << 32)
EXPECT(sum_ba, (u32)b + (u32)a)
EXPECT(sum_ab, (u32)a + (u32)b)
EXPECT(sum_abc, (u32)a + (u32)b + (u32)c)
EXPECT(shifted, (u32)b << (a & 31))
EXPECT(greater, (u32)a > (u32)b)
EXPECT(chosen, (c & 1) != 0 ? (u32)b : (u32)a)
EXPECT(accumulated, bits(fmaf(f(a), f(b), f(old))))
EXPECT(times_2_plus_b, bits(fmaf(f(a), 2, f(b))))
EXPECT(times_2_plus_a, bits(fmaf(f(a), 2, f(a))))
EXPECT(times_b_plus_2, bits(fmaf(f(a), f(b), 2)))
EXPECT(low_word, ((u32)old & 0xffff0000) | ((u32)a & 0xffff))

WIDE(b_of_lane_5, result[0] = (u32)wave[5].b;)
static void first_b_on(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)lane;
  result[0] = (u32)wave[__builtin_ctzll(exec)].b;
}
WIDE(lane_5_written, result[0] = lane == 5 ? 0x77 : result[0];)

/* `text` runs with M0 = index and the named operands moved by it. */
#define INDEXED(index, operands, text) \
  "s_mov_b32 s22, " #index "\n s_set_gpr_idx_on s22, gpr_idx(" operands ")\n " text "\n s_set_gpr_idx_off"
#define SKIPPED(text) "s_setvskip 1, 0\n s_nop 1\n " text "\n s_setvskip 0, 0\n s_nop 1"

static const instruction_test tests[] = {
    {INDEXED(2, "SRC0", "v_add_u32 v10, v2, v2"), VECTOR32, sum_ba},
    {INDEXED(2, "SRC1", "v_add_u32 v10, v2, v2"), VECTOR32, sum_ab},
    {INDEXED(2, "SRC0,SRC1,SRC2,DST", "v_add_u32 v8, 0, v0"), VECTOR32, first},
    {INDEXED(2, "SRC2", "v_add3_u32 v10, v2, v4, v4"), VECTOR32, sum_abc},
    {INDEXED(2, "SRC0", "v_mov_b64 v[10:11], v[2:3]"), VECTOR64, second_pair},
    {INDEXED(2, "SRC1", "v_lshlrev_b32 v10, v2, v2"), VECTOR32, shifted},
    {INDEXED(2, "SRC1", "v_cmp_gt_u32 vcc, v2, v2"), MASK_VCC, greater},
    {INDEXED(2, "SRC1", "v_cndmask_b32 v10, v2, v2, vcc"), VECTOR32, chosen},
    {INDEXED(4, "DST", "v_fmac_f32 v6, v2, v4"), VECTOR32, accumulated, 'f', .edges = "f"},
    {INDEXED(2, "SRC2", "v_fmamk_f32 v10, v2, 0x40000000, v2"), VECTOR32, times_2_plus_b, 'f', .edges = "f"},
    {INDEXED(2, "SRC1", "v_fmamk_f32 v10, v2, 0x40000000, v2"), VECTOR32, times_2_plus_a, 'f', .edges = "f"},
    {INDEXED(2, "SRC1", "v_fmaak_f32 v10, v2, v2, 0x40000000"), VECTOR32, times_b_plus_2, 'f', .edges = "f"},
    {INDEXED(2, "DST", "v_mov_b32_sdwa v8, v2 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:DWORD"), VECTOR32, low_word},
    {INDEXED(2, "SRC0", "v_mov_b32_dpp v10, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf"), VECTOR32, second},
    {INDEXED(2, "SRC0,DST", "v_readlane_b32 s23, v2, 5") "\n v_mov_b32 v10, s23", VECTOR32, .wide = b_of_lane_5},
    {INDEXED(2, "SRC0,DST", "v_readfirstlane_b32 s23, v2") "\n v_mov_b32 v10, s23", VECTOR32, .wide = first_b_on},
    {"s_movk_i32 s23, 0x77\n " INDEXED(3, "DST,SRC0,SRC1", "v_writelane_b32 v7, s23, 5"), VECTOR32, .wide = lane_5_written},
    {"v_accvgpr_write_b32 a3, v4\n s_nop 3\n " INDEXED(3, "SRC0", "v_accvgpr_read_b32 v10, a0"), VECTOR32, second},
    {"s_nop 3\n " INDEXED(3, "DST", "v_accvgpr_write_b32 a0, v4") "\n s_nop 3\n v_accvgpr_read_b32 v10, a3", VECTOR32, second},
    {"s_mov_b32 s22, 4\n s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1\n s_mov_b32 m0, 0x1002\n v_mov_b32 v10, v2\n"
     " s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 0",
     VECTOR32, second},
    /* One register file: a3 is v131. */
    {"v_mov_b32 v131, v4\n s_nop 3\n v_accvgpr_read_b32 v10, a3", VECTOR32, second},
    {"v_mov_b64 v[158:159], v[4:5]\n s_nop 3\n v_mov_b64 v[10:11], v[158:159]", VECTOR64, second_pair},
    {SKIPPED("v_mov_b32 v10, v2"), VECTOR32, kept},
    {SKIPPED("global_load_dword v10, v1, s[4:5]\n ds_read_b32 v10, v1\n v_readfirstlane_b32 s4, v2"), VECTOR32, kept},
    {"s_mov_b32 s22, 4\n s_setvskip s22, 2\n s_nop 1\n v_mov_b32 v10, v2\n s_setvskip s22, 1\n s_nop 1\n v_mov_b32 v11, v4",
     VECTOR64, kept_and_second},
};
TABLE(index);
