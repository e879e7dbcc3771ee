/* Moves between lanes: readlane and its kin, DPP, SDWA, swaps, the LDS crossbar. Every expectation is written from the words
 * and pseudocode of the CDNA 4 ISA. */
#include "sim/test/expect.h"

/* A function of the harness's `wide` kind. */
#define WIDE(name, ...)                                                                   \
  static void name(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) { \
    (void)wave, (void)lane, (void)exec;                                                   \
    __VA_ARGS__                                                                           \
  }

static u32 a_of(const test_item wave[TEST_LANES], int lane) { return (u32)wave[lane].a; }
static u32 b_of(const test_item wave[TEST_LANES], int lane) { return (u32)wave[lane].b; }

/* ---- One lane ---- */

WIDE(lane_5, result[0] = a_of(wave, 5);)
static void first_on(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)lane;
  int from = 0;
  while ((exec >> from & 1) == 0) from++;
  result[0] = a_of(wave, from);
}
WIDE(lane_0, result[0] = a_of(wave, 0);)
WIDE(written, result[0] = 0x77;)
WIDE(one_written, result[0] = lane == 8 ? 0x77 : a_of(wave, lane);)
static void bits_below(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)exec;
  u32 count = b_of(wave, lane);
  u64 mask = wave[lane].a;
  for (int b = 0; b < lane; b++) count += mask >> b & 1;
  result[0] = count;
}

/* ---- Registers by index ---- */

EXPECT(first, (u32)a)
EXPECT(second, (u32)b)
EXPECT(last, (u32)(c >> 32))

/* ---- gfx950 swaps ---- */

static void swapped(const test_item wave[TEST_LANES], int lane, int size, u32 result[4]) {
  bool odd = lane / size % 2 == 1;
  result[0] = odd ? b_of(wave, lane - size) : a_of(wave, lane);
  result[1] = odd ? b_of(wave, lane) : a_of(wave, lane + size);
}
/* If one of a pair of lanes is off, the other gets what the bits say; what is off keeps its own. */
static void swapped_in_part(const test_item wave[TEST_LANES], int lane, int size, u64 exec, bool fetch, u32 result[4]) {
  bool odd = lane / size % 2 == 1, on = (exec >> lane & 1) != 0;
  int other = odd ? lane - size : lane + size;
  u32 from = odd ? b_of(wave, other) : a_of(wave, other);
  if (!fetch && (exec >> other & 1) == 0) from = 0;
  result[0] = odd && on ? from : a_of(wave, lane);
  result[1] = !odd && on ? from : b_of(wave, lane);
}
WIDE(swap16_bound, swapped_in_part(wave, lane, 16, exec, false, result);)
WIDE(swap32_bound, swapped_in_part(wave, lane, 32, exec, false, result);)
WIDE(swap16_fetch, swapped_in_part(wave, lane, 16, exec, true, result);)
WIDE(swap32_fetch, swapped_in_part(wave, lane, 32, exec, true, result);)
WIDE(swap16, swapped(wave, lane, 16, result);)
WIDE(swap32, swapped(wave, lane, 32, result);)

/* ---- DPP ---- */

static void dpp(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4], int from, int rows, int banks,
                bool bound) {
  if ((rows >> (lane / 16) & 1) == 0 || (banks >> (lane % 16 / 4) & 1) == 0) return;
  if (from >= 0 && (exec >> from & 1) != 0)
    result[0] = a_of(wave, from);
  else if (bound)
    result[0] = 0;
}
/* `row`: the first lane of the row; `in`: the place in it */
#define DPP(name, rows, banks, bound, ...)                                      \
  WIDE(name, int row = lane / 16 * 16; int in = lane % 16; (void)row; (void)in; \
       dpp(wave, lane, exec, result, (__VA_ARGS__), rows, banks, bound);)
