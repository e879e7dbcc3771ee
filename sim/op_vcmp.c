/* Vector comparisons: VOPC. They write a lane mask; v_cmpx also EXEC. Source: MI300 ISA, VOPC. */
#include "ops.h"

/* The letters of the float conditions: a comparison with NaN is false, its n-form is the negation and so true. */
#define COMPARE(symbol, from, condition)                               \
  static void symbol(wave *w, const inst *i) {                         \
    const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);                  \
    u64 mask = 0;                                                      \
    for (int l = 0; l < LANES; l++) {                                  \
      __typeof__(from(pa, l)) a = from(pa, l);                         \
      __typeof__(from(pb, l)) b = from(pb, l);                         \
      mask |= (u64)(condition) << l;                                   \
    }                                                                  \
    put_mask(w, i, 0, mask);                                           \
    if (i->op->parameter != 0) set_pair(w, S_EXEC, mask &get_exec(w)); \
  }
#define U32(p, l) (p[l])
#define I32(p, l) ((i32)p[l])
#define U64(p, l) lane_u64(p, l)
#define I64(p, l) ((i64)lane_u64(p, l))
#define F32(p, l) as_f32(p[l])
#define F64(p, l) as_f64(lane_u64(p, l))

#define INTEGER(suffix, from)        \
  COMPARE(lt_##suffix, from, a < b)  \
  COMPARE(eq_##suffix, from, a == b) \
  COMPARE(le_##suffix, from, a <= b) \
  COMPARE(gt_##suffix, from, a > b)  \
  COMPARE(ne_##suffix, from, a != b) \
  COMPARE(ge_##suffix, from, a >= b)
#define FLOAT(suffix, from)                         \
  COMPARE(lt_##suffix, from, a < b)                 \
  COMPARE(eq_##suffix, from, a == b)                \
  COMPARE(le_##suffix, from, a <= b)                \
  COMPARE(gt_##suffix, from, a > b)                 \
  COMPARE(lg_##suffix, from, a<b || a> b)           \
  COMPARE(ge_##suffix, from, a >= b)                \
  COMPARE(o_##suffix, from, !isnan(a) && !isnan(b)) \
  COMPARE(u_##suffix, from, isnan(a) || isnan(b))   \
  COMPARE(nge_##suffix, from, !(a >= b))            \
  COMPARE(nlg_##suffix, from, !(a < b || a > b))    \
  COMPARE(ngt_##suffix, from, !(a > b))             \
  COMPARE(nle_##suffix, from, !(a <= b))            \
  COMPARE(neq_##suffix, from, !(a == b))            \
  COMPARE(nlt_##suffix, from, !(a < b))

INTEGER(i32, I32)
INTEGER(u32, U32)
INTEGER(i64, I64)
INTEGER(u64, U64)
FLOAT(f32, F32)
FLOAT(f64, F64)

#define ROW(condition, suffix, shape, modifiers)                                          \
  {"v_cmp_" #condition "_" #suffix, condition##_##suffix, "=m" shape, .mods = modifiers}, \
      {"v_cmpx_" #condition "_" #suffix, condition##_##suffix, "=m" shape, .mods = modifiers, .parameter = 1}
#define INTEGER_ROWS(suffix, shape)                                                                           \
  ROW(lt, suffix, shape, 0), ROW(eq, suffix, shape, 0), ROW(le, suffix, shape, 0), ROW(gt, suffix, shape, 0), \
      ROW(ne, suffix, shape, 0), ROW(ge, suffix, shape, 0)
#define FLOAT_ROWS(suffix, shape)                                                                           \
  ROW(lt, suffix, shape, MOD_SRC), ROW(eq, suffix, shape, MOD_SRC), ROW(le, suffix, shape, MOD_SRC),        \
      ROW(gt, suffix, shape, MOD_SRC), ROW(lg, suffix, shape, MOD_SRC), ROW(ge, suffix, shape, MOD_SRC),    \
      ROW(o, suffix, shape, MOD_SRC), ROW(u, suffix, shape, MOD_SRC), ROW(nge, suffix, shape, MOD_SRC),     \
      ROW(nlg, suffix, shape, MOD_SRC), ROW(ngt, suffix, shape, MOD_SRC), ROW(nle, suffix, shape, MOD_SRC), \
      ROW(neq, suffix, shape, MOD_SRC), ROW(nlt, suffix, shape, MOD_SRC)

static const op ops[] = {
    INTEGER_ROWS(i32, "bb"), INTEGER_ROWS(u32, "bb"), INTEGER_ROWS(i64, "II"),
    INTEGER_ROWS(u64, "BB"), FLOAT_ROWS(f32, "ff"),   FLOAT_ROWS(f64, "dd"),
};
FAMILY(family_vcmp, "vcmp", CLASS_VALU, MOD_SDWA | MOD_SEXT, ops);
