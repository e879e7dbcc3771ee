/* Scalar arithmetic, SOP1, SOP2, SOPC, SOPK. Every expectation is written from the pseudocode of the CDNA 4 ISA, bit by bit
 * where they loop over bits. */
#include "sim/test/expect.h"

static u64 with_scc(u32 value, bool scc) { return value | (u64)scc << 32; }
static u64 tested(u32 value) { return with_scc(value, value != 0); }
static u64 carried(u64 sum) { return with_scc((u32)sum, sum > UINT32_MAX); }
static u64 signed_sum(i64 exact) { return with_scc((u32)exact, exact > INT32_MAX || exact < INT32_MIN); }

static u64 reversed(u64 a, int count) {
  u64 r = 0;
  for (int b = 0; b < count; b++)
    if ((a >> b & 1) != 0) r |= UINT64_C(1) << (count - 1 - b);
  return r;
}
static u32 counted(u64 a, int count, u64 bit) {
  u32 r = 0;
  for (int b = 0; b < count; b++) r += (a >> b & 1) == bit;
  return r;
}
static u32 first_low(u64 a, int count, u64 bit) {
  for (int b = 0; b < count; b++)
    if ((a >> b & 1) == bit) return (u32)b;
  return UINT32_MAX;
}
static u32 first_high(u64 a, int count) {
  for (int b = 0; b < count; b++)
    if ((a >> (count - 1 - b) & 1) == 1) return (u32)b;
  return UINT32_MAX;
}
static u32 other_than_sign(u64 a, int count) {
  for (int b = 1; b < count; b++)
    if ((a >> (count - 1 - b) & 1) != (a >> (count - 1) & 1)) return (u32)b;
  return UINT32_MAX;
}
static u64 whole_quads(u64 a, int count) {
  u64 r = 0;
  for (int b = 0; b < count; b++)
    if ((a >> (b & 60) & 15) != 0) r |= UINT64_C(1) << b;
  return r;
}
static u64 quads(u64 a, int count) {
  u64 r = 0;
  for (int q = 0; q < count / 4; q++)
    if ((a >> (4 * q) & 15) != 0) r |= UINT64_C(1) << q;
  return r;
}
static u64 doubled(u64 a) {
  u64 r = 0;
  for (int b = 0; b < 32; b++)
    if ((a >> b & 1) != 0) r |= UINT64_C(1) << (2 * b) | UINT64_C(1) << (2 * b + 1);
  return r;
}
/* Bits from the offset on, as many as the width says and the register has; above them copies of the last if signed. */
static u64 field(u64 a, int bits, u64 control, bool is_signed) {
  int offset = (int)(control & (u64)(bits - 1)), width = (int)(control >> 16 & 127);
  u64 r = 0;
  for (int b = 0; b < bits && width > 0; b++) {
    int from = offset + (b < width ? b : width - 1);
    if (b >= width && !is_signed) break;
    bool sign = from >= bits && is_signed && (a >> (bits - 1) & 1) != 0;
    if (from < bits ? (a >> from & 1) != 0 : sign) r |= UINT64_C(1) << b;
  }
  return r;
}

/* ---- SOP2 ---- */