DPP(quad_3012, 15, 15, false, lane / 4 * 4 + (int[]){3, 0, 1, 2}[lane % 4])
DPP(quad_0022, 15, 15, true, lane / 4 * 4 + (int[]){0, 0, 2, 2}[lane % 4])
DPP(shl_1, 15, 15, false, in <= 14 ? lane + 1 : -1)
DPP(shl_15, 15, 15, true, in == 0 ? lane + 15 : -1)
DPP(shl_4_rows, 10, 15, true, in <= 11 ? lane + 4 : -1)
DPP(shr_1, 15, 15, false, in >= 1 ? lane - 1 : -1)
DPP(shr_8, 15, 15, true, in >= 8 ? lane - 8 : -1)
DPP(shr_2_banks, 15, 5, false, in >= 2 ? lane - 2 : -1)
DPP(ror_1, 15, 15, false, in >= 1 ? lane - 1 : row + 15)
DPP(ror_12, 15, 15, false, in >= 12 ? lane - 12 : lane + 4)
DPP(wave_shl, 15, 15, true, lane < 63 ? lane + 1 : -1)
DPP(wave_rol, 15, 15, false, lane < 63 ? lane + 1 : 0)
DPP(wave_shr, 15, 15, false, lane > 0 ? lane - 1 : -1)
DPP(wave_ror, 15, 15, true, lane > 0 ? lane - 1 : 63)
DPP(mirror, 15, 15, false, row + 15 - in)
DPP(half_mirror, 15, 15, false, row + (int[]){7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8}[in])
DPP(bcast_15, 15, 15, false, (int[]){-1, 15, 31, 47}[lane / 16])
DPP(bcast_15_rows, 10, 15, false, (int[]){-1, 15, 31, 47}[lane / 16])
DPP(bcast_31, 15, 15, true, lane >= 32 ? 31 : -1)
DPP(newbcast_5, 15, 15, false, row + 5)
static void add_dpp(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  u32 moved[4] = {0};
  dpp(wave, lane, exec, moved, lane % 16 >= 1 ? lane - 1 : -1, 15, 15, true);
  result[0] = moved[0] + b_of(wave, lane);
}
static void select_dpp(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  /* VCC is bit 0 of c */
  bool valid = lane % 16 != 15 && (exec >> (lane + 1) & 1) != 0;
  if (valid) result[0] = (wave[lane].c[0] & 1) != 0 ? b_of(wave, lane) : a_of(wave, lane + 1);
}
static void newbcast64(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  int from = lane / 16 * 16 + 5;
  if ((exec >> from & 1) == 0) return;
  memcpy(result, &wave[from].a, sizeof wave[from].a);
}

/* ---- SDWA ---- */

