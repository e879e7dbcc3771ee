/* Functions specified to an error, parts of floats, argument reduction. Every expectation is written from the words, functional
 * examples and pseudocode of the CDNA 4 ISA; the functions are computed in long double, and one unit in the
 * last place is allowed, 2^29 of f64. */
#include "sim/test/half_expect.h"

/* "Denormals are flushed": as sources and as results. */
static float flushed(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }
static u64 result(long double x) { return bits(flushed((float)x)); }

static long double in_turns(float x, int quarters, long double (*function)(long double)) {
  static const int sines[4] = {0, 1, 0, -1};
  long double part = fmodl((long double)x, 1);
  if (isnan(part)) return part;
  if (rintl(part * 4) == part * 4) return sines[((int)(part * 4) + quarters + 4) & 3];
  return function(part * 6.283185307179586476925286766559L);
}
EXPECT(reciprocal, result(1 / (long double)flushed(f(a))))
EXPECT(root, result(sqrtl((long double)flushed(f(a)))))
EXPECT(reciprocal_root, result(1 / sqrtl((long double)flushed(f(a)))))
EXPECT(power_of_2, result(exp2l((long double)flushed(f(a)))))
EXPECT(logarithm, result(log2l((long double)flushed(f(a)))))
EXPECT(sine, bits(f(a) == 0 ? f(a) : (float)in_turns(f(a), 0, sinl)))
EXPECT(cosine, bits((float)in_turns(f(a), 1, cosl)))

EXPECT(reciprocal64, bits64((double)(1 / (long double)d(a))))
EXPECT(root64, bits64((double)sqrtl((long double)d(a))))
EXPECT(reciprocal_root64, bits64((double)(1 / sqrtl((long double)d(a)))))

/* "Denormals are supported." */
static float half(u64 a) { return (float)half_value(low(a)); }
static u32 to_half(long double x) {
  u32 sign = signbit(x) != 0 ? 0x8000 : 0;
  if (isnan(x)) return 0x7e00;
  if (fabsl(x) >= 65520) return sign | 0x7c00;
  return half_round((i128)rintl(x * 0x1p48L), sign != 0);
}
EXPECT(reciprocal16, to_half(1 / (long double)half(a)))
EXPECT(root16, to_half(sqrtl((long double)half(a))))
EXPECT(reciprocal_root16, to_half(1 / sqrtl((long double)half(a))))
EXPECT(power_of_2_16, to_half(exp2l((long double)half(a))))
EXPECT(logarithm16, to_half(log2l((long double)half(a))))
EXPECT(sine16, half(a) == 0 ? low(a) : to_half(in_turns(half(a), 0, sinl)))
EXPECT(cosine16, to_half(in_turns(half(a), 1, cosl)))
EXPECT(load_exponent16, to_half(ldexpl((long double)half(a), (i16)b)))
static u64 mantissa16(u64 a) {
  int exponent;
  return isfinite(half(a)) ? to_half((long double)frexpf(half(a), &exponent)) : low(a);
}
static u64 exponent16(u64 a) {
  int exponent = 0;
  if (isfinite(half(a))) frexpf(half(a), &exponent);
  return (u16)exponent;
}
EXPECT(frexp_mantissa16, mantissa16(a))
EXPECT(frexp_exponent16, exponent16(a))
/* b is the denominator, c the numerator; the quotient's estimate a decides only where neither is special. */
static u32 fixed(u32 a, u32 b, u32 c) {
  u32 sign = (b ^ c) & 0x8000;
  bool b_zero = (b & 0x7fff) == 0, c_zero = (c & 0x7fff) == 0;
  if (half_nan(c) || half_nan(b) || (b_zero && c_zero) || (half_inf(b) && half_inf(c))) return 0xfe00;
  if (b_zero || half_inf(c)) return sign | 0x7c00;
  if (half_inf(b) || c_zero) return sign;
  return sign | (a & 0x7fff);
}
EXPECT(fixed_up, ((u32)old & 0xffff0000) | fixed(low(a), low(b), low(c)))
EXPECT(fixed_up_high, low(old) | fixed(high(a), low(b), low(c)) << 16)
EXPECT(fixed_up_legacy, fixed(low(a), low(b), low(c)))

EXPECT(reciprocal_of_sign, result(1 / (long double)flushed(-fabsf(f(a)))))
EXPECT(sine_clamped, bits(fmaxf((float)in_turns(f(a), 0, sinl), 0)))
EXPECT(reciprocal_high, low(old) | to_half(1 / (long double)half_value(high(a))) << 16)

