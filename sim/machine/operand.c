/* Sources and results that are more than a row of a register. */
#include "operand.h"

#include "mode.h"
#include "sim/base/float_bits.h"

u64 scalar_source(const wave *w, const operand *o) {
  switch (o->kind) {
    case OPERAND_SGPR: return o->count == 1 ? w->s[o->reg] : get_pair(w, o->reg);
    case OPERAND_CONST: return o->value;
    case OPERAND_SCC: return w->scc;
    case OPERAND_VCCZ: return get_vcc(w) == 0;
    case OPERAND_EXECZ: return get_exec(w) == 0;
    default: return 0; /* off */
  }
}

/* ---- DPP ---- */

/* The lane that lane l reads, or -1. Source: CDNA 4 ISA, table 94, "DPP_CTRL Enumeration"; 0x150 is LLVM's row_newbcast. */
static int dpp_lane(u16 ctrl, int l) {
  int row = l & ~15, in = l & 15, n = ctrl & 15;
  if (ctrl < 0x100) return (l & ~3) | (ctrl >> (2 * (l & 3)) & 3);
  switch (ctrl & ~15) {
    case 0x100: return in + n < 16 ? l + n : -1;
    case 0x110: return in >= n ? l - n : -1;
    case 0x120: return row | ((in - n) & 15);
    case 0x150: return row | n;
    default: break;
  }
  switch (ctrl) {
    case 0x130: return l < 63 ? l + 1 : -1;
    case 0x134: return (l + 1) & 63;
    case 0x138: return l - 1;
    case 0x13c: return (l - 1) & 63;
    case 0x140: return row | (15 - in);
    case 0x141: return (l & ~7) | (7 - (l & 7));
    case 0x142: return l >= 16 ? row - 1 : -1;
    default: return l >= 32 ? 31 : -1; /* 0x143 */
  }
}

/* A lane whose source lies outside, or is disabled, reads 0 with bound_ctrl and is not written without it. */
static void apply_dpp(wave *w, const inst *i, const u32 *from, u32 *to, int rows) {
  u64 exec = get_exec(w), mask = 0;
  for (int l = 0; l < LANES; l++) {
    int lane = dpp_lane(i->dpp_ctrl, l);
    bool valid = lane >= 0 && (exec >> lane & 1) != 0;
    for (int r = 0; r < rows; r++) to[r * LANES + l] = valid ? from[r * LANES + lane] : 0;
    bool selected = (i->row_mask >> (l / 16) & 1) != 0 && (i->bank_mask >> (l / 4 & 3) & 1) != 0;
    mask |= (u64)(selected && (valid || i->bound_ctrl)) << l;
  }
  w->dpp_mask = mask;
}

/* ---- Sources ---- */

static u32 select_part(u32 value, u8 select, bool sext) {
  if (select == SEL_DWORD) return value;
  bool word = select >= SEL_WORD_0;
  u32 part = word ? value >> (16 * (select - SEL_WORD_0)) : value >> (8 * select);
  if (word) return sext ? (u32)(i16)part : part & 0xffff;
  return sext ? (u32)(i8)part : part & 0xff;
}

static void apply_signs(const operand *o, u32 *rows) {
  u32 *row = strchr("dB", o->type) != NULL ? rows + LANES : rows;
  u32 sign = strchr("hkw", o->type) != NULL ? 0x8000 : 0x80000000;
  u32 keep = o->abs ? ~sign : ~0u, flip = o->neg ? sign : 0;
  for (int l = 0; l < LANES; l++) row[l] = (row[l] & keep) ^ flip;
}

const u32 *wave_row(wave *w, const inst *i, int n) {
  const operand *o = &i->operand[n];
  if (o->kind == OPERAND_CONST) return o->lanes;
  if (o->kind == OPERAND_VGPR) return w->v[o->reg];
  u32 *rows = w->source[n][0];
  u64 value = scalar_source(w, o);
  for (int l = 0; l < LANES; l++) rows[l] = (u32)value;
  for (int l = 0; l < LANES && o->count > 1; l++) rows[LANES + l] = (u32)(value >> 32);
  return rows;
}

const u32 *wave_source(wave *w, const inst *i, int n) {
  const operand *o = &i->operand[n];
  u32 *rows = w->source[n][0];
  const u32 *from = wave_row(w, i, n);
  int count = o->count > 1 ? 2 : 1;
  bool half = (i->mods & MOD_OP_SEL) != 0 && (i->op_sel >> o->source & 1) != 0 && strchr("hwk", o->type) != NULL;
  bool part = (i->mods & MOD_SDWA) != 0 && o->source < 2, moved = (i->mods & MOD_DPP) != 0 && o->source == 0;
  bool flushed = i->in_mode && mode_flushes(w, o->type, true);
  if (!half && !part && !moved && !flushed && !o->neg && !o->abs) return from;
  if (moved)
    apply_dpp(w, i, from, rows, count);
  else if (from != rows)
    memcpy(rows, from, (size_t)count * LANES * sizeof *rows);
  for (int l = 0; l < LANES && part; l++) rows[l] = select_part(rows[l], i->src_sel[o->source], o->sext);
  for (int l = 0; l < LANES && half; l++) rows[l] >>= 16;
  if (flushed) mode_flush(o->type, rows);
  if (o->neg || o->abs) apply_signs(o, rows);
  return rows;
}

