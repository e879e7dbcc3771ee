/* The steps of an exact division: v_div_scale, v_div_fmas, v_div_fixup. Source: CDNA 4 ISA, their pseudocode in 12.11.
 *
 * Where that text can't be meant, the sequence decides, which must give the rounded quotient: it scales a denominator above
 * 2^126 (2^1022) upward, to infinity, where only downward helps; and it lets v_div_fmas multiply by 2^32 (2^64), where
 * v_div_scale has divided the quotient by 2^64 (2^128) or multiplied it by that. A quotient that overflows makes the steps
 * between end in NaN, for which v_div_fixup gives infinity: the document's condition for overflow can't be true. */
#include <float.h>

#include "ops.h"
#include "sim/base/half.h"
#include "sim/machine/mode.h"

#define MODS (MOD_SRC | MOD_CLAMP | MOD_OMOD)

/* ---- Both formats ---- */

typedef struct format {
  int bias, infinity, scale; /* exponents: of 1, of infinity, of the factor */
  int far, tiny;             /* differences and exponents from which v_div_scale scales */
  int hopeless;              /* below this difference a quotient is less than half of the smallest denormal */
} format;
static const format single = {127, 255, 64, 96, 23, -150}, full = {1023, 2047, 128, 768, 53, -1075};

typedef struct number {
  int exponent; /* as it is encoded */
  bool zero, nan, negative;
} number;

/* f16 has only the last step, and no quotient is hopeless. */
static const format short_format = {.infinity = 31, .hopeless = -32};

static number number_f16(u32 a) { return (number){a >> 10 & 31, (a & 0x7fff) == 0, (a & 0x7fff) > 0x7c00, (a & 0x8000) != 0}; }
static number number_f32(u32 a) { return (number){a >> 23 & 255, a << 1 == 0, a << 1 > 0xff000000, a >> 31 != 0}; }
static number number_f64(u64 a) {
  return (number){a >> 52 & 2047, a << 1 == 0, a << 1 > UINT64_C(0xffe0000000000000), a >> 63 != 0};
}

typedef struct scaling {
  int top, bottom; /* exponents of the factors of numerator and denominator */
  bool flag;       /* v_div_fmas must undo it */
} scaling;

/* `denormal`: whether the rounded quotient n / d is a denormal. */
static scaling scale_of(const format *f, number n, number d, bool denormal) {
  bool small_inverse = d.exponent >= 2 * f->bias - 1 && d.exponent < f->infinity; /* 1 / d is a denormal */
  if (n.exponent - d.exponent >= f->far) return (scaling){0, f->scale, true};
  if (d.exponent == 0) return (scaling){f->scale, f->scale, false};
  if (small_inverse && denormal) return (scaling){0, -f->scale, true};
  if (small_inverse) return (scaling){-f->scale, -f->scale, false};
  if (denormal) return (scaling){f->scale, 0, true};
  if (n.exponent <= f->tiny) return (scaling){f->scale, f->scale, false};
  return (scaling){0, 0, false};
}

typedef enum fixup { FIX_TOP, FIX_BOTTOM, FIX_NAN, FIX_INFINITY, FIX_ZERO, FIX_NONE } fixup;

static fixup fixup_of(const format *f, number n, number d) {
  bool n_infinite = n.exponent == f->infinity, d_infinite = d.exponent == f->infinity;
  if (n.nan) return FIX_TOP;
  if (d.nan) return FIX_BOTTOM;
  if ((n.zero && d.zero) || (n_infinite && d_infinite)) return FIX_NAN;
  if (d.zero || n_infinite) return FIX_INFINITY;
  if (d_infinite || n.zero || n.exponent - d.exponent < f->hopeless) return FIX_ZERO;
  return FIX_NONE;
}

/* As add_to_odd of half.h, in long double. */
static long double sum_to_odd(long double a, long double b) {
  long double sum = a + b, b_part = sum - a, error = (a - (sum - b_part)) + (b - b_part);
  int exponent;
  long double half = frexpl(sum, &exponent), unit = ldexpl(half, LDBL_MANT_DIG);
  if (error == 0 || fmodl(unit, 2) != 0) return sum;
  return nextafterl(sum, error > 0 ? INFINITY : -INFINITY);
}

