/* Vector arithmetic on 32 bits. Every expectation is written from the descriptions in the CDNA 4 ISA, chapter 12. */
#include <fenv.h>

#include "sim/test/expect.h"

static i64 s32(u64 x) { return (i32)(u32)x; }
static i64 u32_of(u64 x) { return (u32)x; }
static u64 within(i64 value, i64 least, i64 most) { return (u32)(value < least ? least : value > most ? most : value); }
static i64 u24(u64 x) { return (i64)(x & 0xffffff); }
static i64 s24(u64 x) { return (x & 0x800000) != 0 ? u24(x) - 0x1000000 : u24(x); }
static i64 least3(i64 a, i64 b, i64 c) { return a < b ? (a < c ? a : c) : b < c ? b : c; }
static i64 most3(i64 a, i64 b, i64 c) { return -least3(-a, -b, -c); }
static i64 middle(i64 a, i64 b, i64 c) { return a + b + c - least3(a, b, c) - most3(a, b, c); }

EXPECT(move, (u32)a)
EXPECT(invert, (u32)~a)
EXPECT(add, (u32)(a + b))
EXPECT(sub, (u32)(a - b))
EXPECT(add_half, (u32)((a >> 16 & 0xffff) + (u32)b))
EXPECT(and, (u32)(a &b))
EXPECT(or, (u32)(a | b))
EXPECT(xor, (u32)(a ^ b))
EXPECT(xnor, (u32)(~a & ~b) | (u32)(a & b))
EXPECT(shift_left, (u32)b << (a & 31))
EXPECT(shift_right, (u32)b >> (a & 31))
EXPECT(shift_right_signed, (u32)((i32)b >> (a & 31)))
EXPECT(min_i, s32(a) < s32(b) ? (u32)a : (u32)b)
EXPECT(max_i, s32(a) < s32(b) ? (u32)b : (u32)a)
EXPECT(min_u, (u32)a < (u32)b ? (u32)a : (u32)b)
EXPECT(max_u, (u32)a < (u32)b ? (u32)b : (u32)a)
EXPECT(multiply, (u32)(a *b))
EXPECT(multiply_high, (u64)(u32)a *(u32)b >> 32)
EXPECT(multiply_high_signed, (u32)(s32(a) * s32(b) >> 32))
EXPECT(mul_u24, (u32)(u24(a) * u24(b)))
EXPECT(mul_i24, (u32)(s24(a) * s24(b)))
EXPECT(mul_hi_u24, (u32)(u24(a) * u24(b) >> 32))
EXPECT(mul_hi_i24, (u32)(s24(a) * s24(b) >> 32))
EXPECT(mad_u24, (u32)(u24(a) * u24(b) + u32_of(c)))
EXPECT(mad_i24, (u32)(s24(a) * s24(b) + s32(c)))
EXPECT(mad_u24_clamp, within(u24(a) * u24(b) + u32_of(c), 0, UINT32_MAX))
EXPECT(mad_i24_clamp, within(s24(a) * s24(b) + s32(c), INT32_MIN, INT32_MAX))
EXPECT(mad_u16, (u32)((a & 0xffff) * (b & 0xffff) + (u32)c))
EXPECT(mad_u16_high, (u32)((a >> 16 & 0xffff) * (b & 0xffff) + (u32)c))
EXPECT(mad_i16, (u32)((i64)(i16)(u16)a *(i16)(u16)b + s32(c)))
EXPECT(mad_i16_clamp, within((i64)(i16)(u16)a *(i16)(u16)b + s32(c), INT32_MIN, INT32_MAX))
EXPECT(add3, (u32)(a + b + c))
EXPECT(lshl_add, ((u32)a << (b & 31)) + (u32)c)
EXPECT(add_lshl, (u32)(a + b) << (c & 31))
EXPECT(lshl_or, (u32)a << (b & 31) | (u32)c)
EXPECT(and_or, (u32)((a & b) | c))
EXPECT(or3, (u32)(a | b | c))
EXPECT(xad, (u32)((a ^ b) + c))
EXPECT(bit_field, (u32)((u32)a >> (b & 31) & ((UINT64_C(1) << (c & 31)) - 1)))
EXPECT(insert, (u32)((a & b) | (~a & c)))
EXPECT(align_bit, ((u64)(u32)a << 32 | (u32)b) >> (c & 31) & UINT32_MAX)
EXPECT(align_byte, ((u64)(u32)a << 32 | (u32)b) >> 8 * (c & 3) & UINT32_MAX)
EXPECT(majority, (u32)((a & b) | (a & c) | (b & c)))
EXPECT(min3_i, (u32)least3(s32(a), s32(b), s32(c)))
EXPECT(max3_i, (u32)most3(s32(a), s32(b), s32(c)))
EXPECT(med3_i, (u32)middle(s32(a), s32(b), s32(c)))
EXPECT(min3_u, (u32)least3(u32_of(a), u32_of(b), u32_of(c)))
EXPECT(max3_u, (u32)most3(u32_of(a), u32_of(b), u32_of(c)))
EXPECT(med3_u, (u32)middle(u32_of(a), u32_of(b), u32_of(c)))
EXPECT(add_u_clamp, within(u32_of(a) + u32_of(b), 0, UINT32_MAX))
EXPECT(sub_u_clamp, within(u32_of(a) - u32_of(b), 0, UINT32_MAX))
EXPECT(add_i_clamp, within(s32(a) + s32(b), INT32_MIN, INT32_MAX))
EXPECT(sub_i_clamp, within(s32(a) - s32(b), INT32_MIN, INT32_MAX))
EXPECT(select, c & 1 ? (u32)b : (u32)a)
/* Both operands were written: the first has b, and what it had went to the second. */
EXPECT(swapped, (u32)a | (old & UINT32_MAX) << 32)