static u32 part(u32 value, char unit, int n, bool sign) {
  if (unit == 'd') return value;
  if (unit == 'b') return sign ? (u32)(i8)(value >> 8 * n) : (u8)(value >> 8 * n);
  return sign ? (u32)(i16)(value >> 16 * n) : (u16)(value >> 16 * n);
}
/* fill: what the other bits get: p zeros, s copies of the part's sign above and zeros below, k what they were */
static u32 placed(u32 old, u32 value, char unit, int n, char fill) {
  int width = unit == 'b' ? 8 : unit == 'w' ? 16 : 32, shift = n * width;
  u32 r = 0;
  for (int bit = 0; bit < 32; bit++) {
    bool inside = bit >= shift && bit < shift + width;
    bool one = inside        ? (value >> (bit - shift) & 1) != 0
               : fill == 'k' ? (old >> bit & 1) != 0
                             : fill == 's' && bit >= shift + width && (value >> (width - 1) & 1) != 0;
    if (one) r |= 1u << bit;
  }
  return r;
}
#define SOURCE(unit, n)                                          \
  EXPECT(source_##unit##n, part((u32)a, #unit[0], n, false))     \
  EXPECT(source_sext_##unit##n, part((u32)a, #unit[0], n, true)) \
  EXPECT(second_##unit##n, (u32)a + part((u32)b, #unit[0], n, true))
#define DEST(unit, n)                                                \
  EXPECT(pad_##unit##n, placed((u32)old, (u32)a, #unit[0], n, 'p'))  \
  EXPECT(sext_##unit##n, placed((u32)old, (u32)a, #unit[0], n, 's')) \
  EXPECT(keep_##unit##n, placed((u32)old, (u32)a, #unit[0], n, 'k'))
#define EVERY_SELECT(X) X(b, 0) X(b, 1) X(b, 2) X(b, 3) X(w, 0) X(w, 1) X(d, 0)
EVERY_SELECT(SOURCE)
EVERY_SELECT(DEST)
EXPECT(select_sdwa, (c & 1) != 0 ? (u16)(b >> 16) : (u8)a)
EXPECT(compare_sdwa, (i32)(i8)(a >> 8) < (i32)(i16)b)

/* ---- The LDS crossbar ---- */

static void bpermuted(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  int from = (int)((a_of(wave, lane) + 20) / 4 % 64);
  result[0] = (exec >> from & 1) != 0 ? b_of(wave, from) : 0;
}
static void permuted(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  result[0] = 0;
  for (int from = 0; from < 64; from++)
    if ((exec >> from & 1) != 0 && (a_of(wave, from) + 8) / 4 % 64 == (u32)lane) result[0] = b_of(wave, from);
}

static void swizzled(const test_item wave[TEST_LANES], u64 exec, u32 result[4], int from) {
  result[0] = (exec >> from & 1) != 0 ? a_of(wave, from) : 0;
}
WIDE(quads_2301, swizzled(wave, exec, result, lane / 4 * 4 + (int[]){2, 3, 0, 1}[lane % 4]);)
WIDE(broadcast_of_8, swizzled(wave, exec, result, lane / 8 * 8 + 3);)
WIDE(reversed_in_32, swizzled(wave, exec, result, lane / 32 * 32 + 31 - lane % 32);)
WIDE(swapped_in_2, swizzled(wave, exec, result, lane % 2 == 0 ? lane + 1 : lane - 1);)
WIDE(all_of_lane_0, swizzled(wave, exec, result, lane / 32 * 32);)
WIDE(rotated_left_3, swizzled(wave, exec, result, lane / 32 * 32 + (lane + 3) % 32);)
WIDE(rotated_right_5, swizzled(wave, exec, result, lane / 32 * 32 + (lane + 27) % 32);)
static void rotated_kept_low(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  /* rotate 4 lanes, the low two bits of the lane stay */
  swizzled(wave, exec, result, lane / 32 * 32 + lane % 4 + ((lane % 32 + 4) % 32) / 4 * 4);
}
static void fft_order(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  /* mask 0: the lane's five bits reversed */
  static const int order[32] = {0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30,
                                1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31};
  swizzled(wave, exec, result, lane / 32 * 32 + order[lane % 32]);
}
static void fft_halves(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  /* mask 16: each half of 16 in reversed order of its four bits */
  static const int order[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
  swizzled(wave, exec, result, lane / 16 * 16 + order[lane % 16]);
}

#define EXEC_0(text) "s_mov_b64 s[24:25], exec\n s_mov_b64 exec, 0\n " text "\n s_mov_b64 exec, s[24:25]\n v_mov_b32 v10, s22"
#define SWAP(size)                                                                                          \
  "s_mov_b64 s[24:25], exec\n s_mov_b64 exec, -1\n v_mov_b32 v21, v2\n v_mov_b32 v22, v4\n v_permlane" size \
  "_swap_b32 v21, v22\n s_mov_b64 exec, s[24:25]\n v_mov_b32 v10, v21\n v_mov_b32 v11, v22"
#define SWAP_IN_PART(size, bits)                                                            \
  "s_mov_b64 s[24:25], exec\n s_mov_b64 exec, -1\n v_mov_b32 v21, v2\n v_mov_b32 v22, v4\n" \
  " s_mov_b64 exec, s[24:25]\n v_permlane" size "_swap_b32 v21, v22 " bits "\n v_mov_b32 v10, v21\n v_mov_b32 v11, v22"
#define DPP_ROW(control, expect) {"v_mov_b32_dpp v10, v2 " control, VECTOR32, .wide = expect}
#define SOURCE_ROWS(select, name)                                                                                            \
  {"v_mov_b32_sdwa v10, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:" select, VECTOR32, source_##name},                  \
      {"v_mov_b32_sdwa v10, sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:" select, VECTOR32, source_sext_##name}, { \
    "v_add_u32_sdwa v10, v2, sext(v4) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:" select, VECTOR32,        \
        second_##name                                                                                                        \
  }
#define DEST_ROWS(select, name)                                                                                     \
  {"v_mov_b32_sdwa v10, v2 dst_sel:" select " dst_unused:UNUSED_PAD src0_sel:DWORD", VECTOR32, pad_##name},         \
      {"v_mov_b32_sdwa v10, v2 dst_sel:" select " dst_unused:UNUSED_SEXT src0_sel:DWORD", VECTOR32, sext_##name}, { \
    "v_mov_b32_sdwa v10, v2 dst_sel:" select " dst_unused:UNUSED_PRESERVE src0_sel:DWORD", VECTOR32, keep_##name    \
  }
#define SWIZZLE(offset, expect) {"ds_swizzle_b32 v10, v2 offset:" offset "\n s_waitcnt lgkmcnt(0)", VECTOR32, .wide = expect}

static const instruction_test tests[] = {
    {"v_readlane_b32 s22, v2, 5\n v_mov_b32 v10, s22", VECTOR32, .wide = lane_5},
    {"s_movk_i32 s23, 0xc5\n v_readlane_b32 s22, v2, s23\n v_mov_b32 v10, s22", VECTOR32, .wide = lane_5},
    {"s_mov_b32 m0, 5\n v_readlane_b32 s22, v2, m0\n v_mov_b32 v10, s22", VECTOR32, .wide = lane_5},
    {EXEC_0("v_readlane_b32 s22, v2, 5"), VECTOR32, .wide = lane_5},
    {"v_readfirstlane_b32 s22, v2\n v_mov_b32 v10, s22", VECTOR32, .wide = first_on},
    {EXEC_0("v_readfirstlane_b32 s22, v2"), VECTOR32, .wide = lane_0},
    {EXEC_0("s_movk_i32 s23, 0x77\n v_writelane_b32 v21, s23, 9\n v_readlane_b32 s22, v21, 9"), VECTOR32, .wide = written},
    {"s_movk_i32 s23, 0x77\n s_mov_b32 m0, 72\n v_mov_b32 v10, v2\n v_writelane_b32 v10, s23, m0", VECTOR32,
     .wide = one_written},
    {"v_mbcnt_lo_u32_b32 v10, v2, v4\n v_mbcnt_hi_u32_b32 v10, v3, v10", VECTOR32, .wide = bits_below},
    {"s_mov_b32 s22, 0xf02\n s_set_gpr_idx_on s22, gpr_idx(SRC0)\n v_mov_b32 v10, v2\n s_set_gpr_idx_off", VECTOR32, second},
    {"s_mov_b32 s22, 3\n s_set_gpr_idx_on s22, gpr_idx(DST)\n v_mov_b32 v7, v2\n s_set_gpr_idx_off", VECTOR32, first},
    {"s_mov_b32 s22, 4\n s_set_gpr_idx_on s22, gpr_idx(SRC0,DST)\n v_mov_b32 v6, v3\n s_set_gpr_idx_off", VECTOR32, last},
    {"s_mov_b32 s22, 1\n s_set_gpr_idx_on s22, gpr_idx(DST)\n s_set_gpr_idx_mode gpr_idx(SRC0)\n s_mov_b32 s23, 5\n"
     " s_set_gpr_idx_idx s23\n v_mov_b32 v10, v2\n s_set_gpr_idx_off\n v_mov_b32 v11, v2",
     VECTOR32, last},
    {SWAP("16"), VECTOR64, .wide = swap16, .chip = "gfx950"},
    {SWAP("32"), VECTOR64, .wide = swap32, .chip = "gfx950"},
    {SWAP_IN_PART("16", "bound_ctrl:1"), VECTOR64, .wide = swap16_bound, .chip = "gfx950"},
    {SWAP_IN_PART("32", "bound_ctrl:1"), VECTOR64, .wide = swap32_bound, .chip = "gfx950"},
    {SWAP_IN_PART("16", "fi:1"), VECTOR64, .wide = swap16_fetch, .chip = "gfx950"},
    {SWAP_IN_PART("32", "bound_ctrl:1 fi:1"), VECTOR64, .wide = swap32_fetch, .chip = "gfx950"},
    DPP_ROW("quad_perm:[3,0,1,2] row_mask:0xf bank_mask:0xf", quad_3012),
    DPP_ROW("quad_perm:[0,0,2,2] row_mask:0xf bank_mask:0xf bound_ctrl:0", quad_0022),
    DPP_ROW("row_shl:1 row_mask:0xf bank_mask:0xf", shl_1),
    DPP_ROW("row_shl:15 row_mask:0xf bank_mask:0xf bound_ctrl:0", shl_15),
    DPP_ROW("row_shl:4 row_mask:0xa bank_mask:0xf bound_ctrl:0", shl_4_rows),
    DPP_ROW("row_shr:1 row_mask:0xf bank_mask:0xf", shr_1),
    DPP_ROW("row_shr:8 row_mask:0xf bank_mask:0xf bound_ctrl:0", shr_8),
    DPP_ROW("row_shr:2 row_mask:0xf bank_mask:0x5", shr_2_banks),
    DPP_ROW("row_ror:1 row_mask:0xf bank_mask:0xf", ror_1),
    DPP_ROW("row_ror:12 row_mask:0xf bank_mask:0xf", ror_12),
    DPP_ROW("wave_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", wave_shl),
    DPP_ROW("wave_rol:1 row_mask:0xf bank_mask:0xf", wave_rol),
    DPP_ROW("wave_shr:1 row_mask:0xf bank_mask:0xf", wave_shr),
    DPP_ROW("wave_ror:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", wave_ror),
    DPP_ROW("row_mirror row_mask:0xf bank_mask:0xf", mirror),
    DPP_ROW("row_half_mirror row_mask:0xf bank_mask:0xf", half_mirror),
    DPP_ROW("row_bcast:15 row_mask:0xf bank_mask:0xf", bcast_15),
    DPP_ROW("row_bcast:15 row_mask:0xa bank_mask:0xf", bcast_15_rows),
    DPP_ROW("row_bcast:31 row_mask:0xf bank_mask:0xf bound_ctrl:0", bcast_31),
    DPP_ROW("row_newbcast:5 row_mask:0xf bank_mask:0xf", newbcast_5),
    {"v_add_u32_dpp v10, v2, v4 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", VECTOR32, .wide = add_dpp},
    {"v_cndmask_b32_dpp v10, v2, v4, vcc row_shl:1 row_mask:0xf bank_mask:0xf", VECTOR32, .wide = select_dpp},
    {"v_mov_b64_dpp v[10:11], v[2:3] row_newbcast:5 row_mask:0xf bank_mask:0xf", VECTOR64, .wide = newbcast64},
    SOURCE_ROWS("BYTE_0", b0),
    SOURCE_ROWS("BYTE_1", b1),
    SOURCE_ROWS("BYTE_2", b2),
    SOURCE_ROWS("BYTE_3", b3),
    SOURCE_ROWS("WORD_0", w0),
    SOURCE_ROWS("WORD_1", w1),
    SOURCE_ROWS("DWORD", d0),
    DEST_ROWS("BYTE_0", b0),
    DEST_ROWS("BYTE_1", b1),
    DEST_ROWS("BYTE_2", b2),
    DEST_ROWS("BYTE_3", b3),
    DEST_ROWS("WORD_0", w0),
    DEST_ROWS("WORD_1", w1),
    DEST_ROWS("DWORD", d0),
    {"v_cndmask_b32_sdwa v10, v2, v4, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:WORD_1", VECTOR32,
     select_sdwa},
    {"v_cmp_lt_i32_sdwa vcc, sext(v2), sext(v4) src0_sel:BYTE_1 src1_sel:WORD_0", MASK_VCC, compare_sdwa},
    {"ds_bpermute_b32 v10, v2, v4 offset:20\n s_waitcnt lgkmcnt(0)", VECTOR32, .wide = bpermuted},
    {"ds_permute_b32 v10, v2, v4 offset:8\n s_waitcnt lgkmcnt(0)", VECTOR32, .wide = permuted},
    SWIZZLE("swizzle(QUAD_PERM,2,3,0,1)", quads_2301),
    SWIZZLE("swizzle(BROADCAST,8,3)", broadcast_of_8),
    SWIZZLE("swizzle(REVERSE,32)", reversed_in_32),
    SWIZZLE("swizzle(SWAP,1)", swapped_in_2),
    SWIZZLE("0", all_of_lane_0),
    SWIZZLE("0xc060", rotated_left_3),
    SWIZZLE("0xc4a0", rotated_right_5),
    SWIZZLE("0xc083", rotated_kept_low),
    SWIZZLE("0xe000", fft_order),
    SWIZZLE("0xe010", fft_halves),
};
TABLE(lane);