/* (a * b + c) * 2^scale, to be rounded to nearest by the caller; that paper's emulation of an FMA. Toward one side rounding
 * twice is as good as once, so the other modes need none of this. */
static long double scaled_fma(long double a, long double b, long double c, int scale) {
  if (!isfinite(a) || !isfinite(b) || !isfinite(c)) return a * b + c;
  long double high = a * b, low = fmal(a, b, -high);
  long double t = c + low, t_part = t - c, t_error = (c - (t - t_part)) + (low - t_part);
  long double v = high + t, v_part = v - high, v_error = (high - (v - v_part)) + (t - v_part);
  return ldexpl(sum_to_odd(v, sum_to_odd(t_error, v_error)), scale);
}

/* ---- f32 ---- */

/* D = source 0, which is the numerator or the denominator, scaled; the mask says where the quotient is scaled back */
static void div_scale_f32(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 2), *pd = src(w, i, 3), *pn = src(w, i, 4);
  u32 row[LANES];
  u64 flags = 0;
  for (int l = 0; l < LANES; l++) {
    number n = number_f32(pn[l]), d = number_f32(pd[l]);
    float quotient = as_f32(pn[l]) / as_f32(pd[l]);
    scaling s = scale_of(&single, n, d, fpclassify(quotient) == FP_SUBNORMAL);
    float scaled = scalbnf(as_f32(pa[l]), as_f32(pa[l]) == as_f32(pd[l]) ? s.bottom : s.top);
    row[l] = n.zero || d.zero ? 0x7fc00000 : bits_f32(scaled);
    flags |= (u64)(s.flag && !n.zero && !d.zero) << l;
  }
  put(w, i, row);
  put_mask(w, i, 1, flags);
}

static void div_fmas_f32(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pc = src(w, i, 3);
  u64 flags = get_vcc(w);
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    float a = as_f32(pa[l]), b = as_f32(pb[l]), c = as_f32(pc[l]), r = fmaf(a, b, c);
    int scale = number_f32(pc[l]).exponent > single.bias ? single.scale : -single.scale;
    bool nearest = (w->mode & 3) == ROUND_NEAREST;
    if ((flags >> l & 1) != 0)
      r = nearest ? (float)scaled_fma((long double)a, (long double)b, (long double)c, scale) : scalbnf(r, scale);
    row[l] = bits_f32(nan3(r, a, b, c));
  }
  put(w, i, row);
}

static void div_fixup_f32(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pd = src(w, i, 2), *pn = src(w, i, 3);
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    number n = number_f32(pn[l]), d = number_f32(pd[l]);
    u32 sign = (pn[l] ^ pd[l]) & 0x80000000;
    switch (fixup_of(&single, n, d)) {
      case FIX_TOP: row[l] = pn[l] | 0x400000; break;
      case FIX_BOTTOM: row[l] = pd[l] | 0x400000; break;
      case FIX_NAN: row[l] = 0xffc00000; break;
      case FIX_INFINITY: row[l] = sign | 0x7f800000; break;
      case FIX_ZERO: row[l] = sign; break;
      default: row[l] = sign | (isnan(as_f32(pa[l])) ? 0x7f800000 : pa[l] & 0x7fffffff); break;
    }
  }
  put(w, i, row);
}

static void div_fixup_f16(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pd = src(w, i, 2), *pn = src(w, i, 3);
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    u32 top = pn[l] & 0xffff, bottom = pd[l] & 0xffff, sign = (top ^ bottom) & 0x8000;
    switch (fixup_of(&short_format, number_f16(top), number_f16(bottom))) {
      case FIX_TOP: row[l] = top | 0x200; break;
      case FIX_BOTTOM: row[l] = bottom | 0x200; break;
      case FIX_NAN: row[l] = 0xfe00; break;
      case FIX_INFINITY: row[l] = sign | 0x7c00; break;
      case FIX_ZERO: row[l] = sign; break;
      default: row[l] = sign | (pa[l] & 0x7fff); break;
    }
  }
  put(w, i, row);
}

/* ---- f64 ---- */