/* Carry out as bit 32; carry in is VCC, bit 0 of c. */
static u64 carry_in(u64 c) { return c & 1; }
EXPECT(add_co, u32_of(a) + u32_of(b))
EXPECT(addc_co, (u64)(u32_of(a) + u32_of(b)) + carry_in(c))
static u64 borrow(u64 a, u64 b, u64 in) { return (u32)(a - b - in) | (u64)((u64)(u32)b + in > (u32)a) << 32; }
EXPECT(sub_co, borrow(a, b, 0))
EXPECT(subb_co, borrow(a, b, carry_in(c)))

/* ---- Floats ---- */

EXPECT(add_f, bits(f(a) + f(b)))
EXPECT(sub_f, bits(f(a) - f(b)))
EXPECT(mul_f, bits(f(a) * f(b)))
EXPECT(fma_f, bits(fmaf(f(a), f(b), f(c))))
EXPECT(fmac_f, bits(fmaf(f(a), f(b), f(old))))
EXPECT(fmaak, bits(fmaf(f(a), f(b), f(0x40490fdb))))
EXPECT(fmamk, bits(fmaf(f(a), f(0x40490fdb), f(b))))
EXPECT(sub_abs, bits(-f(a) + fabsf(f(b))))
EXPECT(clamped, bits(f(a) + f(b) > 0 ? fminf(f(a) + f(b), 1) : 0))
EXPECT(clamped_nan, isnan(f(a) + f(b)) ? bits(NAN) : bits(f(a) + f(b) > 0 ? fminf(f(a) + f(b), 1) : 0))
EXPECT(two_pi_inverse, bits(f(a) * f(0x3e22f983)))
EXPECT(mul_legacy, f(a) == 0 || f(b) == 0 ? 0 : bits(f(a) * f(b)))

static bool signals(u64 x) { return isnan(f(x)) && (x & 0x400000) == 0; }
/* V_MIN_F32, V_MAX_F32; ieee: signalling NaNs win */
static u64 pick(u64 a, u64 b, bool least, bool ieee) {
  if (ieee && (signals(a) || signals(b))) return bits(NAN);
  if (isnan(f(a))) return (u32)b;
  if (isnan(f(b))) return (u32)a;
  if (f(a) == 0 && f(b) == 0) return (signbit(f(a)) != 0) == least ? (u32)a : (u32)b;
  return (f(a) < f(b)) == least ? (u32)a : (u32)b;
}
static u64 min_of(u64 a, u64 b) { return pick(a, b, true, true); }
static u64 max_of(u64 a, u64 b) { return pick(a, b, false, true); }
EXPECT(min_f, min_of(a, b))
EXPECT(max_f, max_of(a, b))
EXPECT(min_f_plain, pick(a, b, true, false))
EXPECT(max_f_plain, pick(a, b, false, false))
EXPECT(min3_f, min_of(min_of(a, b), c))
EXPECT(max3_f, max_of(max_of(a, b), c))
static u64 med3_of(u64 a, u64 b, u64 c) {
  if (isnan(f(a)) || isnan(f(b)) || isnan(f(c))) return min_of(min_of(a, b), c);
  float most = f(max_of(max_of(a, b), c));
  return most == f(a) ? max_of(b, c) : most == f(b) ? max_of(a, c) : max_of(a, b);
}
EXPECT(med3_f, med3_of(a, b, c))
static bool any_nan(u64 a, u64 b, u64 c) { return isnan(f(a)) || isnan(f(b)) || isnan(f(c)); }
EXPECT(minimum3, any_nan(a, b, c) ? bits(NAN) : min_of(min_of(a, b), c))
EXPECT(maximum3, any_nan(a, b, c) ? bits(NAN) : max_of(max_of(a, b), c))

