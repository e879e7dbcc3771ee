/* How instructions read their sources and write their results. */
#ifndef GFXSIM_OPERAND_H
#define GFXSIM_OPERAND_H
#include "wave.h"

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
/* Matrix instructions: copies C to the registers of D, a constant C to all of them. Sparse ones have C in D. */
void operand_accumulator(wave *w, const inst *i);

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

#endif