EXPECT(add_u, carried((u64)(u32)a + (u32)b))
EXPECT(sub_u, with_scc((u32)(a - b), (u32)b > (u32)a))
EXPECT(add_i, signed_sum((i64)(i32)a + (i32)b))
EXPECT(sub_i, signed_sum((i64)(i32)a - (i32)b))
EXPECT(addc, carried((u64)(u32)a + (u32)b + (c & 1)))
EXPECT(subb, with_scc((u32)(a - b - (c & 1)), (u64)(u32)b + (c & 1) > (u32)a))
EXPECT(min_i, with_scc((i32)a < (i32)b ? (u32)a : (u32)b, (i32)a < (i32)b))
EXPECT(max_u, with_scc((u32)a > (u32)b ? (u32)a : (u32)b, (u32)a > (u32)b))
EXPECT(min_u, with_scc((u32)a < (u32)b ? (u32)a : (u32)b, (u32)a < (u32)b))
EXPECT(max_i, with_scc((i32)a > (i32)b ? (u32)a : (u32)b, (i32)a > (i32)b))
EXPECT(and32, tested((u32)(a &b)))
EXPECT(or32, tested((u32)(a | b)))
EXPECT(xor32, tested((u32)(a ^ b)))
EXPECT(andn2_32, tested((u32)(a & ~b)))
EXPECT(orn2_32, tested((u32)(a | ~b)))
EXPECT(nand_32, tested((u32) ~(a &b)))
EXPECT(nor32, tested((u32) ~(a | b)))
EXPECT(xnor32, tested((u32) ~(a ^ b)))
EXPECT(lshl32, tested((u32)a << (b & 31)))
EXPECT(lshr32, tested((u32)a >> (b & 31)))
EXPECT(ashr32, tested((u32)((i32)a >> (b & 31))))
EXPECT(lshl1_add, carried(((u64)(u32)a << 1) + (u32)b))
EXPECT(lshl2_add, carried(((u64)(u32)a << 2) + (u32)b))
EXPECT(lshl3_add, carried(((u64)(u32)a << 3) + (u32)b))
EXPECT(lshl4_add, carried(((u64)(u32)a << 4) + (u32)b))
EXPECT(mul, with_scc((u32)((u64)(u32)a *(u32)b), (c & 1) != 0))
EXPECT(mul_hi_u, with_scc((u32)((u64)(u32)a *(u32)b >> 32), (c & 1) != 0))
EXPECT(mul_hi_i, with_scc((u32)((u64)((i64)(i32)a *(i32)b) >> 32), (c & 1) != 0))
EXPECT(absdiff, tested((i32)(u32)(a - b) < 0 ? (u32)(b - a) : (u32)(a - b)))
EXPECT(select32, with_scc((c & 1) != 0 ? (u32)a : (u32)b, (c & 1) != 0))
EXPECT(pack_ll, (a & 0xffff) | (b & 0xffff) << 16)
EXPECT(pack_lh, (a & 0xffff) | (b & 0xffff0000))
EXPECT(pack_hh, (a >> 16 & 0xffff) | (b & 0xffff0000))
EXPECT(bfm32, (u32)(((u64)1 << (a & 31)) - 1) << (b & 31))
EXPECT(bfe_u32, tested((u32)field((u32)a, 32, b, false)))
EXPECT(bfe_i32, tested((u32)field((u32)a, 32, b, true)))
EXPECT(bfe_constant, tested((u32)a >> 5 & 0x1ff))

EXPECT(and64, a &b)
EXPECT(or64, a | b)
EXPECT(xor64, a ^ b)
EXPECT(andn2_64, a & ~b)
EXPECT(orn2_64, a | ~b)
EXPECT(nand_64, ~(a &b))
EXPECT(nor64, ~(a | b))
EXPECT(xnor64, ~(a ^ b))
EXPECT(lshl64, a << (b & 63))
EXPECT(lshr64, a >> (b & 63))
EXPECT(ashr64, (u64)((i64)a >> (b & 63)))
EXPECT(select64, (c & 1) != 0 ? a : b)
EXPECT(bfm64, (((u64)1 << (a & 63)) - 1) << (b & 63))
EXPECT(bfe_u64, field(a, 64, b, false))
EXPECT(bfe_i64, field(a, 64, b, true))
EXPECT(any_and64, (a & b) != 0)
EXPECT(any_xnor64, a != ~b)
EXPECT(any_lshl64, a << (b & 63) != 0)
EXPECT(any_bfe64, field(a, 64, b, true) != 0)

/* ---- SOP1 ---- */

EXPECT(move, (u32)a)
EXPECT(move64, a)
EXPECT(cmov, (c & 1) != 0 ? (u32)a : (u32)old)
EXPECT(cmov64, (c & 1) != 0 ? a : old)
EXPECT(not32, tested((u32)~a))
EXPECT(not64, ~a)
EXPECT(brev32, reversed((u32)a, 32))
EXPECT(brev64, reversed(a, 64))
EXPECT(bcnt0_32, tested(counted(a, 32, 0)))
EXPECT(bcnt1_32, tested(counted(a, 32, 1)))
EXPECT(bcnt0_64, tested(counted(a, 64, 0)))
EXPECT(bcnt1_64, tested(counted(a, 64, 1)))
EXPECT(ff0_32, first_low(a, 32, 0))
EXPECT(ff1_32, first_low(a, 32, 1))
EXPECT(ff0_64, first_low(a, 64, 0))
EXPECT(ff1_64, first_low(a, 64, 1))
EXPECT(flbit32, first_high(a, 32))
EXPECT(flbit64, first_high(a, 64))
EXPECT(flbit_i32, other_than_sign(a, 32))
EXPECT(flbit_i64, other_than_sign(a, 64))
EXPECT(sext8, (u32)(i8)a)
EXPECT(sext16, (u32)(i16)a)
EXPECT(abs32, tested((i32)a < 0 ? (u32)-a : (u32)a))
EXPECT(bitset0, (u32)old & ~(1u << (a & 31)))
EXPECT(bitset1, (u32)old | 1u << (a & 31))
EXPECT(bitset0_64, old & ~(UINT64_C(1) << (a & 63)))
EXPECT(bitset1_64, old | UINT64_C(1) << (a & 63))
EXPECT(wqm32, tested((u32)whole_quads((u32)a, 32)))
EXPECT(wqm64, whole_quads(a, 64))
EXPECT(quadmask32, tested((u32)quads((u32)a, 32)))
EXPECT(quadmask64, quads(a, 64))
EXPECT(any64, a != 0)
EXPECT(replicate, doubled(a))
EXPECT(moved_source, (a & 3) == 0 ? (u32)a : (a & 3) == 1 ? a >> 32 : (a & 3) == 2 ? (u32)b : b >> 32)
EXPECT(moved_pair, (a & 2) == 0 ? a : b)
EXPECT(moved_target, (a & 1) == 0 ? (b & UINT32_MAX) | (old & ~(u64)UINT32_MAX) : (old & UINT32_MAX) | b << 32)

