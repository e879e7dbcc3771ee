/* Vector arithmetic on 16 bits. Every expectation is written from the pseudocode of the CDNA 4 ISA, chapter 12. */
#include "sim/test/half_expect.h"

/* ---- Expectations: of the low halves; the upper half of the result is 0 ---- */

static i64 s16(u64 x) { return (i16)(u16)x; }
static i64 u16_of(u64 x) { return (u16)x; }
static u64 within(i64 value, i64 least, i64 most) {
  return (u64)(value < least ? least : value > most ? most : value) & 0xffff;
}
static i64 middle(i64 a, i64 b, i64 c) {
  i64 most = a > b ? (a > c ? a : c) : b > c ? b : c;
  return most == a ? (b > c ? b : c) : most == b ? (a > c ? a : c) : a > b ? a : b;
}
static i64 least3(i64 a, i64 b, i64 c) { return a < b ? (a < c ? a : c) : b < c ? b : c; }
static i64 most3(i64 a, i64 b, i64 c) { return -least3(-a, -b, -c); }

EXPECT(add, (a + b) & 0xffff)
EXPECT(sub, (a - b) & 0xffff)
EXPECT(mul, (a * b) & 0xffff)
EXPECT(mad, (a * b + c) & 0xffff)
EXPECT(add_u16_clamp, within(u16_of(a) + u16_of(b), 0, 0xffff))
EXPECT(sub_u16_clamp, within(u16_of(a) - u16_of(b), 0, 0xffff))
EXPECT(mad_u16_clamp, within(u16_of(a) * u16_of(b) + u16_of(c), 0, 0xffff))
EXPECT(mad_i16_clamp, within(s16(a) * s16(b) + s16(c), -0x8000, 0x7fff))
EXPECT(shl, (b << (a & 15)) & 0xffff)
EXPECT(shr, (b & 0xffff) >> (a & 15))
EXPECT(sar, (u64)(s16(b) >> (a & 15)) & 0xffff)
EXPECT(min_u, u16_of(a) < u16_of(b) ? low(a) : low(b))
EXPECT(max_u, u16_of(a) > u16_of(b) ? low(a) : low(b))
EXPECT(min_i, s16(a) < s16(b) ? low(a) : low(b))
EXPECT(max_i, s16(a) > s16(b) ? low(a) : low(b))
EXPECT(sat_pk, within(s16(a), 0, 255) | within(s16(a >> 16), 0, 255) << 8)

/* With op_sel: the other half of what the destination held stays */
static u64 beside(u64 result, u64 old) { return (result & 0xffff) | (old & 0xffff0000); }
static u64 above(u64 result, u64 old) { return (result & 0xffff) << 16 | (old & 0xffff); }
EXPECT(add_keep, beside(a + b, old))
EXPECT(sub_keep, beside(a - b, old))
EXPECT(add_i16_clamp, beside(within(s16(a) + s16(b), -0x8000, 0x7fff), old))
EXPECT(sub_i16_clamp, beside(within(s16(a) - s16(b), -0x8000, 0x7fff), old))
EXPECT(add_select, above((a >> 16) + b, old))
EXPECT(mad_keep, beside(a *b + c, old))
EXPECT(mad_select, above((a >> 16) * (b >> 16) + (c >> 16), old))
EXPECT(min3_u, beside((u64)least3(u16_of(a), u16_of(b), u16_of(c)), old))
EXPECT(max3_u, beside((u64)most3(u16_of(a), u16_of(b), u16_of(c)), old))
EXPECT(med3_u, beside((u64)middle(u16_of(a), u16_of(b), u16_of(c)), old))
EXPECT(min3_i, beside((u64)least3(s16(a), s16(b), s16(c)), old))
EXPECT(max3_i, beside((u64)most3(s16(a), s16(b), s16(c)), old))
EXPECT(med3_i, beside((u64)middle(s16(a), s16(b), s16(c)), old))
EXPECT(med3_i_select, above((u64)middle(s16(a >> 16), s16(b), s16(c)), old))
EXPECT(ashr_pk_i8,
       beside((within((i32)a >> (c & 31), -128, 127) & 0xff) | (within((i32)b >> (c & 31), -128, 127) & 0xff) << 8, old))
EXPECT(ashr_pk_u8, beside(within((i32)a >> (c & 31), 0, 255) | within((i32)b >> (c & 31), 0, 255) << 8, old))
EXPECT(pack, pair(a, b))
EXPECT(pack_select, pair((a >> 16) ^ 0x8000, (b & 0x7fff)))
EXPECT(bitop3_16, beside((a & b) | (~a & c), old))

