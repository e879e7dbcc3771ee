/* What the families' functions are written with: reading sources, writing results, and the loops over lanes. */
#ifndef GFXSIM_OPS_H
#define GFXSIM_OPS_H
#include <math.h>

#include "sim/machine/wave.h"

#define FAMILY_NAME(name) extern const family family_##name;
#include "sim/isa/families.def"
#undef FAMILY_NAME

#define FAMILY(symbol, text, which, modifiers, rows)           \
  static op_link symbol##_links[sizeof rows / sizeof rows[0]]; \
  const family symbol = {.name = text,                         \
                         .class = which,                       \
                         .mods = modifiers,                    \
                         .ops = rows,                          \
                         .links = symbol##_links,              \
                         .count = sizeof rows / sizeof rows[0]}

/* ---- Bits ---- */

static inline float as_f32(u32 bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline u32 bits_f32(float value) {
  u32 bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline double as_f64(u64 bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline u64 bits_f64(double value) {
  u64 bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Without a branch, so that loops of it vectorise. */
static inline u32 choose(bool condition, u32 yes, u32 no) { return no ^ ((yes ^ no) & -(u32)condition); }

/* ---- Scalar operands ---- */

/* Any kind but a VGPR. */
u64 scalar_source(const wave *w, const operand *o);

static inline u32 s32(const wave *w, const inst *i, int n) {
  const operand *o = &i->operand[n];
  return o->kind == OPERAND_SGPR ? w->s[o->reg] : (u32)scalar_source(w, o);
}
static inline u64 s64(const wave *w, const inst *i, int n) {
  const operand *o = &i->operand[n];
  return o->kind == OPERAND_SGPR ? get_pair(w, o->reg) : scalar_source(w, o);
}
static inline void set32(wave *w, const inst *i, int n, u32 value) { w->s[i->operand[n].reg] = value; }
static inline void set64(wave *w, const inst *i, int n, u64 value) { set_pair(w, i->operand[n].reg, value); }

/* ---- Vector operands: rows of 64 lanes, one per dword ---- */

/* The source as the registers or the constant have it, without modifiers (a constant has them already). */
const u32 *wave_row(wave *w, const inst *i, int n);
/* Applies neg, abs, DPP, SDWA and op_sel, or spreads a scalar; the rows live until the next source of the same number. */
const u32 *wave_source(wave *w, const inst *i, int n);
/* Applies clamp, SDWA, op_sel and the DPP masks to the result of operand n (rows of 64 lanes), and writes it. */
void wave_result(wave *w, const inst *i, int n, const u32 *rows);

static inline const u32 *src(wave *w, const inst *i, int n) {
  const operand *o = &i->operand[n];
  return o->plain ? w->v[o->reg] : wave_source(w, i, n);
}
static inline u64 lane_u64(const u32 *rows, int lane) { return rows[lane] | (u64)rows[LANES + lane] << 32; }

static inline void write_row(u32 *row, const u32 *value, u64 mask) {
  if (mask == EXEC_ALL)
    memcpy(row, value, LANES * sizeof *row);
  else
    for (int l = 0; l < LANES; l++) row[l] = (mask >> l & 1) != 0 ? value[l] : row[l];
}
static inline void put(wave *w, const inst *i, const u32 *row) {
  if (i->plain_dst)
    write_row(w->v[i->operand[0].reg], row, get_exec(w));
  else
    wave_result(w, i, 0, row);
}
static inline void put64(wave *w, const inst *i, u32 rows[2][LANES]) {
  if (i->plain_dst) {
    write_row(w->v[i->operand[0].reg], rows[0], get_exec(w));
    write_row(w->v[i->operand[0].reg + 1], rows[1], get_exec(w));
  } else {
    wave_result(w, i, 0, rows[0]);
  }
}
/* A lane mask result: lanes outside of EXEC get 0 (CDNA 4 ISA 3.9). */
static inline void put_mask(wave *w, const inst *i, int n, u64 mask) { set64(w, i, n, mask & get_exec(w)); }

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

/* ---- Floats: a NaN that an operation makes is 0x7fc00000; one that comes in is passed on quietly (IEEE mode) ---- */

static inline float nan2(float r, float a, float b) { return (isnan(r) & !isnan(a) & !isnan(b)) ? as_f32(0x7fc00000) : r; }
static inline float nan3(float r, float a, float b, float c) {
  return (isnan(r) & !isnan(a) & !isnan(b) & !isnan(c)) ? as_f32(0x7fc00000) : r;
}

#endif