static float nearest_even(float x) {
  if (fabsf(x) >= 0x1p23f || x != x) return x + 0;
  float below = floorf(x), rest = x - below;
  return copysignf(rest > 0.5f || (rest == 0.5f && fmodf(below, 2) != 0) ? below + 1 : below, x);
}
EXPECT(floor_f, bits(floorf(f(a))))
EXPECT(ceil_f, bits(ceilf(f(a))))
EXPECT(trunc_f, bits(truncf(f(a))))
EXPECT(rndne_f, bits(nearest_even(f(a))))
EXPECT(fract_f, bits(fminf(f(a) - floorf(f(a)), 0x1.fffffep-1f)))
static u64 fract_of(u64 a) { return isnan(f(a)) || isinf(f(a)) ? bits(NAN) : fract_f(a, 0, 0, 0); }
EXPECT(fract, fract_of(a))

/* The face of a cube map, its coordinates, and twice the major axis. a, b, c are x, y, z. */
static int major(u64 a, u64 b, u64 c) {
  float x = fabsf(f(a)), y = fabsf(f(b)), z = fabsf(f(c));
  return z >= x && z >= y ? 2 : y >= x ? 1 : 0;
}
static float choose(int axis, u64 a, u64 b, u64 c) { return axis == 2 ? f(c) : axis == 1 ? f(b) : f(a); }
EXPECT(cube_id, bits((float)(2 * major(a, b, c) + (choose(major(a, b, c), a, b, c) < 0))))
static u64 cube_s(u64 a, u64 b, u64 c) {
  switch (major(a, b, c)) {
    case 2: return bits(f(c) < 0 ? -f(a) : f(a));
    case 1: return bits(f(a));
    default: return bits(f(a) < 0 ? f(c) : -f(c));
  }
}
EXPECT(cube_sc, cube_s(a, b, c))
EXPECT(cube_tc, bits(major(a, b, c) != 1 ? -f(b) : f(b) < 0 ? -f(c) : f(c)))
EXPECT(cube_ma, bits(choose(major(a, b, c), a, b, c) * 2))

/* ---- Modes ---- */

#define ROUND(mode) "  .amdhsa_float_round_mode_32 " #mode "\n"
#define FLUSH(mode) "  .amdhsa_float_denorm_mode_32 " #mode "\n"
#define PLAIN "  .amdhsa_ieee_mode 0\n"
static u64 flush(u64 x) { return (x & 0x7f800000) == 0 ? x & 0x80000000 : (u32)x; }
EXPECT(add_flush, flush(bits(f(flush(a)) + f(flush(b)))))
EXPECT(fma_flush, flush(bits(fmaf(f(flush(a)), f(flush(b)), f(flush(c))))))
EXPECT(fma_flush_sources, bits(fmaf(f(flush(a)), f(flush(b)), f(flush(c)))))
EXPECT(fma_flush_results, flush(bits(fmaf(f(a), f(b), f(c)))))
EXPECT(fmac_flush, flush(bits(fmaf(f(flush(a)), f(flush(b)), f(flush(old))))))
EXPECT(add_double, flush(bits(f(flush(bits(f(flush(a)) + f(flush(b))))) * 2 + 0.0f)))
EXPECT(add_halved, flush(bits(f(flush(bits(f(flush(a)) + f(flush(b))))) * 0.5f + 0.0f)))