/* ---- SOPC, SOPK ---- */

EXPECT(eq_32, (u32)a == (u32)b)
EXPECT(lg_32, (u32)a != (u32)b)
EXPECT(gt_i, (i32)a > (i32)b)
EXPECT(ge_i, (i32)a >= (i32)b)
EXPECT(lt_i, (i32)a < (i32)b)
EXPECT(le_i, (i32)a <= (i32)b)
EXPECT(gt_u, (u32)a > (u32)b)
EXPECT(ge_u, (u32)a >= (u32)b)
EXPECT(lt_u, (u32)a < (u32)b)
EXPECT(le_u, (u32)a <= (u32)b)
EXPECT(eq_64, a == b)
EXPECT(lg_64, a != b)
EXPECT(bit_is_0, (a >> (b & 31) & 1) == 0)
EXPECT(bit_is_1, (a >> (b & 31) & 1) == 1)
EXPECT(bit_is_0_64, (a >> (b & 63) & 1) == 0)
EXPECT(bit_is_1_64, (a >> (b & 63) & 1) == 1)
EXPECT(eqk_i, (i32)a == -1)
EXPECT(lgk_i, (i32)a != -1)
EXPECT(gtk_i, (i32)a > -32768)
EXPECT(gek_i, (i32)a >= -1)
EXPECT(ltk_i, (i32)a < 0x7fff)
EXPECT(lek_i, (i32)a <= -1)
EXPECT(eqk_u, (u32)a == 0xffff)
EXPECT(lgk_u, (u32)a != 0xffff)
EXPECT(gtk_u, (u32)a > 0x8000)
EXPECT(gek_u, (u32)a >= 0x8000)
EXPECT(ltk_u, (u32)a < 0x8000)
EXPECT(lek_u, (u32)a <= 0x8000)
EXPECT(movk, (u32)-0x1234)
EXPECT(cmovk, (c & 1) != 0 ? (u32)-0x1234 : (u32)old)
EXPECT(addk, signed_sum((i64)(i32)old - 0x1234))
EXPECT(mulk, (u32)((u64)(u32)old *(u32)-0x1234))

#define BINARY(name, expect) {name " s14, s8, s10", SCALAR_SCC, expect, .edges = "i"}
#define BINARY64(name, expect) {name " s[14:15], s[8:9], s[10:11]", SCALAR64, expect}
#define SHIFT64(name, expect) {name " s[14:15], s[8:9], s10", SCALAR64, expect, .edges = "xi"}
#define FLAG64(name, second, expect) {name " s[14:15], s[8:9]" second, SCC_ONLY, expect, .edges = "xi"}
#define UNARY(name, kind, expect) {name " s14, s8", kind, expect, .edges = "i"}
#define FROM64(name, kind, expect) {name " s14, s[8:9]", kind, expect}
#define UNARY64(name, expect) {name " s[14:15], s[8:9]", SCALAR64, expect}
#define COMPARE(name, expect) {name " s8, s10", SCC_ONLY, expect, .edges = "i"}
#define COMPAREK(name, constant, expect) {name " s8, " constant, SCC_ONLY, expect, .edges = "i"}

