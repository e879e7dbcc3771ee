/* Vector arithmetic on 64 bits. Source: CDNA 4 ISA 12.8, 12.11. */
#include "minmax.h"

#define MODS (MOD_SRC | MOD_CLAMP | MOD_OMOD)

static void mov_b64(wave *w, const inst *i) {
  u32 rows[2][LANES];
  memcpy(rows, src(w, i, 1), sizeof rows);
  put64(w, i, rows);
}

/* D = value shifted by `amount`: the shift comes first in the text */
#define SHIFT64(symbol, r)                            \
  static void symbol(wave *w, const inst *i) {        \
    const u32 *pa = src(w, i, 1), *pb = src(w, i, 2); \
    u32 rows[2][LANES];                               \
    for (int l = 0; l < LANES; l++) {                 \
      u32 a = pa[l] & 63;                             \
      u64 b = lane_u64(pb, l), d = (r);               \
      rows[0][l] = (u32)d;                            \
      rows[1][l] = (u32)(d >> 32);                    \
    }                                                 \
    put64(w, i, rows);                                \
  }
SHIFT64(lshlrev_b64, b << a)
SHIFT64(lshrrev_b64, b >> a)
SHIFT64(ashrrev_i64, (u64)((i64)b >> a))

/* D = (a << b[2:0]) + c */
static void lshl_add_u64(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pc = src(w, i, 3);
  u32 rows[2][LANES];
  for (int l = 0; l < LANES; l++) {
    u64 d = (lane_u64(pa, l) << (pb[l] & 7)) + lane_u64(pc, l);
    rows[0][l] = (u32)d;
    rows[1][l] = (u32)(d >> 32);
  }
  put64(w, i, rows);
}

/* D = a * b + c, 32 x 32 + 64 bits, and bit 64 of the sum of the terms extended by zeros or sign */
static void mad_wide(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 2), *pb = src(w, i, 3), *pc = src(w, i, 4);
  bool sign = i->op->parameter != 0;
  u32 rows[2][LANES];
  u64 out = 0;
  for (int l = 0; l < LANES; l++) {
    u64 product = sign ? (u64)((i64)(i32)pa[l] * (i32)pb[l]) : (u64)pa[l] * pb[l], c = lane_u64(pc, l), d = product + c;
    u64 extended = sign ? (product ^ c) >> 63 : 0; /* the sum of both terms' bits 64 */
    u64 carry = extended ^ (d < product);
    rows[0][l] = (u32)d;
    rows[1][l] = (u32)(d >> 32);
    out |= carry << l;
  }
  put64(w, i, rows);
  put_mask(w, i, 1, out);
}

/* ---- f64 ---- */

/* The loop over lanes: `a`, `b`, `c` are the sources 1, 2, 3, `r` the result. */
#define ROWS_F64(sources, r)        \
  u32 rows[2][LANES];               \
  for (int l = 0; l < LANES; l++) { \
    sources u64 bits = bits_f64(r); \
    rows[0][l] = (u32)bits;         \
    rows[1][l] = (u32)(bits >> 32); \
  }                                 \
  put64(w, i, rows);
#define UNARY_F64(symbol, r)                         \
  static void symbol(wave *w, const inst *i) {       \
    const u32 *pa = src(w, i, 1);                    \
    ROWS_F64(double a = as_f64(lane_u64(pa, l));, r) \
  }
#define BINARY_F64(symbol, r)                                                            \
  static void symbol(wave *w, const inst *i) {                                           \
    const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);                                    \
    ROWS_F64(double a = as_f64(lane_u64(pa, l)); double b = as_f64(lane_u64(pb, l));, r) \
  }

/* A NaN that an operation makes is positive; one that comes in is passed on quietly. */
static inline double nan_of(double r, bool in) { return isnan(r) && !in ? as_f64(0x7ff8000000000000) : r; }