static const instruction_test tests[] = {
    {"v_mov_b32 v10, v2", VECTOR32, move},
    {"v_accvgpr_write_b32 a0, v2\n s_nop 4\n v_accvgpr_mov_b32 a1, a0\n s_nop 4\n v_accvgpr_read_b32 v10, a1", VECTOR32, move},
    {"v_not_b32 v10, v2", VECTOR32, invert},
    {"v_add_u32 v10, v2, v4", VECTOR32, add},
    {"v_sub_u32 v10, v2, v4", VECTOR32, sub},
    {"v_subrev_u32 v10, v4, v2", VECTOR32, sub},
    {"v_add_u32_sdwa v10, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD", VECTOR32, add_half},
    {"v_add_i32 v10, v2, v4", VECTOR32, add},
    {"v_sub_i32 v10, v2, v4", VECTOR32, sub},
    {"v_add_u32 v10, v2, v4 clamp", VECTOR32, add_u_clamp},
    {"v_sub_u32 v10, v2, v4 clamp", VECTOR32, sub_u_clamp},
    {"v_subrev_u32 v10, v4, v2 clamp", VECTOR32, sub_u_clamp},
    {"v_add_i32 v10, v2, v4 clamp", VECTOR32, add_i_clamp},
    {"v_sub_i32 v10, v2, v4 clamp", VECTOR32, sub_i_clamp},
    {"v_and_b32 v10, v2, v4", VECTOR32, and},
    {"v_or_b32 v10, v2, v4", VECTOR32, or },
    {"v_xor_b32 v10, v2, v4", VECTOR32, xor},
    {"v_xnor_b32 v10, v2, v4", VECTOR32, xnor},
    {"v_lshlrev_b32 v10, v2, v4", VECTOR32, shift_left},
    {"v_lshrrev_b32 v10, v2, v4", VECTOR32, shift_right},
    {"v_ashrrev_i32 v10, v2, v4", VECTOR32, shift_right_signed},
    {"v_min_i32 v10, v2, v4", VECTOR32, min_i},
    {"v_max_i32 v10, v2, v4", VECTOR32, max_i},
    {"v_min_u32 v10, v2, v4", VECTOR32, min_u},
    {"v_max_u32 v10, v2, v4", VECTOR32, max_u},
    {"v_mul_lo_u32 v10, v2, v4", VECTOR32, multiply},
    {"v_mul_hi_u32 v10, v2, v4", VECTOR32, multiply_high},
    {"v_mul_hi_i32 v10, v2, v4", VECTOR32, multiply_high_signed},
    {"v_mul_u32_u24 v10, v2, v4", VECTOR32, mul_u24, .edges = "i"},
    {"v_mul_i32_i24 v10, v2, v4", VECTOR32, mul_i24, .edges = "i"},
    {"v_mul_hi_u32_u24 v10, v2, v4", VECTOR32, mul_hi_u24, .edges = "i"},
    {"v_mul_hi_i32_i24 v10, v2, v4", VECTOR32, mul_hi_i24, .edges = "i"},
    {"v_mad_u32_u24 v10, v2, v4, v6", VECTOR32, mad_u24, .edges = "i"},
    {"v_mad_i32_i24 v10, v2, v4, v6", VECTOR32, mad_i24, .edges = "i"},
    {"v_mad_u32_u24 v10, v2, v4, v6 clamp", VECTOR32, mad_u24_clamp, .edges = "i"},
    {"v_mad_i32_i24 v10, v2, v4, v6 clamp", VECTOR32, mad_i24_clamp, .edges = "i"},
    {"v_mad_u32_u16 v10, v2, v4, v6", VECTOR32, mad_u16, .edges = "i"},
    {"v_mad_u32_u16 v10, v2, v4, v6 op_sel:[1,0,0,0]", VECTOR32, mad_u16_high, .edges = "i"},
    {"v_mad_i32_i16 v10, v2, v4, v6", VECTOR32, mad_i16, .edges = "i"},
    {"v_mad_i32_i16 v10, v2, v4, v6 clamp", VECTOR32, mad_i16_clamp, .edges = "i"},
    {"v_add3_u32 v10, v2, v4, v6", VECTOR32, add3},
    {"v_lshl_add_u32 v10, v2, v4, v6", VECTOR32, lshl_add},
    {"v_add_lshl_u32 v10, v2, v4, v6", VECTOR32, add_lshl},
    {"v_lshl_or_b32 v10, v2, v4, v6", VECTOR32, lshl_or},
    {"v_and_or_b32 v10, v2, v4, v6", VECTOR32, and_or},
    {"v_or3_b32 v10, v2, v4, v6", VECTOR32, or3},
    {"v_xad_u32 v10, v2, v4, v6", VECTOR32, xad},
    {"v_bfe_u32 v10, v2, v4, v6", VECTOR32, bit_field},
    {"v_bfi_b32 v10, v2, v4, v6", VECTOR32, insert},
    {"v_alignbit_b32 v10, v2, v4, v6", VECTOR32, align_bit},
    {"v_alignbyte_b32 v10, v2, v4, v6", VECTOR32, align_byte},
    {"v_bitop3_b32 v10, v2, v4, v6 bitop3:0xe8", VECTOR32, majority, .chip = "gfx950"},
    {"v_min3_i32 v10, v2, v4, v6", VECTOR32, min3_i, .edges = "i"},
    {"v_max3_i32 v10, v2, v4, v6", VECTOR32, max3_i, .edges = "i"},
    {"v_med3_i32 v10, v2, v4, v6", VECTOR32, med3_i, .edges = "i"},
    {"v_min3_u32 v10, v2, v4, v6", VECTOR32, min3_u, .edges = "i"},
    {"v_max3_u32 v10, v2, v4, v6", VECTOR32, max3_u, .edges = "i"},
    {"v_med3_u32 v10, v2, v4, v6", VECTOR32, med3_u, .edges = "i"},
    {"v_cndmask_b32 v10, v2, v4, vcc", VECTOR32, select},
    {"v_mov_b32 v11, v2\n v_swap_b32 v10, v11", VECTOR64, swapped},
    {"v_add_co_u32 v10, vcc, v2, v4", VECTOR32_VCC, add_co},
    {"v_addc_co_u32 v10, vcc, v2, v4, vcc", VECTOR32_VCC, addc_co},
    {"v_add_co_u32 v10, s[20:21], v2, v4", VECTOR32_SGPR, add_co},
    {"v_sub_co_u32 v10, vcc, v2, v4", VECTOR32_VCC, sub_co},
    {"v_subb_co_u32 v10, vcc, v2, v4, vcc", VECTOR32_VCC, subb_co},
    {"v_subrev_co_u32 v10, s[20:21], v4, v2", VECTOR32_SGPR, sub_co},
    {"v_subbrev_co_u32 v10, vcc, v4, v2, vcc", VECTOR32_VCC, subb_co},
    {"v_add_f32 v10, v2, v4", VECTOR32, add_f, 'f', .edges = "f"},
    {"v_sub_f32 v10, v2, v4", VECTOR32, sub_f, 'f', .edges = "f"},
    {"v_subrev_f32 v10, v4, v2", VECTOR32, sub_f, 'f', .edges = "f"},
    {"v_mul_f32 v10, v2, v4", VECTOR32, mul_f, 'f', .edges = "f"},
    {"v_fma_f32 v10, v2, v4, v6", VECTOR32, fma_f, 'f', .edges = "f"},
    {"v_fmac_f32 v10, v2, v4", VECTOR32, fmac_f, 'f', .edges = "f"},
    {"v_fmaak_f32 v10, v2, v4, 0x40490fdb", VECTOR32, fmaak, 'f', .edges = "f"},
    {"v_fmamk_f32 v10, v2, 0x40490fdb, v4", VECTOR32, fmamk, 'f', .edges = "f"},
    {"v_add_f32 v10, -v2, |v4|", VECTOR32, sub_abs, 'f', .edges = "f"},
    {"v_add_f32 v10, v2, v4 clamp", VECTOR32, clamped, 'f', .edges = "f"},
    {"v_add_f32 v10, v2, v4 clamp", VECTOR32, clamped_nan, 'f', .edges = "f", .kernel = "  .amdhsa_dx10_clamp 0\n"},
    {"v_mul_f32 v10, 0.15915494, v2", VECTOR32, two_pi_inverse, 'f', .edges = "f"},
    {"v_mul_legacy_f32 v10, v2, v4", VECTOR32, mul_legacy, 'f', .edges = "f"},
    {"v_min_f32 v10, v2, v4", VECTOR32, min_f, 'f', .edges = "f"},
    {"v_max_f32 v10, v2, v4", VECTOR32, max_f, 'f', .edges = "f"},
    {"v_min_f32 v10, v2, v4", VECTOR32, min_f_plain, 'f', .edges = "f", .kernel = PLAIN},
    {"v_max_f32 v10, v2, v4", VECTOR32, max_f_plain, 'f', .edges = "f", .kernel = PLAIN},
    {"v_min3_f32 v10, v2, v4, v6", VECTOR32, min3_f, 'f', .edges = "f"},
    {"v_max3_f32 v10, v2, v4, v6", VECTOR32, max3_f, 'f', .edges = "f"},
    {"v_med3_f32 v10, v2, v4, v6", VECTOR32, med3_f, 'f', .edges = "f"},
    {"v_minimum3_f32 v10, v2, v4, v6", VECTOR32, minimum3, 'f', .edges = "f", .chip = "gfx950"},
    {"v_maximum3_f32 v10, v2, v4, v6", VECTOR32, maximum3, 'f', .edges = "f", .chip = "gfx950"},
    {"v_floor_f32 v10, v2", VECTOR32, floor_f, 'f', .edges = "f"},
    {"v_ceil_f32 v10, v2", VECTOR32, ceil_f, 'f', .edges = "f"},
    {"v_trunc_f32 v10, v2", VECTOR32, trunc_f, 'f', .edges = "f"},
    {"v_rndne_f32 v10, v2", VECTOR32, rndne_f, 'f', .edges = "f"},
    {"v_fract_f32 v10, v2", VECTOR32, fract, 'f', .edges = "f"},
    {"v_cubeid_f32 v10, v2, v4, v6", VECTOR32, cube_id, 'f', .edges = "f"},
    {"v_cubesc_f32 v10, v2, v4, v6", VECTOR32, cube_sc, 'f', .edges = "f"},
    {"v_cubetc_f32 v10, v2, v4, v6", VECTOR32, cube_tc, 'f', .edges = "f"},
    {"v_cubema_f32 v10, v2, v4, v6", VECTOR32, cube_ma, 'f', .edges = "f"},
    {"v_add_f32 v10, v2, v4", VECTOR32, add_f, 'f', .edges = "f", .kernel = ROUND(1), .round = FE_UPWARD},
    {"v_mul_f32 v10, v2, v4", VECTOR32, mul_f, 'f', .edges = "f", .kernel = ROUND(2), .round = FE_DOWNWARD},
    {"v_fma_f32 v10, v2, v4, v6", VECTOR32, fma_f, 'f', .edges = "f", .kernel = ROUND(1), .round = FE_UPWARD},
    {"v_fma_f32 v10, v2, v4, v6", VECTOR32, fma_f, 'f', .edges = "f", .kernel = ROUND(2), .round = FE_DOWNWARD},
    {"v_fma_f32 v10, v2, v4, v6", VECTOR32, fma_f, 'f', .edges = "f", .kernel = ROUND(3), .round = FE_TOWARDZERO},
    {"v_rndne_f32 v10, v2", VECTOR32, rndne_f, 'f', .edges = "f", .kernel = ROUND(1)},
    {"v_add_f32 v10, v2, v4", VECTOR32, add_flush, 'f', .edges = "f", .kernel = FLUSH(0)},
    {"v_fma_f32 v10, v2, v4, v6", VECTOR32, fma_flush, 'f', .edges = "f", .kernel = FLUSH(0)},
    {"v_fma_f32 v10, v2, v4, v6", VECTOR32, fma_flush_results, 'f', .edges = "f", .kernel = FLUSH(1)},
    {"v_fma_f32 v10, v2, v4, v6", VECTOR32, fma_flush_sources, 'f', .edges = "f", .kernel = FLUSH(2)},
    {"v_fmac_f32 v10, v2, v4", VECTOR32, fmac_flush, 'f', .edges = "f", .kernel = FLUSH(0)},
    {"v_mov_b32 v10, v2", VECTOR32, move, .edges = "f", .kernel = FLUSH(0)},
    /* The instruction after s_setreg already runs in the new mode. */
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\n v_add_f32 v10, v2, v4\n s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0",
     VECTOR32, add_f, 'f', .edges = "f", .round = FE_UPWARD},
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n v_fma_f32 v10, v2, v4, v6", VECTOR32, fma_flush, 'f', .edges = "f"},
    {"v_add_f32_sdwa v10, v2, v4 clamp dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", VECTOR32, clamped,
     'f', .edges = "f"},
    {"v_nop\n v_mov_b32 v10, v2", VECTOR32, move},
    {"v_add_f32 v10, v2, v4 mul:2", VECTOR32, add_f, 'f', .edges = "f"}, /* no effect in IEEE mode */
    {"v_add_f32 v10, v2, v4 mul:2", VECTOR32, add_double, 'f', .edges = "f", .kernel = FLUSH(0) PLAIN},
    {"v_add_f32 v10, v2, v4 div:2", VECTOR32, add_halved, 'f', .edges = "f", .kernel = FLUSH(0) PLAIN},
};
TABLE(valu32);