/* ---- f16 ---- */

static u32 negated(u32 h) { return h ^ 0x8000; }
EXPECT(add_h, half_add(low(a), low(b)))
EXPECT(sub_h, half_sub(low(a), low(b)))
EXPECT(subrev_h, half_sub(low(b), low(a)))
EXPECT(mul_h, half_mul(low(a), low(b)))
EXPECT(min_h, half_min(low(a), low(b)))
EXPECT(max_h, half_max(low(a), low(b)))
EXPECT(mac_h, half_mad(low(a), low(b), low(old)))
EXPECT(madak_h, half_mad(low(a), low(b), 0x3e01))
EXPECT(madmk_h, half_mad(low(a), 0x3e01, low(b)))
EXPECT(mad_h, half_mad(low(a), low(b), low(c)))
EXPECT(fma_h, half_fma(low(a), low(b), low(c)))
EXPECT(fma_h_signs, half_fma(negated(low(a)), low(b) & 0x7fff, negated(low(c) & 0x7fff)))
static u64 clamp_h(u32 h) {
  double x = half_value(h);
  return isnan(x) || x <= 0 ? 0 : x >= 1 ? 0x3c00 : h;
}
EXPECT(add_h_clamp, clamp_h(half_add(low(a), low(b))))
EXPECT(mad_h_keep, beside(half_mad(low(a), low(b), low(c)), old))
EXPECT(fma_h_keep, beside(half_fma(low(a), low(b), low(c)), old))
EXPECT(fma_h_select, above(half_fma(high(a), low(b), high(c)), old))
EXPECT(min3_h, beside(half_min(half_min(low(a), low(b)), low(c)), old))
EXPECT(max3_h, beside(half_max(half_max(low(a), low(b)), low(c)), old))
static u32 half_med3(u32 a, u32 b, u32 c) {
  if (half_nan(a) || half_nan(b) || half_nan(c)) return half_min(half_min(a, b), c);
  double most = half_value(half_max(half_max(a, b), c));
  return most == half_value(a) ? half_max(b, c) : most == half_value(b) ? half_max(a, c) : half_max(a, b);
}
EXPECT(med3_h, beside(half_med3(low(a), low(b), low(c)), old))
/* Integers of f16 are exact in f16, so the host's conversion back is exact too; -0 keeps its sign. */
static u64 integral(u32 h, double (*to_integer)(double)) { return half_from((float)to_integer(half_value(h))); }
static double nearest_even(double x) {
  double below = floor(x), rest = x - below;
  double whole = rest > 0.5 || (rest == 0.5 && fmod(below, 2) != 0) ? below + 1 : below;
  return copysign(whole, x);
}
EXPECT(floor_h, integral(low(a), floor))
EXPECT(ceil_h, integral(low(a), ceil))
EXPECT(trunc_h, integral(low(a), trunc))
EXPECT(rndne_h, integral(low(a), nearest_even))
/* a - floor(a), but below 1 */
static u64 fract_of(u32 h) {
  u32 whole = (u32)integral(h, floor), part = half_sub(h, whole);
  return part == 0x3c00 ? 0x3bff : part;
}
EXPECT(fract_h, fract_of(low(a)))

#define UP ".amdhsa_float_round_mode_16_64 1\n"
#define DOWN ".amdhsa_float_round_mode_16_64 2\n"
#define ZERO ".amdhsa_float_round_mode_16_64 3\n"
#define FLUSH ".amdhsa_float_denorm_mode_16_64 0\n"
static u32 flushed(u32 h) { return (h & 0x7c00) == 0 ? h & 0x8000 : h; }
EXPECT(mul_h_flush, flushed(half_mul(flushed(low(a)), flushed(low(b)))))
EXPECT(fma_h_flush, beside(flushed(half_fma(flushed(low(a)), flushed(low(b)), flushed(low(c)))), old))
/* Output modifiers work where results are flushed and IEEE mode is off. */
EXPECT(add_h_double, flushed(half_add(half_mul(flushed(half_add(flushed(low(a)), flushed(low(b)))), 0x4000), 0)))

