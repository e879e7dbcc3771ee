/* Vector comparisons: VOPC. They write a lane mask; v_cmpx also EXEC. Source: CDNA 4 ISA 12.9. */
#include "ops.h"
#include "sim/base/half.h"

static void put_compare(wave *w, const inst *i, u64 mask) {
  put_mask(w, i, 0, mask);
  if (i->op->parameter != 0) set_pair(w, S_EXEC, mask & get_exec(w));
}

/* The letters of the float conditions: a comparison with NaN is false, its n-form is the negation and so true. */
#define COMPARE(symbol, from, condition)              \
  static void symbol(wave *w, const inst *i) {        \
    const u32 *pa = src(w, i, 1), *pb = src(w, i, 2); \
    u64 mask = 0;                                     \
    for (int l = 0; l < LANES; l++) {                 \
      __typeof__(from(pa, l)) a = from(pa, l);        \
      __typeof__(from(pb, l)) b = from(pb, l);        \
      mask |= (u64)(condition) << l;                  \
    }                                                 \
    put_compare(w, i, mask);                          \
  }
#define U32(p, l) (p[l])
#define I32(p, l) ((i32)p[l])
#define U64(p, l) lane_u64(p, l)
#define I64(p, l) ((i64)lane_u64(p, l))
#define F32(p, l) as_f32(p[l])
#define U16(p, l) (p[l] & 0xffff)
#define I16(p, l) ((i16)p[l])
#define F16(p, l) half_f32(p[l] & 0xffff)
#define F64(p, l) as_f64(lane_u64(p, l))

