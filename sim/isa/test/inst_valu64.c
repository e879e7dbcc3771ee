/* Vector arithmetic on 64 bits. Every expectation is written from the words and pseudocode of the CDNA 4 ISA. */
#include <fenv.h>

#include "sim/test/expect.h"

EXPECT(shift_left64, b << (a & 63))
EXPECT(shift_right64, b >> (a & 63))
EXPECT(shift_right_signed64, (u64)((i64)b >> (a & 63)))
EXPECT(wide_add, a + b)
EXPECT(shifted_add, (a << (b & 7)) + c)
EXPECT(wide_mad, (u64)(u32)a *(u32)b + c)
EXPECT(move64, a)
/* A carry beside a 64-bit product and sum, in 128 bits. */
static void mad_carry(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  const test_item *x = &wave[lane];
  (void)exec;
  u64 product = (u64)(u32)x->a * (u32)x->b, sum = product + x->c[0];
  memcpy(result, &sum, sizeof sum);
  result[2] = sum < product;
}
/* The 65-bit sum of sign-extended terms: its top bit. */
static void mad_signed(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  const test_item *x = &wave[lane];
  (void)exec;
  i64 product = (i64)(i32)x->a * (i32)x->b, c = (i64)x->c[0];
  u64 sum = (u64)product + (u64)c, low_carry = sum < (u64)product;
  memcpy(result, &sum, sizeof sum);
  result[2] = (u32)(((u64)(product < 0) + (u64)(c < 0) + low_carry) & 1);
}

/* ---- f64 ---- */

static double scaled(double x, u64 exponent) {
  i32 e = (i32)(u32)exponent;
  return ldexp(x, e > 5000 ? 5000 : e < -5000 ? -5000 : e);
}
static double fraction(double x) {
  double whole = floor(x), part = x - whole;
  return part >= 1 ? nextafter(1, 0) : part;
}
static bool quiet(u64 x) { return (x >> 51 & 1) != 0; }
static u64 least(u64 a, u64 b, bool most) {
  if (isnan(d(a)) && !quiet(a)) return a;
  if (isnan(d(b)) && !quiet(b)) return b;
  if (isnan(d(a))) return b;
  if (isnan(d(b))) return a;
  if (d(a) == 0 && d(b) == 0) return (signbit(d(a)) != 0) != most ? a : b;
  return (d(a) < d(b)) != most ? a : b;
}
static u64 significant(u64 a) {
  int exponent;
  return isfinite(d(a)) ? bits64(frexp(d(a), &exponent)) : a;
}
static u32 power(u64 a) {
  int exponent = 0;
  if (isfinite(d(a))) frexp(d(a), &exponent);
  return (u32)exponent;
}
static u32 clamped_i32(double x) {
  double whole = trunc(x);
  return isnan(x) ? 0 : whole > 2147483647.0 ? 0x7fffffff : whole < -2147483648.0 ? 0x80000000 : (u32)(i64)whole;
}
static u32 clamped_u32(double x) {
  double whole = trunc(x);
  return isnan(x) || whole < 0 ? 0 : whole > 4294967295.0 ? 0xffffffff : (u32)(u64)whole;
}
static bool in_class(u64 a, u64 asked) {
  bool negative = signbit(d(a)) != 0;
  switch (fpclassify(d(a))) {
    case FP_NAN: return (asked >> (quiet(a) ? 1 : 0) & 1) != 0;
    case FP_INFINITE: return (asked >> (negative ? 2 : 9) & 1) != 0;
    case FP_NORMAL: return (asked >> (negative ? 3 : 8) & 1) != 0;
    case FP_SUBNORMAL: return (asked >> (negative ? 4 : 7) & 1) != 0;
    default: return (asked >> (negative ? 5 : 6) & 1) != 0;
  }
}
EXPECT(add, bits64(d(a) + d(b)))
EXPECT(add_signs, bits64(-d(a) + fabs(d(b))))
EXPECT(add_clamped, bits64(d(a) + d(b) > 0 ? fmin(d(a) + d(b), 1) : 0))
EXPECT(add_half, bits64(d(a) + 0.5))
EXPECT(mul, bits64(d(a) * d(b)))
EXPECT(fused, bits64(fma(d(a), d(b), d(c))))
EXPECT(fused_old, bits64(fma(d(a), d(b), d(old))))
EXPECT(least_of, least(a, b, false))
EXPECT(most_of, least(a, b, true))
EXPECT(load_exponent, bits64(scaled(d(a), b)))
EXPECT(truncated, bits64(trunc(d(a))))
EXPECT(up, bits64(ceil(d(a))))
EXPECT(down, bits64(floor(d(a))))
/* Whatever the rounding mode is */
static double even(double x) {
  int mode = fegetround();
  fesetround(FE_TONEAREST);
  volatile double rounded = nearbyint(x);
  fesetround(mode);
  return rounded;
}
EXPECT(to_even, bits64(even(d(a))))
EXPECT(fractional, bits64(fraction(d(a))))
EXPECT(frexp_mantissa, significant(a))
EXPECT(frexp_exponent, power(a))
EXPECT(to_i32, clamped_i32(d(a)))
EXPECT(to_u32, clamped_u32(d(a)))
EXPECT(to_f32, bits((float)d(a)))
EXPECT(from_i32, bits64((i32)a))
EXPECT(from_u32, bits64((u32)a))
EXPECT(from_f32, bits64((double)f(a)))
EXPECT(class_mask, in_class(a, b))
EXPECT(class_all, in_class(a, 0x155))