BINARY_F64(add_f64, nan_of(a + b, isnan(a) || isnan(b)))
BINARY_F64(mul_f64, nan_of(a *b, isnan(a) || isnan(b)))
UNARY_F64(trunc_f64, trunc(a))
UNARY_F64(ceil_f64, ceil(a))
UNARY_F64(floor_f64, floor(a))
UNARY_F64(rndne_f64, __builtin_roundeven(a))
/* At most the largest number below 1 (CDNA 4 ISA, V_FRACT_F64). */
static inline double fract(double a) {
  double part = a - floor(a);
  return isnan(a) ? a + a : isnan(part) ? as_f64(0x7ff8000000000000) : part < 1 ? part : 0x1.fffffffffffffp-1;
}
UNARY_F64(fract_f64, fract(a))

static void fma_lanes(wave *w, const inst *i, const u32 *pc) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);
  ROWS_F64(double a = as_f64(lane_u64(pa, l)); double b = as_f64(lane_u64(pb, l)); double c = as_f64(lane_u64(pc, l));
           , nan_of(fma(a, b, c), isnan(a) || isnan(b) || isnan(c)))
}
static void fma_f64(wave *w, const inst *i) { fma_lanes(w, i, src(w, i, 3)); }
static void fmac_f64(wave *w, const inst *i) { fma_lanes(w, i, w->v[i->operand[0].reg]); }

/* As in minmax.h: a NaN gives way, a signalling one in IEEE mode wins quietly; -0 is less than 0. */
static inline bool signalling(u64 a) { return isnan(as_f64(a)) && (a >> 51 & 1) == 0; }
static inline double pick(u64 a, u64 b, u64 picked, bool ieee) {
  u64 number = isnan(as_f64(a)) ? b : isnan(as_f64(b)) ? a : picked, quiet = UINT64_C(1) << 51;
  return as_f64(ieee && signalling(a) ? a | quiet : ieee && signalling(b) ? b | quiet : number);
}
static inline double smaller(u64 a, u64 b, bool ieee) {
  double x = as_f64(a), y = as_f64(b);
  return pick(a, b, x < y ? a : x > y ? b : a | b, ieee);
}
static inline double larger(u64 a, u64 b, bool ieee) {
  double x = as_f64(a), y = as_f64(b);
  return pick(a, b, x > y ? a : x < y ? b : a & b, ieee);
}
BINARY_F64(min_f64, smaller(bits_f64(a), bits_f64(b), ieee_mode(w)))
BINARY_F64(max_f64, larger(bits_f64(a), bits_f64(b), ieee_mode(w)))

static void ldexp_f64(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);
  ROWS_F64(, scalbn(as_f64(lane_u64(pa, l)), (i32)pb[l]))
}
static inline double mantissa(double a) {
  int exponent;
  return isfinite(a) ? frexp(a, &exponent) : a + a;
}
UNARY_F64(frexp_mant_f64, mantissa(a))

/* ---- Conversions to and from 32 bits: toward zero to integers, what is too large saturates, NaN gives 0 ---- */

static inline u32 to_i32(double a) { return isnan(a) ? 0 : a >= 0x1p31 ? 0x7fffffff : a <= -0x1p31 ? 0x80000000 : (u32)(i32)a; }
static inline u32 to_u32(double a) { return a >= 0x1p32 ? 0xffffffff : a > 0 ? (u32)a : 0; }
static inline u32 exponent_of(double a) {
  int exponent = 0;
  if (isfinite(a)) frexp(a, &exponent);
  return (u32)exponent;
}
#define FROM_F64(symbol, r)                    \
  static void symbol(wave *w, const inst *i) { \
    const u32 *pa = src(w, i, 1);              \
    u32 row[LANES];                            \
    for (int l = 0; l < LANES; l++) {          \
      double a = as_f64(lane_u64(pa, l));      \
      row[l] = (r);                            \
    }                                          \
    put(w, i, row);                            \
  }