/* The examples that the ISA gives for a -inf, x, -0, +inf: bits, NaNs too. a chooses one. */
#define EXAMPLES(name, ...)                       \
  static const u32 name##_bits[] = {__VA_ARGS__}; \
  EXPECT(name, name##_bits[(a & 3)])
EXAMPLES(exp_examples, 0, 0x40000000, 0x3f800000, 0x7f800000)           /* exp(1) = 2 */
EXAMPLES(log_examples, 0xffc00000, 0, 0xff800000, 0x7f800000)           /* log(1) = 0 */
EXAMPLES(rcp_examples, 0x80000000, 0x3f800000, 0xff800000, 0)           /* rcp(1) = 1 */
EXAMPLES(rsq_examples, 0xffc00000, 0x3f800000, 0xff800000, 0)           /* rsq(1) = 1 */
EXAMPLES(sqrt_examples, 0xffc00000, 0x3f800000, 0x80000000, 0x7f800000) /* sqrt(1) = 1 */
EXAMPLES(sin_examples, 0xffc00000, 0, 0x80000000, 0xffc00000)           /* sin(1 turn) = 0 */
EXAMPLES(cos_examples, 0xffc00000, 0x3f800000, 0x3f800000, 0xffc00000)  /* cos(1 turn) = 1 */
EXPECT(sine_of_least, 0)
EXPECT(cosine_of_least, 0x3f800000)

static u64 mantissa(u64 a) {
  int exponent;
  return isfinite(f(a)) ? bits(frexpf(f(a), &exponent)) : a;
}
static u64 exponent(u64 a) {
  int exponent = 0;
  if (isfinite(f(a))) frexpf(f(a), &exponent);
  return (u32)exponent;
}
EXPECT(frexp_mantissa, mantissa(a))
EXPECT(frexp_exponent, exponent(a))
EXPECT(load_exponent, bits((float)ldexp((double)f(a), (i32)b > 400 ? 400 : (i32)b < -400 ? -400 : (i32)b)))
EXPECT(random_step, (u32)(a << 1) ^ ((a >> 31 & 1) != 0 ? 197 : 0))

/* ---- 2 / pi, from Machin's formula in 1280 bits after the point: pi / 4 = 4 arctan(1/5) - arctan(1/239) ---- */

enum { WORDS = 41 }; /* the first one before the point */

static void divide(u32 x[WORDS], u32 by) {
  u64 rest = 0;
  for (int w = 0; w < WORDS; w++) {
    rest = rest << 32 | x[w];
    x[w] = (u32)(rest / by);
    rest %= by;
  }
}
static void add_or_subtract(u32 x[WORDS], const u32 y[WORDS], bool subtract) {
  i64 carry = 0;
  for (int w = WORDS - 1; w >= 0; w--) {
    carry += (i64)x[w] + (subtract ? -(i64)y[w] : (i64)y[w]);
    x[w] = (u32)carry;
    carry >>= 32;
  }
}
/* sum += factor * arctan(1 / n) */
static void add_arctan(u32 sum[WORDS], u32 factor, u32 n, bool negative) {
  u32 power[WORDS] = {factor}, term[WORDS];
  divide(power, n);
  for (u32 k = 1; k < 1300; k += 2) {
    memcpy(term, power, sizeof term);
    divide(term, k);
    add_or_subtract(sum, term, (k % 4 == 3) != negative);
    divide(power, n * n);
  }
}
/* The bits of 2 / pi after the point, by long division of 1 by pi / 2. */
static const u8 *two_over_pi(void) {
  static u8 bit[1201];
  static bool made;
  u32 half_pi[WORDS] = {0}, rest[WORDS] = {1};
  if (made) return bit;
  add_arctan(half_pi, 8, 5, false);
  add_arctan(half_pi, 2, 239, true);
  for (int b = 0; b < 1201; b++) {
    add_or_subtract(rest, rest, false);
    int w = 0; /* the first word that differs: 2 / pi never ends, so there is one */
    while (rest[w] == half_pi[w]) w++;
    bit[b] = rest[w] > half_pi[w];
    if (bit[b]) add_or_subtract(rest, half_pi, true);
  }
  made = true;
  return bit;
}
/* "Left shift operation indicates which bits are brought into the whole part. Only whole part of result is kept": 53 bits. */
static u64 segment(u64 a, u64 b) {
  const u8 *bit = two_over_pi();
  int exponent = (int)(a >> 52 & 2047), shift = (int)(b & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  double whole = 0;
  for (int n = 0; n < 53; n++) whole = 2 * whole + (shift + n < 1201 ? bit[shift + n] : 0);
  return bits64(ldexp(whole, -53 - shift + (exponent >= 1968 ? 128 : 0)));
}
EXPECT(reduction, segment(a, b))

#define F32(name, expect) {name " v10, v2", VECTOR32, expect, .real = 'f', .ulp = 1, .edges = "f"}
#define F16(name, expect) {name " v10, v2", VECTOR32, expect, .real = 'h', .ulp = 1, .edges = "p"}
#define F64(name, expect) {name " v[10:11], v[2:3]", VECTOR64, expect, .real = 'd', .ulp = 1 << 29, .edges = "d"}
/* One of -inf, 1, -0, +inf by the low bits of a. */
#define CHOSEN(name, expect)                                                                                                \
  {"v_and_b32 v20, 3, v2\n v_mov_b32 v21, 0xff800000\n v_cmp_eq_u32 vcc, 1, v20\n v_cndmask_b32 v21, v21, 1.0, vcc\n"       \
   " v_mov_b32 v22, 0x80000000\n v_cmp_eq_u32 vcc, 2, v20\n v_cndmask_b32 v21, v21, v22, vcc\n v_mov_b32 v22, 0x7f800000\n" \
   " v_cmp_eq_u32 vcc, 3, v20\n v_cndmask_b32 v21, v21, v22, vcc\n " name " v10, v21",                                      \
   VECTOR32, expect}

static const instruction_test tests[] = {
    F32("v_rcp_f32", reciprocal),
    F32("v_rcp_iflag_f32", reciprocal),
    F32("v_sqrt_f32", root),
    F32("v_rsq_f32", reciprocal_root),
    F32("v_exp_f32", power_of_2),
    F32("v_log_f32", logarithm),
    F32("v_sin_f32", sine),
    F32("v_cos_f32", cosine),
    {"v_rcp_f32_dpp v10, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", VECTOR32, reciprocal, .real = 'f', .ulp = 1,
     .edges = "f"},
    {"v_rcp_f32 v10, -|v2|", VECTOR32, reciprocal_of_sign, .real = 'f', .ulp = 1, .edges = "f"},
    {"v_sin_f32 v10, v2 clamp", VECTOR32, sine_clamped, .real = 'f', .ulp = 1, .edges = "f"},
    {"v_rcp_f16_sdwa v10, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1", VECTOR32, reciprocal_high, .real = 'p',
     .ulp = 1, .edges = "p"},
    CHOSEN("v_exp_f32", exp_examples),
    CHOSEN("v_log_f32", log_examples),
    CHOSEN("v_rcp_f32", rcp_examples),
    CHOSEN("v_rsq_f32", rsq_examples),
    CHOSEN("v_sqrt_f32", sqrt_examples),
    CHOSEN("v_sin_f32", sin_examples),
    CHOSEN("v_cos_f32", cos_examples),
    {"v_mov_b32 v20, 0xff7fffff\n v_sin_f32 v10, v20", VECTOR32, sine_of_least},
    {"v_mov_b32 v20, 0xff7fffff\n v_cos_f32 v10, v20", VECTOR32, cosine_of_least},
    F16("v_rcp_f16", reciprocal16),
    F16("v_sqrt_f16", root16),
    F16("v_rsq_f16", reciprocal_root16),
    F16("v_exp_f16", power_of_2_16),
    F16("v_log_f16", logarithm16),
    F16("v_sin_f16", sine16),
    F16("v_cos_f16", cosine16),
    {"v_ldexp_f16 v10, v2, v4", VECTOR32, load_exponent16, .real = 'h', .edges = "ps"},
    {"v_ldexp_f16 v10, v2, v4", VECTOR32, load_exponent16, .real = 'h', .edges = "pi"},
    {"v_frexp_mant_f16 v10, v2", VECTOR32, frexp_mantissa16, .real = 'h', .edges = "p"},
    {"v_frexp_exp_i16_f16 v10, v2", VECTOR32, frexp_exponent16, .edges = "p"},
    {"v_div_fixup_f16 v10, v2, v4, v6", VECTOR32, fixed_up, .real = 'p', .edges = "p"},
    {"v_div_fixup_f16 v10, v2, v4, v6 op_sel:[1,0,0,1]", VECTOR32, fixed_up_high, .real = 'p', .edges = "p"},
    {"v_div_fixup_legacy_f16 v10, v2, v4, v6", VECTOR32, fixed_up_legacy, .real = 'h', .edges = "p"},
    F64("v_rcp_f64", reciprocal64),
    F64("v_sqrt_f64", root64),
    F64("v_rsq_f64", reciprocal_root64),
    {"v_frexp_mant_f32 v10, v2", VECTOR32, frexp_mantissa, .real = 'f', .edges = "f"},
    {"v_frexp_exp_i32_f32 v10, v2", VECTOR32, frexp_exponent, .edges = "f"},
    {"v_ldexp_f32 v10, v2, v4", VECTOR32, load_exponent, .real = 'f', .edges = "fs"},
    {"v_ldexp_f32 v10, v2, v4", VECTOR32, load_exponent, .real = 'f', .edges = "fi"},
    {"v_trig_preop_f64 v[10:11], v[2:3], v4", VECTOR64, reduction, .edges = "di"},
    {"v_trig_preop_f64 v[10:11], v[2:3], v4", VECTOR64, reduction, .edges = "i"},
    {"v_prng_b32 v10, v2", VECTOR32, random_step, .chip = "gfx950"},
};
TABLE(math);
