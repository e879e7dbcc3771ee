/* What the families' functions are written with: their table, and the loops over lanes. */
#ifndef GFXSIM_OPS_H
#define GFXSIM_OPS_H
#include "sim/base/float_bits.h"
#include "sim/machine/operand.h"

#define FAMILY_NAME(name) extern const family family_##name;
#include "families.def"
#undef FAMILY_NAME

/* The first line refuses a family that families.def lacks: the decoder would never find its rows. */
#define FAMILY(symbol, text, which, modifiers, rows)           \
  _Static_assert(sizeof symbol > 0, "is in families.def");     \
  static op_link symbol##_links[sizeof rows / sizeof rows[0]]; \
  const family symbol = {.name = text,                         \
                         .class = which,                       \
                         .mods = modifiers,                    \
                         .ops = rows,                          \
                         .links = symbol##_links,              \
                         .count = sizeof rows / sizeof rows[0]}

/* ---- Lane loops: `a`, `b`, `c` are the sources 1, 2, 3, `r` the result's expression ---- */

#define V_UNARY(symbol, from, to, r)           \
  static void symbol(wave *w, const inst *i) { \
    const u32 *pa = src(w, i, 1);              \
    u32 row[LANES];                            \
    for (int l = 0; l < LANES; l++) {          \
      __typeof__(from(pa[l])) a = from(pa[l]); \
      row[l] = to(r);                          \
    }                                          \
    put(w, i, row);                            \
  }
#define V_BINARY(symbol, from, to, r)                 \
  static void symbol(wave *w, const inst *i) {        \
    const u32 *pa = src(w, i, 1), *pb = src(w, i, 2); \
    u32 row[LANES];                                   \
    for (int l = 0; l < LANES; l++) {                 \
      __typeof__(from(pa[l])) a = from(pa[l]);        \
      __typeof__(from(pb[l])) b = from(pb[l]);        \
      row[l] = to(r);                                 \
    }                                                 \
    put(w, i, row);                                   \
  }
#define V_TERNARY(symbol, from, to, r)                                    \
  static void symbol(wave *w, const inst *i) {                            \
    const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pc = src(w, i, 3); \
    u32 row[LANES];                                                       \
    for (int l = 0; l < LANES; l++) {                                     \
      __typeof__(from(pa[l])) a = from(pa[l]);                            \
      __typeof__(from(pb[l])) b = from(pb[l]);                            \
      __typeof__(from(pc[l])) c = from(pc[l]);                            \
      row[l] = to(r);                                                     \
    }                                                                     \
    put(w, i, row);                                                       \
  }
/* The same over 64-bit operands: pairs of rows. */
#define V_BINARY64(symbol, from, to, r)                            \
  static void symbol(wave *w, const inst *i) {                     \
    const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);              \
    u32 rows[2][LANES];                                            \
    for (int l = 0; l < LANES; l++) {                              \
      __typeof__(from(lane_u64(pa, l))) a = from(lane_u64(pa, l)); \
      __typeof__(from(lane_u64(pb, l))) b = from(lane_u64(pb, l)); \
      u64 bits = to(r);                                            \
      rows[0][l] = (u32)bits;                                      \
      rows[1][l] = (u32)(bits >> 32);                              \
    }                                                              \
    put64(w, i, rows);                                             \
  }

#endif