FROM_F64(cvt_i32_f64, to_i32(a))
FROM_F64(cvt_u32_f64, to_u32(a))
FROM_F64(cvt_f32_f64, bits_f32((float)a))
FROM_F64(frexp_exp_f64, exponent_of(a))

#define TO_F64(symbol, r)                      \
  static void symbol(wave *w, const inst *i) { \
    const u32 *pa = src(w, i, 1);              \
    ROWS_F64(, r)                              \
  }
TO_F64(cvt_f64_i32, (double)(i32)pa[l])
TO_F64(cvt_f64_u32, (double)pa[l])
TO_F64(cvt_f64_f32, (double)as_f32(pa[l]))

static const op ops[] = {
    {"v_mov_b64", mov_b64, "=BB", .mods = MOD_DPP, .flow = FLOW_MOVE},
    {"v_lshlrev_b64", lshlrev_b64, "=B@bB", .flow = FLOW_MOVE},
    {"v_lshrrev_b64", lshrrev_b64, "=B@bB", .flow = FLOW_MOVE},
    {"v_ashrrev_i64", ashrrev_i64, "=I@bI", .flow = FLOW_MOVE},
    {"v_lshl_add_u64", lshl_add_u64, "=BB@bB", .flow = FLOW_CARRY},
    {"v_mad_u64_u32", mad_wide, "=B=mbbB", .parameter = 0, .flow = FLOW_CARRY, .rate = RATE_MULTIPLY},
    {"v_mad_i64_i32", mad_wide, "=I=mbbI", .parameter = 1, .flow = FLOW_CARRY, .rate = RATE_MULTIPLY},
    {"v_add_f64", add_f64, "=ddd", .mods = MODS},
    {"v_mul_f64", mul_f64, "=ddd", .mods = MODS},
    {"v_fma_f64", fma_f64, "=dddd", .mods = MODS},
    {"v_fmac_f64", fmac_f64, "+ddd", .mods = MODS | MOD_DPP},
    {"v_min_f64", min_f64, "=ddd", .mods = MODS},
    {"v_max_f64", max_f64, "=ddd", .mods = MODS},
    {"v_ldexp_f64", ldexp_f64, "=ddb", .mods = MODS},
    {"v_trunc_f64", trunc_f64, "=dd", .mods = MODS | MOD_DPP},
    {"v_ceil_f64", ceil_f64, "=dd", .mods = MODS | MOD_DPP},
    {"v_floor_f64", floor_f64, "=dd", .mods = MODS | MOD_DPP},
    {"v_rndne_f64", rndne_f64, "=dd", .mods = MODS | MOD_DPP},
    {"v_fract_f64", fract_f64, "=dd", .mods = MODS | MOD_DPP},
    {"v_frexp_mant_f64", frexp_mant_f64, "=dd", .mods = MODS | MOD_DPP},
    {"v_frexp_exp_i32_f64", frexp_exp_f64, "=bd", .mods = MOD_SRC | MOD_DPP},
    {"v_cvt_i32_f64", cvt_i32_f64, "=bd", .mods = MOD_SRC | MOD_DPP},
    {"v_cvt_u32_f64", cvt_u32_f64, "=bd", .mods = MOD_SRC | MOD_DPP},
    {"v_cvt_f32_f64", cvt_f32_f64, "=fd", .mods = MODS | MOD_DPP},
    {"v_cvt_f64_i32", cvt_f64_i32, "=db", .mods = MOD_CLAMP | MOD_OMOD | MOD_DPP},
    {"v_cvt_f64_u32", cvt_f64_u32, "=db", .mods = MOD_CLAMP | MOD_OMOD | MOD_DPP},
    {"v_cvt_f64_f32", cvt_f64_f32, "=df", .mods = MODS | MOD_DPP},
};
FAMILY(family_valu64, "valu64", CLASS_VALU, 0, ops);