static const instruction_test tests[] = {
    BINARY("s_add_u32", add_u),
    BINARY("s_sub_u32", sub_u),
    BINARY("s_add_i32", add_i),
    BINARY("s_sub_i32", sub_i),
    BINARY("s_addc_u32", addc),
    BINARY("s_subb_u32", subb),
    BINARY("s_min_i32", min_i),
    BINARY("s_max_i32", max_i),
    BINARY("s_min_u32", min_u),
    BINARY("s_max_u32", max_u),
    BINARY("s_and_b32", and32),
    BINARY("s_or_b32", or32),
    BINARY("s_xor_b32", xor32),
    BINARY("s_andn2_b32", andn2_32),
    BINARY("s_orn2_b32", orn2_32),
    BINARY("s_nand_b32", nand_32),
    BINARY("s_nor_b32", nor32),
    BINARY("s_xnor_b32", xnor32),
    BINARY("s_lshl_b32", lshl32),
    BINARY("s_lshr_b32", lshr32),
    BINARY("s_ashr_i32", ashr32),
    BINARY("s_lshl1_add_u32", lshl1_add),
    BINARY("s_lshl2_add_u32", lshl2_add),
    BINARY("s_lshl3_add_u32", lshl3_add),
    BINARY("s_lshl4_add_u32", lshl4_add),
    BINARY("s_mul_i32", mul),
    BINARY("s_mul_hi_u32", mul_hi_u),
    BINARY("s_mul_hi_i32", mul_hi_i),
    BINARY("s_absdiff_i32", absdiff),
    BINARY("s_cselect_b32", select32),
    BINARY("s_bfe_u32", bfe_u32),
    BINARY("s_bfe_i32", bfe_i32),
    {"s_bfe_u32 s14, s8, 0x90005", SCALAR_SCC, bfe_constant, .edges = "i"},
    {"s_pack_ll_b32_b16 s14, s8, s10", SCALAR32, pack_ll},
    {"s_pack_lh_b32_b16 s14, s8, s10", SCALAR32, pack_lh},
    {"s_pack_hh_b32_b16 s14, s8, s10", SCALAR32, pack_hh},
    {"s_bfm_b32 s14, s8, s10", SCALAR32, bfm32, .edges = "i"},
    {"s_bfm_b64 s[14:15], s8, s10", SCALAR64, bfm64, .edges = "i"},
    BINARY64("s_and_b64", and64),
    BINARY64("s_or_b64", or64),
    BINARY64("s_xor_b64", xor64),
    BINARY64("s_andn2_b64", andn2_64),
    BINARY64("s_orn2_b64", orn2_64),
    BINARY64("s_nand_b64", nand_64),
    BINARY64("s_nor_b64", nor64),
    BINARY64("s_xnor_b64", xnor64),
    BINARY64("s_cselect_b64", select64),
    SHIFT64("s_lshl_b64", lshl64),
    SHIFT64("s_lshr_b64", lshr64),
    SHIFT64("s_ashr_i64", ashr64),
    SHIFT64("s_bfe_u64", bfe_u64),
    SHIFT64("s_bfe_i64", bfe_i64),
    FLAG64("s_and_b64", ", s[10:11]", any_and64),
    FLAG64("s_xnor_b64", ", s[10:11]", any_xnor64),
    FLAG64("s_lshl_b64", ", s10", any_lshl64),
    FLAG64("s_bfe_i64", ", s10", any_bfe64),
    FLAG64("s_wqm_b64", "", any64),
    FLAG64("s_quadmask_b64", "", any64),
    UNARY("s_mov_b32", SCALAR32, move),
    UNARY("s_cmov_b32", SCALAR32, cmov),
    UNARY("s_not_b32", SCALAR_SCC, not32),
    UNARY("s_brev_b32", SCALAR32, brev32),
    UNARY("s_bcnt0_i32_b32", SCALAR_SCC, bcnt0_32),
    UNARY("s_bcnt1_i32_b32", SCALAR_SCC, bcnt1_32),
    UNARY("s_ff0_i32_b32", SCALAR32, ff0_32),
    UNARY("s_ff1_i32_b32", SCALAR32, ff1_32),
    UNARY("s_flbit_i32_b32", SCALAR32, flbit32),
    UNARY("s_flbit_i32", SCALAR32, flbit_i32),
    UNARY("s_sext_i32_i8", SCALAR32, sext8),
    UNARY("s_sext_i32_i16", SCALAR32, sext16),
    UNARY("s_abs_i32", SCALAR_SCC, abs32),
    UNARY("s_bitset0_b32", SCALAR32, bitset0),
    UNARY("s_bitset1_b32", SCALAR32, bitset1),
    UNARY("s_wqm_b32", SCALAR_SCC, wqm32),
    UNARY("s_quadmask_b32", SCALAR_SCC, quadmask32),
    FROM64("s_bcnt0_i32_b64", SCALAR_SCC, bcnt0_64),
    FROM64("s_bcnt1_i32_b64", SCALAR_SCC, bcnt1_64),
    FROM64("s_ff0_i32_b64", SCALAR32, ff0_64),
    FROM64("s_ff1_i32_b64", SCALAR32, ff1_64),
    FROM64("s_flbit_i32_b64", SCALAR32, flbit64),
    FROM64("s_flbit_i32_i64", SCALAR32, flbit_i64),
    UNARY64("s_mov_b64", move64),
    UNARY64("s_cmov_b64", cmov64),
    UNARY64("s_not_b64", not64),
    UNARY64("s_brev_b64", brev64),
    UNARY64("s_wqm_b64", wqm64),
    UNARY64("s_quadmask_b64", quadmask64),
    {"s_bitset0_b64 s[14:15], s8", SCALAR64, bitset0_64, .edges = "i"},
    {"s_bitset1_b64 s[14:15], s8", SCALAR64, bitset1_64, .edges = "i"},
    {"s_bitreplicate_b64_b32 s[14:15], s8", SCALAR64, replicate, .edges = "i"},
    {"s_and_b32 m0, s8, 3\n s_movrels_b32 s14, s8", SCALAR32, moved_source},
    {"s_and_b32 m0, s8, 2\n s_movrels_b64 s[14:15], s[8:9]", SCALAR64, moved_pair},
    {"s_and_b32 m0, s8, 1\n s_movreld_b32 s14, s10", SCALAR64, moved_target},
    {"s_mov_b32 m0, 4\n s_movreld_b64 s[10:11], s[8:9]", SCALAR64, move64},
    COMPARE("s_cmp_eq_i32", eq_32),
    COMPARE("s_cmp_lg_i32", lg_32),
    COMPARE("s_cmp_gt_i32", gt_i),
    COMPARE("s_cmp_ge_i32", ge_i),
    COMPARE("s_cmp_lt_i32", lt_i),
    COMPARE("s_cmp_le_i32", le_i),
    COMPARE("s_cmp_eq_u32", eq_32),
    COMPARE("s_cmp_lg_u32", lg_32),
    COMPARE("s_cmp_gt_u32", gt_u),
    COMPARE("s_cmp_ge_u32", ge_u),
    COMPARE("s_cmp_lt_u32", lt_u),
    COMPARE("s_cmp_le_u32", le_u),
    COMPARE("s_bitcmp0_b32", bit_is_0),
    COMPARE("s_bitcmp1_b32", bit_is_1),
    {"s_bitcmp0_b64 s[8:9], s10", SCC_ONLY, bit_is_0_64, .edges = "xi"},
    {"s_bitcmp1_b64 s[8:9], s10", SCC_ONLY, bit_is_1_64, .edges = "xi"},
    {"s_cmp_eq_u64 s[8:9], s[10:11]", SCC_ONLY, eq_64},
    {"s_cmp_lg_u64 s[8:9], s[10:11]", SCC_ONLY, lg_64},
    COMPAREK("s_cmpk_eq_i32", "0xffff", eqk_i),
    COMPAREK("s_cmpk_lg_i32", "0xffff", lgk_i),
    COMPAREK("s_cmpk_gt_i32", "0x8000", gtk_i),
    COMPAREK("s_cmpk_ge_i32", "0xffff", gek_i),
    COMPAREK("s_cmpk_lt_i32", "0x7fff", ltk_i),
    COMPAREK("s_cmpk_le_i32", "0xffff", lek_i),
    COMPAREK("s_cmpk_eq_u32", "0xffff", eqk_u),
    COMPAREK("s_cmpk_lg_u32", "0xffff", lgk_u),
    COMPAREK("s_cmpk_gt_u32", "0x8000", gtk_u),
    COMPAREK("s_cmpk_ge_u32", "0x8000", gek_u),
    COMPAREK("s_cmpk_lt_u32", "0x8000", ltk_u),
    COMPAREK("s_cmpk_le_u32", "0x8000", lek_u),
    {"s_movk_i32 s14, 0xedcc", SCALAR32, movk},
    {"s_cmovk_i32 s14, 0xedcc", SCALAR32, cmovk},
    {"s_addk_i32 s14, 0xedcc", SCALAR_SCC, addk, .edges = "i"},
    {"s_mulk_i32 s14, 0xedcc", SCALAR32, mulk},
};
TABLE(salu);
