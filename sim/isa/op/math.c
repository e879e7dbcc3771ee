/* Functions that the ISA specifies to an error (rcp, rsq, sqrt, exp, log, sin, cos), and the parts of floats. Source: CDNA
 * 4 ISA, notes of 12.8: 1 unit in the last place for f16 and f32, 2^29 for f64.
 *
 * They are computed in the host's double or long double and rounded once, so a result of f32 differs from the correctly rounded
 * one only where the double itself lies within its error of the middle between two f32. */
#include "ops.h"
#include "sim/base/half.h"
#include "sim/machine/mode.h"

#define SRC_MODS (MOD_SRC | MOD_CLAMP | MOD_OMOD)
#define IDENTITY(x) (x)
#define F(x) as_f32(x)
#define TF(x) bits_f32(x)

/* ---- f32: denormals are zeros for all but sine and cosine; a NaN that is made is negative (the functional examples) ---- */

static inline float flush(float a) { return fabsf(a) < 0x1p-126f ? copysignf(0, a) : a; }
static inline float made_nan(float r, float a) { return isnan(r) && !isnan(a) ? as_f32(0xffc00000) : r; }

static inline float reciprocal(float a) { return flush(1 / flush(a)); }
static inline float root(float a) { return made_nan(sqrtf(flush(a)), a); }
static inline float reciprocal_root(float a) { return made_nan((float)(1 / sqrt((double)flush(a))), a); }
static inline float power_of_2(float a) { return flush((float)exp2((double)flush(a))); }
static inline float logarithm(float a) { return made_nan(flush((float)log2((double)flush(a))), a); }

/* sin(2 pi a) and cos(2 pi a): reduced exactly to an eighth of a turn around quarter q. */
static double turn(double a, int quarters) {
  const double two_pi = 6.283185307179586476925;
  double part = fmod(a, 1), nearest = __builtin_roundeven(part * 4), angle = (part - nearest * 0.25) * two_pi;
  if (isnan(part)) return part;
  switch (((int)nearest + quarters) & 3) {
    case 0: return a == 0 ? a : sin(angle) + 0.0; /* of whole turns +0 */
    case 1: return cos(angle);
    case 2: return 0.0 - sin(angle);
    default: return -cos(angle);
  }
}
static inline float sine(float a) { return made_nan((float)turn((double)a, 0), a); }
static inline float cosine(float a) { return a == 0 ? 1 : made_nan((float)turn((double)a, 1), a); }

V_UNARY(rcp_f32, F, TF, reciprocal(a))
V_UNARY(sqrt_f32, F, TF, root(a))
V_UNARY(rsq_f32, F, TF, reciprocal_root(a))
V_UNARY(exp_f32, F, TF, power_of_2(a))
V_UNARY(log_f32, F, TF, logarithm(a))
V_UNARY(sin_f32, F, TF, sine(a))
V_UNARY(cos_f32, F, TF, cosine(a))

/* ---- f16: denormals are kept ---- */

#define H(x) half_f32((x) & 0xffff)
#define TH(x) f32_half(x, half_rounding(w))

V_UNARY(rcp_f16, H, TH, 1 / a)
V_UNARY(sqrt_f16, H, TH, made_nan(sqrtf(a), a))
V_UNARY(rsq_f16, H, TH, made_nan((float)(1 / sqrt((double)a)), a))
V_UNARY(exp_f16, H, TH, (float)exp2((double)a))
V_UNARY(log_f16, H, TH, made_nan((float)log2((double)a), a))
V_UNARY(sin_f16, H, TH, sine(a))
V_UNARY(cos_f16, H, TH, cosine(a))

/* ---- f64: denormals are kept ---- */

static inline double made_nan64(double r, double a) { return isnan(r) && !isnan(a) ? as_f64(0xfff8000000000000) : r; }
#define UNARY_F64(symbol, r)                   \
  static void symbol(wave *w, const inst *i) { \
    const u32 *pa = src(w, i, 1);              \
    u32 rows[2][LANES];                        \
    for (int l = 0; l < LANES; l++) {          \
      double a = as_f64(lane_u64(pa, l));      \
      u64 bits = bits_f64(made_nan64(r, a));   \
      rows[0][l] = (u32)bits;                  \
      rows[1][l] = (u32)(bits >> 32);          \
    }                                          \
    put64(w, i, rows);                         \
  }
UNARY_F64(rcp_f64, 1 / a)
UNARY_F64(sqrt_f64, sqrt(a))
UNARY_F64(rsq_f64, (double)(1 / sqrtl((long double)a)))

/* ---- Parts of floats ---- */