/* f and t (for floats f and tru) are false and true for every lane. */
#define INTEGER(suffix, from)                          \
  COMPARE(f_##suffix, from, ((void)a, (void)b, false)) \
  COMPARE(t_##suffix, from, ((void)a, (void)b, true))  \
  COMPARE(lt_##suffix, from, a < b)                    \
  COMPARE(eq_##suffix, from, a == b)                   \
  COMPARE(le_##suffix, from, a <= b)                   \
  COMPARE(gt_##suffix, from, a > b)                    \
  COMPARE(ne_##suffix, from, a != b)                   \
  COMPARE(ge_##suffix, from, a >= b)
#define FLOAT(suffix, from)                             \
  COMPARE(f_##suffix, from, ((void)a, (void)b, false))  \
  COMPARE(tru_##suffix, from, ((void)a, (void)b, true)) \
  COMPARE(lt_##suffix, from, a < b)                     \
  COMPARE(eq_##suffix, from, a == b)                    \
  COMPARE(le_##suffix, from, a <= b)                    \
  COMPARE(gt_##suffix, from, a > b)                     \
  COMPARE(lg_##suffix, from, a<b || a> b)               \
  COMPARE(ge_##suffix, from, a >= b)                    \
  COMPARE(o_##suffix, from, !isnan(a) && !isnan(b))     \
  COMPARE(u_##suffix, from, isnan(a) || isnan(b))       \
  COMPARE(nge_##suffix, from, !(a >= b))                \
  COMPARE(nlg_##suffix, from, !(a < b || a > b))        \
  COMPARE(ngt_##suffix, from, !(a > b))                 \
  COMPARE(nle_##suffix, from, !(a <= b))                \
  COMPARE(neq_##suffix, from, !(a == b))                \
  COMPARE(nlt_##suffix, from, !(a < b))

INTEGER(i16, I16)
INTEGER(u16, U16)
FLOAT(f16, F16)
INTEGER(i32, I32)
INTEGER(u32, U32)
INTEGER(i64, I64)
INTEGER(u64, U64)
FLOAT(f32, F32)
FLOAT(f64, F64)

/* The kinds of value that b's bits ask for: 0 signalling NaN, 1 quiet NaN, then -infinity, -normal, -denormal, -0, and from 6
 * the same of positive ones, 0 first. Source: CDNA 4 ISA, V_CMP_CLASS_F32. */
static inline u32 kind_of(u64 bits, int width, int mantissa) {
  u64 sign = UINT64_C(1) << (width - 1), one = UINT64_C(1) << mantissa, infinity = (sign - 1) & ~(one - 1),
      value = bits & ~sign;
  if (value > infinity) return (value & one >> 1) == 0 ? 0 : 1;
  u32 size = value == infinity ? 3 : value >= one ? 2 : value > 0 ? 1 : 0;
  return (bits & sign) != 0 ? 5 - size : 6 + size;
}
/* Letters of integers in the rows: denormals are never flushed. */
#define CLASS16(p, l) kind_of(p[l] & 0xffff, 16, 10)
#define CLASS32(p, l) kind_of(p[l], 32, 23)
#define CLASS64(p, l) kind_of(lane_u64(p, l), 64, 52)
#define CLASS(suffix, kind)                                                       \
  static void class_##suffix(wave *w, const inst *i) {                            \
    const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);                             \
    u64 mask = 0;                                                                 \
    for (int l = 0; l < LANES; l++) mask |= (u64)(pb[l] >> kind(pa, l) & 1) << l; \
    put_compare(w, i, mask);                                                      \
  }
CLASS(f16, CLASS16)
CLASS(f32, CLASS32)
CLASS(f64, CLASS64)

#define ROW(condition, suffix, shape, modifiers)                                                           \
  {"v_cmp_" #condition "_" #suffix, condition##_##suffix, "=m" shape, .mods = modifiers}, {                \
    "v_cmpx_" #condition "_" #suffix, condition##_##suffix, "=m" shape, .mods = modifiers, .parameter = 1, \
        .implied = IMPLIED_EXEC_RESULT                                                                     \
  }
#define INTEGER_ROWS(suffix, shape)                                                                         \
  ROW(f, suffix, shape, 0), ROW(t, suffix, shape, 0), ROW(lt, suffix, shape, 0), ROW(eq, suffix, shape, 0), \
      ROW(le, suffix, shape, 0), ROW(gt, suffix, shape, 0), ROW(ne, suffix, shape, 0), ROW(ge, suffix, shape, 0)
#define FLOAT_ROWS(suffix, shape)                                                                           \
  ROW(f, suffix, shape, MOD_SRC), ROW(tru, suffix, shape, MOD_SRC), ROW(lt, suffix, shape, MOD_SRC),        \
      ROW(eq, suffix, shape, MOD_SRC), ROW(le, suffix, shape, MOD_SRC), ROW(gt, suffix, shape, MOD_SRC),    \
      ROW(lg, suffix, shape, MOD_SRC), ROW(ge, suffix, shape, MOD_SRC), ROW(o, suffix, shape, MOD_SRC),     \
      ROW(u, suffix, shape, MOD_SRC), ROW(nge, suffix, shape, MOD_SRC), ROW(nlg, suffix, shape, MOD_SRC),   \
      ROW(ngt, suffix, shape, MOD_SRC), ROW(nle, suffix, shape, MOD_SRC), ROW(neq, suffix, shape, MOD_SRC), \
      ROW(nlt, suffix, shape, MOD_SRC)

static const op ops[] = {
    ROW(class, f16, "wb", MOD_SRC), ROW(class, f32, "bb", MOD_SRC), ROW(class, f64, "Bb", MOD_SRC), INTEGER_ROWS(i16, "ww"),
    INTEGER_ROWS(u16, "ww"),        FLOAT_ROWS(f16, "hh"),          INTEGER_ROWS(i32, "bb"),        INTEGER_ROWS(u32, "bb"),
    INTEGER_ROWS(i64, "II"),        INTEGER_ROWS(u64, "BB"),        FLOAT_ROWS(f32, "ff"),          FLOAT_ROWS(f64, "dd"),
};
FAMILY(family_vcmp, "vcmp", CLASS_VALU, MOD_SDWA | MOD_SEXT, ops);