static void put_lane(u32 rows[2][LANES], int l, u64 bits) {
  rows[0][l] = (u32)bits;
  rows[1][l] = (u32)(bits >> 32);
}

static void div_scale_f64(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 2), *pd = src(w, i, 3), *pn = src(w, i, 4);
  u32 rows[2][LANES];
  u64 flags = 0;
  for (int l = 0; l < LANES; l++) {
    double top = as_f64(lane_u64(pn, l)), bottom = as_f64(lane_u64(pd, l)), a = as_f64(lane_u64(pa, l));
    number n = number_f64(bits_f64(top)), d = number_f64(bits_f64(bottom));
    scaling s = scale_of(&full, n, d, fpclassify(top / bottom) == FP_SUBNORMAL);
    double scaled = scalbn(a, a == bottom ? s.bottom : s.top);
    put_lane(rows, l, n.zero || d.zero ? UINT64_C(0x7ff8000000000000) : bits_f64(scaled));
    flags |= (u64)(s.flag && !n.zero && !d.zero) << l;
  }
  put64(w, i, rows);
  put_mask(w, i, 1, flags);
}

static void div_fmas_f64(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pc = src(w, i, 3);
  u64 flags = get_vcc(w);
  u32 rows[2][LANES];
  for (int l = 0; l < LANES; l++) {
    double a = as_f64(lane_u64(pa, l)), b = as_f64(lane_u64(pb, l)), c = as_f64(lane_u64(pc, l)), r = fma(a, b, c);
    int scale = number_f64(bits_f64(c)).exponent > full.bias ? full.scale : -full.scale;
    bool nearest = half_rounding(w) == ROUND_NEAREST;
    if ((flags >> l & 1) != 0)
      r = nearest ? (double)scaled_fma((long double)a, (long double)b, (long double)c, scale) : scalbn(r, scale);
    bool came = isnan(a) || isnan(b) || isnan(c);
    put_lane(rows, l, isnan(r) && !came ? UINT64_C(0x7ff8000000000000) : bits_f64(r));
  }
  put64(w, i, rows);
}

static void div_fixup_f64(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pd = src(w, i, 2), *pn = src(w, i, 3);
  u32 rows[2][LANES];
  for (int l = 0; l < LANES; l++) {
    u64 top = lane_u64(pn, l), bottom = lane_u64(pd, l), quotient = lane_u64(pa, l) & UINT64_MAX >> 1;
    u64 quiet = UINT64_C(1) << 51, infinity = UINT64_C(0x7ff0000000000000);
    u64 sign = (top ^ bottom) & UINT64_C(1) << 63;
    switch (fixup_of(&full, number_f64(top), number_f64(bottom))) {
      case FIX_TOP: put_lane(rows, l, top | quiet); break;
      case FIX_BOTTOM: put_lane(rows, l, bottom | quiet); break;
      case FIX_NAN: put_lane(rows, l, UINT64_C(0xfff8000000000000)); break;
      case FIX_INFINITY: put_lane(rows, l, sign | infinity); break;
      case FIX_ZERO: put_lane(rows, l, sign); break;
      default: put_lane(rows, l, sign | (quotient > infinity ? infinity : quotient)); break;
    }
  }
  put64(w, i, rows);
}

static const op ops[] = {
    {"v_div_scale_f32", div_scale_f32, "=f=mfff", .mods = MOD_SRC},
    {"v_div_scale_f64", div_scale_f64, "=d=mddd", .mods = MOD_SRC},
    {"v_div_fmas_f32", div_fmas_f32, "=ffff", .mods = MODS, .implied = IMPLIED_VCC},
    {"v_div_fmas_f64", div_fmas_f64, "=dddd", .mods = MODS, .implied = IMPLIED_VCC},
    {"v_div_fixup_f32", div_fixup_f32, "=ffff", .mods = MODS},
    {"v_div_fixup_f16", div_fixup_f16, "=hhhh", .mods = MOD_SRC | MOD_CLAMP | MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_div_fixup_legacy_f16", div_fixup_f16, "=hhhh", .mods = MODS},
    {"v_div_fixup_f64", div_fixup_f64, "=dddd", .mods = MODS},
};
FAMILY(family_div, "div", CLASS_VALU, 0, ops);