/* MODE by the kernel descriptor, and from an instruction on */
static u64 flushed(u64 x) { return (x >> 52 & 2047) == 0 ? x & UINT64_C(1) << 63 : x; }
EXPECT(add_flushed, flushed(bits64(d(flushed(a)) + d(flushed(b)))))
EXPECT(add_up32, bits(f(a) + f(b)))

/* ---- Quotients: the compiler's sequence must give the correctly rounded one ---- */

EXPECT(quotient32, bits(f(a) / f(b)))
EXPECT(quotient64, bits64(d(a) / d(b)))

#define F64(text, expect) {text, VECTOR64, expect, .real = 'd', .edges = "d"}
#define F64_MODE(text, expect, bits, rounding) \
  {text, VECTOR64, expect, .real = 'd', .edges = "d", .round = rounding, .kernel = " .amdhsa_float_round_mode_16_64 " bits "\n"}

static const instruction_test tests[] = {
    {"v_lshlrev_b64 v[10:11], v2, v[4:5]", VECTOR64, shift_left64},
    {"v_lshrrev_b64 v[10:11], v2, v[4:5]", VECTOR64, shift_right64},
    {"v_ashrrev_i64 v[10:11], v2, v[4:5]", VECTOR64, shift_right_signed64},
    {"v_mov_b64 v[10:11], v[2:3]", VECTOR64, move64},
    {"v_add_co_u32 v10, vcc, v2, v4\n v_addc_co_u32 v11, vcc, v3, v5, vcc", VECTOR64, wide_add},
    {"v_lshl_add_u64 v[10:11], v[2:3], 0, v[4:5]", VECTOR64, wide_add},
    {"v_lshl_add_u64 v[10:11], v[2:3], v4, v[6:7]", VECTOR64, shifted_add},
    {"v_mad_u64_u32 v[10:11], vcc, v2, v4, v[6:7]", VECTOR64, wide_mad},
    {"v_mad_u64_u32 v[10:11], vcc, v2, v4, v[6:7]", VECTOR64_VCC, .wide = mad_carry},
    {"v_mad_i64_i32 v[10:11], s[20:21], v2, v4, v[6:7]", VECTOR64_SGPR, .wide = mad_signed},
    F64("v_add_f64 v[10:11], v[2:3], v[4:5]", add),
    F64("v_add_f64 v[10:11], -v[2:3], |v[4:5]|", add_signs),
    F64("v_add_f64 v[10:11], v[2:3], v[4:5] clamp", add_clamped),
    F64("v_add_f64 v[10:11], v[2:3], 0.5", add_half),
    F64("v_mul_f64 v[10:11], v[2:3], v[4:5]", mul),
    F64("v_fma_f64 v[10:11], v[2:3], v[4:5], v[6:7]", fused),
    F64("v_fmac_f64 v[10:11], v[2:3], v[4:5]", fused_old),
    F64("v_min_f64 v[10:11], v[2:3], v[4:5]", least_of),
    F64("v_max_f64 v[10:11], v[2:3], v[4:5]", most_of),
    {"v_ldexp_f64 v[10:11], v[2:3], v4", VECTOR64, load_exponent, .real = 'd', .edges = "ds"},
    {"v_ldexp_f64 v[10:11], v[2:3], v4", VECTOR64, load_exponent, .real = 'd', .edges = "di"},
    F64("v_trunc_f64 v[10:11], v[2:3]", truncated),
    F64("v_ceil_f64 v[10:11], v[2:3]", up),
    F64("v_floor_f64 v[10:11], v[2:3]", down),
    F64("v_rndne_f64 v[10:11], v[2:3]", to_even),
    F64("v_fract_f64 v[10:11], v[2:3]", fractional),
    F64("v_frexp_mant_f64 v[10:11], v[2:3]", frexp_mantissa),
    {"v_frexp_exp_i32_f64 v10, v[2:3]", VECTOR32, frexp_exponent, .edges = "d"},
    {"v_cvt_i32_f64 v10, v[2:3]", VECTOR32, to_i32, .edges = "d"},
    {"v_cvt_u32_f64 v10, v[2:3]", VECTOR32, to_u32, .edges = "d"},
    {"v_cvt_f32_f64 v10, v[2:3]", VECTOR32, to_f32, .real = 'f', .edges = "d"},
    F64("v_cvt_f64_i32 v[10:11], v2", from_i32),
    F64("v_cvt_f64_u32 v[10:11], v2", from_u32),
    {"v_cvt_f64_f32 v[10:11], v2", VECTOR64, from_f32, .real = 'd', .edges = "f"},
    F64_MODE("v_add_f64 v[10:11], v[2:3], v[4:5]", add, "1", FE_UPWARD),
    F64_MODE("v_add_f64 v[10:11], v[2:3], v[4:5]", add, "2", FE_DOWNWARD),
    F64_MODE("v_mul_f64 v[10:11], v[2:3], v[4:5]", mul, "3", FE_TOWARDZERO),
    F64_MODE("v_fma_f64 v[10:11], v[2:3], v[4:5], v[6:7]", fused, "2", FE_DOWNWARD),
    F64_MODE("v_rndne_f64 v[10:11], v[2:3]", to_even, "1", FE_UPWARD),
    F64_MODE("v_fract_f64 v[10:11], v[2:3]", fractional, "3", FE_TOWARDZERO),
    {"v_cvt_f32_f64 v10, v[2:3]", VECTOR32, to_f32, .real = 'f', .edges = "d", .round = FE_UPWARD,
     .kernel = " .amdhsa_float_round_mode_32 1\n"},
    {"v_add_f64 v[10:11], v[2:3], v[4:5]", VECTOR64, add_flushed, .real = 'd', .edges = "d",
     .kernel = " .amdhsa_float_denorm_mode_16_64 0\n"},
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\n v_add_f32 v10, v2, v4\n s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0",
     VECTOR32, add_up32, .real = 'f', .edges = "f", .round = FE_UPWARD},
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 4), 0xc\n v_add_f64 v[10:11], v[2:3], v[4:5]", VECTOR64, add_flushed,
     .real = 'd', .edges = "d"},
    {"v_cmp_class_f64 vcc, v[2:3], v4", MASK_VCC, class_mask, .edges = "di"},
    {"v_cmp_class_f64 s[20:21], v[2:3], v4", MASK_SGPR, class_mask, .edges = "di"},
    {"v_mov_b32 v20, 0x155\n v_cmp_class_f64 vcc, v[2:3], v20", MASK_VCC, class_all, .edges = "d"},
    {"v_div_scale_f32 v20, s[22:23], v4, v4, v2\n v_div_scale_f32 v21, vcc, v2, v4, v2\n v_rcp_f32 v22, v20\n"
     " v_fma_f32 v23, -v20, v22, 1.0\n v_fma_f32 v22, v23, v22, v22\n v_mul_f32 v23, v21, v22\n"
     " v_fma_f32 v24, -v20, v23, v21\n v_fma_f32 v23, v24, v22, v23\n v_fma_f32 v20, -v20, v23, v21\n"
     " v_div_fmas_f32 v20, v20, v22, v23\n v_div_fixup_f32 v10, v20, v4, v2",
     VECTOR32, quotient32, .real = 'f', .edges = "f"},
    {"v_div_scale_f64 v[20:21], s[22:23], v[4:5], v[4:5], v[2:3]\n v_rcp_f64 v[22:23], v[20:21]\n"
     " v_fma_f64 v[24:25], -v[20:21], v[22:23], 1.0\n v_fma_f64 v[22:23], v[22:23], v[24:25], v[22:23]\n"
     " v_fma_f64 v[24:25], -v[20:21], v[22:23], 1.0\n v_fma_f64 v[22:23], v[22:23], v[24:25], v[22:23]\n"
     " v_div_scale_f64 v[24:25], vcc, v[2:3], v[4:5], v[2:3]\n v_mul_f64 v[26:27], v[24:25], v[22:23]\n"
     " v_fma_f64 v[20:21], -v[20:21], v[26:27], v[24:25]\n v_div_fmas_f64 v[20:21], v[20:21], v[22:23], v[26:27]\n"
     " v_div_fixup_f64 v[10:11], v[20:21], v[4:5], v[2:3]",
     VECTOR64, quotient64, .real = 'd', .edges = "d"},
};
TABLE(valu64);