/* ---- Results ---- */

/* To 0..1; NaN to 0, unless MODE's DX10_CLAMP is off. */
static u32 clamp_f32(u32 bits, bool nan_stays) {
  float value = as_f32(bits);
  return nan_stays && isnan(value) ? bits : bits_f32(value > 0 ? (value < 1 ? value : 1) : 0);
}
static u32 clamp_f16(u32 bits, bool nan_stays) {
  if (nan_stays && (bits & 0x7fff) > 0x7c00) return bits;
  return bits >= 0x8000 || bits > 0x7c00 ? 0 : bits > 0x3c00 ? 0x3c00 : bits;
}
static void clamp_f64(u32 *rows, bool nan_stays) {
  for (int l = 0; l < LANES; l++) {
    double value = as_f64(lane_u64(rows, l));
    if (nan_stays && isnan(value)) continue;
    u64 bits = bits_f64(value > 0 ? (value < 1 ? value : 1) : 0);
    rows[l] = (u32)bits;
    rows[LANES + l] = (u32)(bits >> 32);
  }
}

/* Only floats: integers are clamped by their functions, which see what overflowed. */
static void clamp_rows(const wave *w, const operand *o, u32 *rows) {
  bool stays = (w->mode & MODE_DX10_CLAMP) == 0;
  if (o->type == 'd') clamp_f64(rows, stays);
  for (int l = 0; l < LANES * o->count; l++) {
    if (o->type == 'f' || o->type == 'F') rows[l] = clamp_f32(rows[l], stays);
    if (o->type == 'h') rows[l] = clamp_f16(rows[l] & 0xffff, stays);
    if (o->type == 'p') rows[l] = clamp_f16(rows[l] & 0xffff, stays) | clamp_f16(rows[l] >> 16, stays) << 16;
  }
}

static u32 place_part(u32 old, u32 value, const inst *i) {
  if (i->dst_sel == SEL_DWORD) return value;
  bool word = i->dst_sel >= SEL_WORD_0;
  int shift = word ? 16 * (i->dst_sel - SEL_WORD_0) : 8 * i->dst_sel;
  u32 mask = (word ? 0xffffu : 0xffu) << shift;
  u32 placed = value << shift & mask;
  if (i->dst_unused == UNUSED_PRESERVE) return (old & ~mask) | placed;
  if (i->dst_unused == UNUSED_SEXT) { /* the part's sign above it, zeros below */
    u32 above = ~(mask | (mask - 1));
    return placed | ((placed & (mask ^ mask >> 1) & mask) != 0 ? above : 0);
  }
  return placed;
}

static void place_half(const inst *i, const u32 *old, u32 *row) {
  if (i->op->half == HALF_CLEARS) return;
  int sources = i->operands - 1; /* op_sel's bit after the sources' is the destination's */
  bool high = i->op->half == HALF_HIGH || (i->op_sel >> sources & 1) != 0;
  for (int l = 0; l < LANES; l++) row[l] = high ? (old[l] & 0xffff) | row[l] << 16 : (old[l] & 0xffff0000) | (row[l] & 0xffff);
}

void wave_result(wave *w, const inst *i, int n, const u32 *rows) {
  const operand *o = &i->operand[n];
  u32 changed[2][LANES];
  memcpy(changed, rows, (o->count > 1 ? 2 : 1) * sizeof *changed);
  u64 mask = get_exec(w);
  if ((i->mods & MOD_DPP) != 0) mask &= w->dpp_mask;
  if (i->in_mode) mode_result(w, i, o, changed[0]);
  if (i->clamp) clamp_rows(w, o, changed[0]);
  const u32 *old = w->v[o->reg];
  place_half(i, old, changed[0]);
  for (int l = 0; l < LANES && (i->mods & MOD_SDWA) != 0; l++) changed[0][l] = place_part(old[l], changed[0][l], i);
  write_row(w->v[o->reg], changed[0], mask);
  if (o->count > 1) write_row(w->v[o->reg + 1], changed[1], mask);
}

void operand_accumulator(wave *w, const inst *i) {
  const operand *c = &i->operand[3], *d = &i->operand[0];
  u32(*to)[LANES] = &w->v[d->reg];
  if (i->op->shape[0] != '=') return;
  if (c->kind == OPERAND_VGPR) {
    if (c->reg != d->reg) memmove(to, w->v[c->reg], d->count * sizeof *to);
  } else {
    for (int r = 0; r < d->count; r++) memcpy(to[r], c->lanes + (c->count == 2 ? r % 2 : 0) * LANES, sizeof *to);
  }
}