static const instruction_test tests[] = {
    {"v_add_u16 v10, v2, v4", VECTOR32, add, .edges = "i"},
    {"v_sub_u16 v10, v2, v4", VECTOR32, sub, .edges = "i"},
    {"v_subrev_u16 v10, v4, v2", VECTOR32, sub, .edges = "i"},
    {"v_mul_lo_u16 v10, v2, v4", VECTOR32, mul, .edges = "i"},
    {"v_add_u16 v10, v2, v4 clamp", VECTOR32, add_u16_clamp, .edges = "i"},
    {"v_sub_u16 v10, v2, v4 clamp", VECTOR32, sub_u16_clamp, .edges = "i"},
    {"v_lshlrev_b16 v10, v2, v4", VECTOR32, shl, .edges = "i"},
    {"v_lshrrev_b16 v10, v2, v4", VECTOR32, shr, .edges = "i"},
    {"v_ashrrev_i16 v10, v2, v4", VECTOR32, sar, .edges = "i"},
    {"v_min_u16 v10, v2, v4", VECTOR32, min_u, .edges = "i"},
    {"v_max_u16 v10, v2, v4", VECTOR32, max_u, .edges = "i"},
    {"v_min_i16 v10, v2, v4", VECTOR32, min_i, .edges = "i"},
    {"v_max_i16 v10, v2, v4", VECTOR32, max_i, .edges = "i"},
    {"v_mad_legacy_u16 v10, v2, v4, v6", VECTOR32, mad, .edges = "i"},
    {"v_mad_legacy_i16 v10, v2, v4, v6", VECTOR32, mad, .edges = "i"},
    {"v_mad_legacy_u16 v10, v2, v4, v6 clamp", VECTOR32, mad_u16_clamp, .edges = "i"},
    {"v_mad_legacy_i16 v10, v2, v4, v6 clamp", VECTOR32, mad_i16_clamp, .edges = "i"},
    {"v_sat_pk_u8_i16 v10, v2", VECTOR32, sat_pk, .edges = "i"},
    {"v_add_i16 v10, v2, v4", VECTOR32, add_keep, .edges = "i"},
    {"v_sub_i16 v10, v2, v4", VECTOR32, sub_keep, .edges = "i"},
    {"v_add_i16 v10, v2, v4 clamp", VECTOR32, add_i16_clamp, .edges = "i"},
    {"v_sub_i16 v10, v2, v4 clamp", VECTOR32, sub_i16_clamp, .edges = "i"},
    {"v_add_i16 v10, v2, v4 op_sel:[1,0,1]", VECTOR32, add_select, .edges = "i"},
    {"v_mad_u16 v10, v2, v4, v6", VECTOR32, mad_keep, .edges = "i"},
    {"v_mad_i16 v10, v2, v4, v6", VECTOR32, mad_keep, .edges = "i"},
    {"v_mad_u16 v10, v2, v4, v6 op_sel:[1,1,1,1]", VECTOR32, mad_select, .edges = "i"},
    {"v_min3_u16 v10, v2, v4, v6", VECTOR32, min3_u, .edges = "i"},
    {"v_max3_u16 v10, v2, v4, v6", VECTOR32, max3_u, .edges = "i"},
    {"v_med3_u16 v10, v2, v4, v6", VECTOR32, med3_u, .edges = "i"},
    {"v_min3_i16 v10, v2, v4, v6", VECTOR32, min3_i, .edges = "i"},
    {"v_max3_i16 v10, v2, v4, v6", VECTOR32, max3_i, .edges = "i"},
    {"v_med3_i16 v10, v2, v4, v6", VECTOR32, med3_i, .edges = "i"},
    {"v_med3_i16 v10, v2, v4, v6 op_sel:[1,0,0,1]", VECTOR32, med3_i_select, .edges = "i"},
    {"v_ashr_pk_i8_i32 v10, v2, v4, v6", VECTOR32, ashr_pk_i8, .edges = "i", .chip = "gfx950"},
    {"v_ashr_pk_u8_i32 v10, v2, v4, v6", VECTOR32, ashr_pk_u8, .edges = "i", .chip = "gfx950"},
    {"v_bitop3_b16 v10, v2, v4, v6 bitop3:0xca", VECTOR32, bitop3_16, .edges = "i", .chip = "gfx950"},
    {"v_pack_b32_f16 v10, v2, v4", VECTOR32, pack, .edges = "p"},
    {"v_pack_b32_f16 v10, -v2, |v4| op_sel:[1,0,0]", VECTOR32, pack_select, .edges = "p"},
    {"v_add_f16 v10, v2, v4", VECTOR32, add_h, 'h', .edges = "p"},
    {"v_sub_f16 v10, v2, v4", VECTOR32, sub_h, 'h', .edges = "p"},
    {"v_subrev_f16 v10, v2, v4", VECTOR32, subrev_h, 'h', .edges = "p"},
    {"v_mul_f16 v10, v2, v4", VECTOR32, mul_h, 'h', .edges = "p"},
    {"v_min_f16 v10, v2, v4", VECTOR32, min_h, 'h', .edges = "p"},
    {"v_max_f16 v10, v2, v4", VECTOR32, max_h, 'h', .edges = "p"},
    {"v_mac_f16 v10, v2, v4", VECTOR32, mac_h, 'h', .edges = "p"},
    {"v_madak_f16 v10, v2, v4, 0x3e01", VECTOR32, madak_h, 'h', .edges = "p"},
    {"v_madmk_f16 v10, v2, 0x3e01, v4", VECTOR32, madmk_h, 'h', .edges = "p"},
    {"v_mad_legacy_f16 v10, v2, v4, v6", VECTOR32, mad_h, 'h', .edges = "p"},
    {"v_fma_legacy_f16 v10, v2, v4, v6", VECTOR32, fma_h, 'h', .edges = "p"},
    {"v_fma_legacy_f16 v10, -v2, |v4|, -|v6|", VECTOR32, fma_h_signs, 'h', .edges = "p"},
    {"v_add_f16 v10, v2, v4 clamp", VECTOR32, add_h_clamp, .edges = "p"},
    {"v_mad_f16 v10, v2, v4, v6", VECTOR32, mad_h_keep, 'h', .edges = "p"},
    {"v_fma_f16 v10, v2, v4, v6", VECTOR32, fma_h_keep, 'h', .edges = "p"},
    {"v_fma_f16 v10, v2, v4, v6 op_sel:[1,0,1,1]", VECTOR32, fma_h_select, 'p', .edges = "p"},
    {"v_min3_f16 v10, v2, v4, v6", VECTOR32, min3_h, 'h', .edges = "p"},
    {"v_max3_f16 v10, v2, v4, v6", VECTOR32, max3_h, 'h', .edges = "p"},
    {"v_med3_f16 v10, v2, v4, v6", VECTOR32, med3_h, 'h', .edges = "p"},
    {"v_floor_f16 v10, v2", VECTOR32, floor_h, 'h', .edges = "p"},
    {"v_ceil_f16 v10, v2", VECTOR32, ceil_h, 'h', .edges = "p"},
    {"v_trunc_f16 v10, v2", VECTOR32, trunc_h, 'h', .edges = "p"},
    {"v_rndne_f16 v10, v2", VECTOR32, rndne_h, 'h', .edges = "p"},
    {"v_fract_f16 v10, v2", VECTOR32, fract_h, 'h', .edges = "p"},
    {"v_add_f16 v10, v2, v4", VECTOR32, add_h, 'h', .edges = "p", .kernel = UP, .round = FE_UPWARD},
    {"v_mul_f16 v10, v2, v4", VECTOR32, mul_h, 'h', .edges = "p", .kernel = DOWN, .round = FE_DOWNWARD},
    {"v_fma_f16 v10, v2, v4, v6", VECTOR32, fma_h_keep, 'h', .edges = "p", .kernel = UP, .round = FE_UPWARD},
    {"v_fma_f16 v10, v2, v4, v6", VECTOR32, fma_h_keep, 'h', .edges = "p", .kernel = DOWN, .round = FE_DOWNWARD},
    {"v_fma_f16 v10, v2, v4, v6", VECTOR32, fma_h_keep, 'h', .edges = "p", .kernel = ZERO, .round = FE_TOWARDZERO},
    {"v_mul_f16 v10, v2, v4", VECTOR32, mul_h_flush, 'h', .edges = "p", .kernel = FLUSH},
    {"v_fma_f16 v10, v2, v4, v6", VECTOR32, fma_h_flush, 'h', .edges = "p", .kernel = FLUSH},
    {"v_add_f16 v10, v2, v4 mul:2", VECTOR32, add_h, 'h', .edges = "p"}, /* no effect in IEEE mode */
    {"v_add_f16 v10, v2, v4 mul:2", VECTOR32, add_h_double, 'h', .edges = "p", .kernel = FLUSH ".amdhsa_ieee_mode 0\n"},
};
TABLE(valu16);