static inline float mantissa(float a) {
  int exponent;
  return isfinite(a) ? frexpf(a, &exponent) : a + a;
}
static inline u32 exponent_of(float a) {
  int exponent = 0;
  if (isfinite(a)) frexpf(a, &exponent);
  return (u32)exponent;
}
V_UNARY(frexp_mant_f32, F, TF, mantissa(a))
V_UNARY(frexp_exp_f32, F, IDENTITY, exponent_of(a))
static void ldexp_f32(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) row[l] = bits_f32(scalbnf(as_f32(pa[l]), (i32)pb[l]));
  put(w, i, row);
}

V_UNARY(frexp_mant_f16, H, TH, mantissa(a))
V_UNARY(frexp_exp_f16, H, IDENTITY, exponent_of(a) & 0xffff)
static void ldexp_f16(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    int exponent = (i16)pb[l], nearer = exponent > 64 ? 64 : exponent < -64 ? -64 : exponent; /* exact in f32 */
    row[l] = TH(ldexpf(H(pa[l]), nearer));
  }
  put(w, i, row);
}

/* ---- Argument reduction of huge f64 ---- */

/* The 1201 bits of 2 / pi after the point, the first one on top. */
static const u64 two_over_pi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                  0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                  0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                  0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                  0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000};
enum { TABLE_BITS = 64 * sizeof two_over_pi / sizeof two_over_pi[0] };

/* 53 bits from `first` on; zeros after the table. */
static u64 table_bits(u32 first) {
  u64 bits = 0;
  for (u32 b = first; b < first + 53; b++) bits = bits << 1 | (b < TABLE_BITS ? two_over_pi[b / 64] >> (63 - b % 64) & 1 : 0);
  return bits;
}

/* Segment b of 2 / pi, aligned for a. Source: CDNA 4 ISA, the pseudocode of V_TRIG_PREOP_F64. */
static double segment(u64 a, u32 b) {
  u32 exponent = a >> 52 & 2047, shift = (b & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  return scalbn((double)table_bits(shift), -53 - (int)shift + (exponent >= 1968 ? 128 : 0));
}
static void trig_preop_f64(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);
  u32 rows[2][LANES];
  for (int l = 0; l < LANES; l++) {
    u64 bits = bits_f64(segment(lane_u64(pa, l), pb[l]));
    rows[0][l] = (u32)bits;
    rows[1][l] = (u32)(bits >> 32);
  }
  put64(w, i, rows);
}

/* The next state of a shift register with feedback (CDNA 4 ISA, V_PRNG_B32). */
V_UNARY(prng_b32, IDENTITY, IDENTITY, a << 1 ^ (a >> 31 != 0 ? 197 : 0))

static const op ops[] = {
    {"v_rcp_f32", rcp_f32, "=ff", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_rcp_iflag_f32", rcp_f32, "=ff", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_sqrt_f32", sqrt_f32, "=ff", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_rsq_f32", rsq_f32, "=ff", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_exp_f32", exp_f32, "=ff", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_log_f32", log_f32, "=ff", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_sin_f32", sin_f32, "=ff", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_cos_f32", cos_f32, "=ff", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_rcp_f16", rcp_f16, "=hh", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_sqrt_f16", sqrt_f16, "=hh", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_rsq_f16", rsq_f16, "=hh", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_exp_f16", exp_f16, "=hh", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_log_f16", log_f16, "=hh", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_sin_f16", sin_f16, "=hh", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_cos_f16", cos_f16, "=hh", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_frexp_mant_f16", frexp_mant_f16, "=hh", .mods = SRC_MODS},
    {"v_frexp_exp_i16_f16", frexp_exp_f16, "=wh", .mods = MOD_SRC},
    {"v_ldexp_f16", ldexp_f16, "=hhw", .mods = SRC_MODS},
    {"v_rcp_f64", rcp_f64, "=dd", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_sqrt_f64", sqrt_f64, "=dd", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_rsq_f64", rsq_f64, "=dd", .mods = SRC_MODS, .rate = RATE_TRANSCENDENTAL},
    {"v_frexp_mant_f32", frexp_mant_f32, "=ff", .mods = SRC_MODS},
    {"v_frexp_exp_i32_f32", frexp_exp_f32, "=bf", .mods = MOD_SRC},
    {"v_ldexp_f32", ldexp_f32, "=ffb", .mods = SRC_MODS},
    {"v_trig_preop_f64", trig_preop_f64, "=ddb", .mods = SRC_MODS},
    {"v_prng_b32", prng_b32, "=bb"},
};
FAMILY(family_math, "math", CLASS_VALU, MOD_DPP | MOD_SDWA, ops);
