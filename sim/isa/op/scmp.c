/* Scalar comparisons: SOPC and the comparisons of SOPK. They write SCC only. Source: CDNA 4 ISA 12.2, 12.4. */
#include "ops.h"

#define S_COMPARE(name, type, is) \
  static void name(wave *w, const inst *i) { w->scc = (type)s32(w, i, 0) is(type) s32(w, i, 1); }
#define S_COMPAREK(name, type, constant, is) \
  static void name(wave *w, const inst *i) { w->scc = (type)s32(w, i, 0) is(type)(constant) i->simm16; }

S_COMPARE(eq, u32, ==)
S_COMPARE(lg, u32, !=)
S_COMPARE(gt_i32, i32, >)
S_COMPARE(ge_i32, i32, >=)
S_COMPARE(lt_i32, i32, <)
S_COMPARE(le_i32, i32, <=)
S_COMPARE(gt_u32, u32, >)
S_COMPARE(ge_u32, u32, >=)
S_COMPARE(lt_u32, u32, <)
S_COMPARE(le_u32, u32, <=)
S_COMPAREK(eqk_i32, i32, i16, ==)
S_COMPAREK(lgk_i32, i32, i16, !=)
S_COMPAREK(gtk_i32, i32, i16, >)
S_COMPAREK(gek_i32, i32, i16, >=)
S_COMPAREK(ltk_i32, i32, i16, <)
S_COMPAREK(lek_i32, i32, i16, <=)
S_COMPAREK(eqk_u32, u32, u16, ==)
S_COMPAREK(lgk_u32, u32, u16, !=)
S_COMPAREK(gtk_u32, u32, u16, >)
S_COMPAREK(gek_u32, u32, u16, >=)
S_COMPAREK(ltk_u32, u32, u16, <)
S_COMPAREK(lek_u32, u32, u16, <=)

static void eq_u64(wave *w, const inst *i) { w->scc = s64(w, i, 0) == s64(w, i, 1); }
static void lg_u64(wave *w, const inst *i) { w->scc = s64(w, i, 0) != s64(w, i, 1); }
static void bitcmp(wave *w, const inst *i) { w->scc = (s32(w, i, 0) >> (s32(w, i, 1) & 31) & 1) == (u32)i->op->parameter; }
static void bitcmp64(wave *w, const inst *i) { w->scc = (s64(w, i, 0) >> (s32(w, i, 1) & 63) & 1) == (u64)i->op->parameter; }

static const op ops[] = {
    {"s_cmp_eq_i32", eq, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_lg_i32", lg, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_gt_i32", gt_i32, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_ge_i32", ge_i32, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_lt_i32", lt_i32, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_le_i32", le_i32, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_eq_u32", eq, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_lg_u32", lg, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_gt_u32", gt_u32, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_ge_u32", ge_u32, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_lt_u32", lt_u32, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_le_u32", le_u32, "bb", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_eq_u64", eq_u64, "BB", .implied = IMPLIED_SCC_RESULT},
    {"s_cmp_lg_u64", lg_u64, "BB", .implied = IMPLIED_SCC_RESULT},
    {"s_bitcmp0_b32", bitcmp, "bb", .parameter = 0, .implied = IMPLIED_SCC_RESULT},
    {"s_bitcmp1_b32", bitcmp, "bb", .parameter = 1, .implied = IMPLIED_SCC_RESULT},
    {"s_bitcmp0_b64", bitcmp64, "Bb", .parameter = 0, .implied = IMPLIED_SCC_RESULT},
    {"s_bitcmp1_b64", bitcmp64, "Bb", .parameter = 1, .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_eq_i32", eqk_i32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_lg_i32", lgk_i32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_gt_i32", gtk_i32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_ge_i32", gek_i32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_lt_i32", ltk_i32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_le_i32", lek_i32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_eq_u32", eqk_u32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_lg_u32", lgk_u32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_gt_u32", gtk_u32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_ge_u32", gek_u32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_lt_u32", ltk_u32, "bi", .implied = IMPLIED_SCC_RESULT},
    {"s_cmpk_le_u32", lek_u32, "bi", .implied = IMPLIED_SCC_RESULT},
};
FAMILY(family_scmp, "scmp", CLASS_SALU, 0, ops);
