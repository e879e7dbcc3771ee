/* Vector comparisons. Every expectation is written from the descriptions in the CDNA 4 ISA, chapter 12: a comparison
 * with NaN is false, and the n-forms are negations. */
#include "sim/test/half_expect.h"

EXPECT(never, 0)
EXPECT(always, 1)

#define ORDERED(type, value)              \
  EXPECT(lt_##type, value(a) < value(b))  \
  EXPECT(eq_##type, value(a) == value(b)) \
  EXPECT(le_##type, value(a) <= value(b)) \
  EXPECT(gt_##type, value(a) > value(b))  \
  EXPECT(ge_##type, value(a) >= value(b))
#define INTEGERS(type, value) \
  ORDERED(type, value)        \
  EXPECT(ne_##type, value(a) != value(b))
#define FLOATS(type, value)                                                      \
  ORDERED(type, value)                                                           \
  EXPECT(lg_##type, value(a) < value(b) || value(a) > value(b))                  \
  EXPECT(o_##type, !isnan(value(a)) && !isnan(value(b)))                         \
  EXPECT(u_##type, isnan(value(a)) || isnan(value(b)))                           \
  EXPECT(nge_##type, !(value(a) >= value(b)))                                    \
  EXPECT(nlg_##type, isnan(value(a)) || isnan(value(b)) || value(a) == value(b)) \
  EXPECT(ngt_##type, !(value(a) > value(b)))                                     \
  EXPECT(nle_##type, !(value(a) <= value(b)))                                    \
  EXPECT(neq_##type, !(value(a) == value(b)))                                    \
  EXPECT(nlt_##type, !(value(a) < value(b)))

static double half_of(u64 x) { return half_value(low(x)); }
INTEGERS(i16, (i16)(u16))
INTEGERS(u16, (u16))
INTEGERS(i32, (i32)(u32))
INTEGERS(u32, (u32))
INTEGERS(i64, (i64))
INTEGERS(u64, (u64))
FLOATS(f16, half_of)
FLOATS(f32, f)
FLOATS(f64, d)
EXPECT(lt_half, (i16)(u16)(a >> 16) < (i16)(u16)b)
EXPECT(lt_signs, -f(a) < fabsf(f(b)))
static u64 flush(u64 x) { return (x & 0x7f800000) == 0 ? x & 0x80000000 : (u32)x; }
EXPECT(eq_flush, f(flush(a)) == f(flush(b)))

/* The bit of b that asks for a's kind of value */
static u64 kind(int class, bool negative, bool quiet) {
  switch (class) {
    case FP_NAN: return quiet ? 1 : 0;
    case FP_INFINITE: return negative ? 2 : 9;
    case FP_NORMAL: return negative ? 3 : 8;
    case FP_SUBNORMAL: return negative ? 4 : 7;
    default: return negative ? 5 : 6;
  }
}
EXPECT(class_f32, b >> kind(fpclassify(f(a)), (a >> 31 & 1) != 0, (a & 0x400000) != 0) & 1)
EXPECT(class_f64, b >> kind(fpclassify(d(a)), a >> 63 != 0, (a >> 51 & 1) != 0) & 1)
static int half_class(u32 h) {
  int class = fpclassify(half_value(h));
  return class == FP_NORMAL && (h & 0x7c00) == 0 ? FP_SUBNORMAL : class;
}
EXPECT(class_f16, b >> kind(half_class(low(a)), half_negative(low(a)), (a & 0x200) != 0) & 1)
EXPECT(class_abs, b >> kind(fpclassify(f(a)), false, (a & 0x400000) != 0) & 1)

/* One row for VCC and one whose mask goes to EXEC too, which it must equal. */
#define ROW(name, expect, set, operands)                                      \
  {"v_cmp_" name " vcc, " operands, MASK_VCC, expect, .edges = set}, {        \
    "v_cmpx_" name " s[20:21], " operands                                     \
    "\n s_and_b64 s[20:21], s[20:21], exec\n s_xor_b64 vcc, s[20:21], exec\n" \
    " s_not_b64 vcc, vcc\n s_and_b64 s[20:21], s[20:21], vcc",                \
        MASK_SGPR, expect, .edges = set                                       \
  }
#define NARROW "v2, v4"
#define WIDE "v[2:3], v[4:5]"
#define INTEGER_ROWS(type, operands)                                                          \
  ROW("f_" #type, never, "i", operands), ROW("lt_" #type, lt_##type, "i", operands),          \
      ROW("eq_" #type, eq_##type, "i", operands), ROW("le_" #type, le_##type, "i", operands), \
      ROW("gt_" #type, gt_##type, "i", operands), ROW("ne_" #type, ne_##type, "i", operands), \
      ROW("ge_" #type, ge_##type, "i", operands), ROW("t_" #type, always, "i", operands)
#define FLOAT_ROWS(type, set, operands)                                                           \
  ROW("f_" #type, never, set, operands), ROW("lt_" #type, lt_##type, set, operands),              \
      ROW("eq_" #type, eq_##type, set, operands), ROW("le_" #type, le_##type, set, operands),     \
      ROW("gt_" #type, gt_##type, set, operands), ROW("lg_" #type, lg_##type, set, operands),     \
      ROW("ge_" #type, ge_##type, set, operands), ROW("o_" #type, o_##type, set, operands),       \
      ROW("u_" #type, u_##type, set, operands), ROW("nge_" #type, nge_##type, set, operands),     \
      ROW("nlg_" #type, nlg_##type, set, operands), ROW("ngt_" #type, ngt_##type, set, operands), \
      ROW("nle_" #type, nle_##type, set, operands), ROW("neq_" #type, neq_##type, set, operands), \
      ROW("nlt_" #type, nlt_##type, set, operands), ROW("tru_" #type, always, set, operands)

static const instruction_test tests[] = {
    INTEGER_ROWS(i16, NARROW),
    INTEGER_ROWS(u16, NARROW),
    INTEGER_ROWS(i32, NARROW),
    INTEGER_ROWS(u32, NARROW),
    INTEGER_ROWS(i64, WIDE),
    INTEGER_ROWS(u64, WIDE),
    FLOAT_ROWS(f16, "p", NARROW),
    FLOAT_ROWS(f32, "f", NARROW),
    FLOAT_ROWS(f64, "d", WIDE),
    ROW("class_f16", class_f16, "pi", NARROW),
    ROW("class_f32", class_f32, "fi", NARROW),
    ROW("class_f64", class_f64, "di", "v[2:3], v4"),
    {"v_cmp_class_f32 s[20:21], |v2|, v4", MASK_SGPR, class_abs, .edges = "fi"},
    {"v_cmp_class_f32 vcc, v2, v4", MASK_VCC, class_f32, .edges = "fi", .kernel = "  .amdhsa_float_denorm_mode_32 0\n"},
    {"v_cmp_eq_f32 vcc, v2, v4", MASK_VCC, eq_flush, .edges = "f", .kernel = "  .amdhsa_float_denorm_mode_32 0\n"},
    {"v_cmp_lt_f32 s[20:21], -v2, |v4|", MASK_SGPR, lt_signs, .edges = "f"},
    {"v_cmp_lt_i16_sdwa s[20:21], v2, v4 src0_sel:WORD_1 src1_sel:DWORD", MASK_SGPR, lt_half, .edges = "i"},
};
TABLE(vcmp);
