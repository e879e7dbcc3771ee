/* How undefined bits go from sources to results. Source of the ideas: Seward and Nethercote, "Using Valgrind to detect
 * undefined value errors with bit-precision", USENIX 2005. */
#include "sim/machine/operand.h"
#include "uninitialised.h"

enum { SOURCES = 4, ROWS_MOST = 32 };

/* ---- Registers ---- */

static bool any_bit(const u64 *bits, u32 first, u32 count) {
  u32 word = first / 64, at = first % 64;
  u64 wanted = count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
  u64 found = bits[word] >> at & wanted;
  if (at + count > 64) found |= bits[word + 1] & wanted >> (64 - at);
  return found != 0;
}

static void set_bit(u64 *bits, u32 n, bool on) { bits[n / 64] = (bits[n / 64] & ~(UINT64_C(1) << n % 64)) | (u64)on << n % 64; }

bool uninit_dirty(const uninit_wave *d, const operand *o) {
  if (o->kind == OPERAND_VGPR) return any_bit(d->dirty, o->reg, o->count);
  if (o->kind == OPERAND_SGPR) return any_bit(d->dirty_scalar, o->reg, o->count);
  return o->kind == OPERAND_SCC && d->scc != 0;
}

/* Dirty bits of registers that were written lane by lane. */
static void note_rows(uninit_wave *d, u32 first, u32 count) {
  for (u32 r = first; r < first + count; r++) {
    u32 any = 0;
    for (int l = 0; l < LANES; l++) any |= d->v[r][l];
    set_bit(d->dirty, r, any != 0);
  }
}

void uninit_forget(wave *w, const operand *o) {
  static const u32 none[LANES];
  uninit_wave *d = w->uninit;
  for (u32 r = o->reg; o->kind == OPERAND_VGPR && r < o->reg + (u32)o->count; r++) write_row(d->v[r], none, get_exec(w));
  if (o->kind == OPERAND_VGPR) note_rows(d, o->reg, o->count);
  if (o->kind == OPERAND_SGPR) {
    memset(&d->s[o->reg], 0, o->count * sizeof *d->s);
    for (u32 r = o->reg; r < o->reg + (u32)o->count; r++) set_bit(d->dirty_scalar, r, false);
  }
}

u64 uninit_scalar_bits(const uninit_wave *d, const operand *o) {
  u64 pair;
  if (o->kind == OPERAND_SCC) return d->scc;
  if (o->kind != OPERAND_SGPR) return 0;
  if (o->count == 1) return d->s[o->reg];
  memcpy(&pair, &d->s[o->reg], sizeof pair);
  return pair;
}

void uninit_set_scalar(uninit_wave *d, const operand *o, u64 bits) {
  for (u32 r = 0; r < o->count && r < 2; r++) {
    d->s[o->reg + r] = (u32)(bits >> (32 * r));
    set_bit(d->dirty_scalar, o->reg + r, d->s[o->reg + r] != 0);
  }
}

/* ---- An instruction as it runs on undefined bits ---- */

static const u32 zeros[ROWS_MOST][LANES];

typedef struct on_bits {
  inst i;
  _Alignas(64) u32 rows[OPERANDS][2][LANES]; /* of its constants */
} on_bits;

/* The data of a scalar store. */
static bool stays_scalar(const operand *o) { return o->kind == OPERAND_SGPR && o->type == 'r'; }

/* Constants and scalars become constants of their undefined bits; signs, clamps and factors belong to values only. */
static void change(const wave *w, const inst *i, on_bits *to) {
  to->i = *i;
  to->i.clamp = 0;
  to->i.omod = 0;
  to->i.neg_lo = to->i.neg_hi = 0;
  for (int n = 0; n < i->operands; n++) {
    operand *o = &to->i.operand[n];
    o->neg = o->abs = false;
    if (o->write || o->control || o->kind == OPERAND_VGPR || o->kind == OPERAND_OFF || stays_scalar(o)) continue;
    o->value = uninit_scalar_bits(w->uninit, o);
    o->lanes = zeros[0];
    o->kind = OPERAND_CONST;
    if (o->value == 0) continue;
    for (int l = 0; l < LANES; l++) {
      to->rows[n][0][l] = (u32)o->value;
      to->rows[n][1][l] = (u32)(o->value >> 32);
    }
    o->lanes = to->rows[n][0];
  }
}

/* Between these two the wave's registers, LDS and scratch are the undefined bits. */
static void exchange(wave *w) {
  uninit_wave *d = w->uninit;
  group *g = w->group;
  u32(*v)[LANES] = w->v;
  u8 *scratch = w->scratch, *lds = g->lds;
  w->v = d->v;
  d->v = v;
  w->scratch = d->scratch;
  d->scratch = scratch;
  g->lds = g->uninit->lds;
  g->uninit->lds = lds;
  w->shadow = !w->shadow;
}

/* Addresses and selectors keep their values: their rows lie after the registers meanwhile. */
static void place_controls(wave *w, inst *changed) {
  uninit_wave *d = w->uninit;
  u32 at = w->group->launch->vgprs, end = at + SPARE_ROWS;
  for (int n = 0; n < changed->operands; n++) {
    operand *o = &changed->operand[n];
    if (!o->control || o->kind != OPERAND_VGPR || at + o->count > end) continue;
    memcpy(d->v[at], w->v[o->reg], o->count * sizeof *d->v);
    o->reg = (u16)at;
    at += o->count;
  }
}

/* Lanes whose result can't be known because a selector isn't. */
static u64 lost_lanes(const wave *w, const inst *i) {
  const uninit_wave *d = w->uninit;
  u64 lost = (i->op->implied & IMPLIED_SCC) != 0 && d->scc != 0 ? EXEC_ALL : 0;
  for (int n = 0; n < i->operands; n++) {
    const operand *o = &i->operand[n];
    if (!o->control || !uninit_dirty(d, o)) continue;
    if (o->type == 'm')
      lost |= uninit_scalar_bits(d, o);
    else if (o->kind == OPERAND_VGPR)
      for (int l = 0; l < LANES; l++) lost |= (u64)(d->v[o->reg][l] != 0) << l;
    else
      lost = EXEC_ALL;
  }
  return lost;
}

static void lose(wave *w, const inst *i, u64 lanes) {
  u32 all_ones[LANES];
  memset(all_ones, 0xff, sizeof all_ones);
  uninit_wave *d = w->uninit;
  for (int n = 0; n < i->operands && lanes != 0; n++) {
    const operand *o = &i->operand[n];
    if (!o->write) continue;
    if (o->kind == OPERAND_SGPR) uninit_set_scalar(d, o, o->type == 'm' ? lanes & get_exec(w) : ~UINT64_C(0));
    for (u32 r = 0; o->kind == OPERAND_VGPR && r < o->count; r++) write_row(d->v[o->reg + r], all_ones, lanes & get_exec(w));
  }
}

static void note_results(uninit_wave *d, const inst *i) {
  for (int n = 0; n < i->operands; n++)
    if (i->operand[n].write && i->operand[n].kind == OPERAND_VGPR) note_rows(d, i->operand[n].reg, i->operand[n].count);
}

void uninit_move(wave *w, const inst *i) {
  uninit_wave *d = w->uninit;
  on_bits changed;
  u32 s[SGPRS], scc = w->scc;
  u64 lost = i->op->flow == FLOW_MOVE ? lost_lanes(w, i) : 0, pc = w->pc;
  change(w, i, &changed);
  memcpy(s, w->s, sizeof s);
  for (int n = 0; n < i->operands; n++) { /* also what is changed in part */
    const operand *o = &i->operand[n];
    if (o->kind == OPERAND_SGPR && o->read && !o->control && (o->write || stays_scalar(o)))
      memcpy(&w->s[o->reg], &d->s[o->reg], o->count * sizeof *s);
  }
  place_controls(w, &changed.i);
  exchange(w);
  i->run(w, &changed.i);
  exchange(w);
  for (int n = 0; n < i->operands; n++) {
    const operand *o = &i->operand[n];
    if (!o->write || o->kind != OPERAND_SGPR) continue;
    for (u32 r = o->reg; r < o->reg + (u32)o->count; r++) {
      d->s[r] = w->s[r];
      set_bit(d->dirty_scalar, r, d->s[r] != 0);
    }
  }
  if ((i->op->implied & IMPLIED_SCC_RESULT) != 0) d->scc = w->scc | (lost != 0);
  memcpy(w->s, s, sizeof s);
  w->scc = scc;
  w->pc = pc;
  lose(w, i, lost);
  note_results(d, i);
}

/* ---- Bit by bit: a result's bit is undefined if both 0 and 1 are possible ---- */

/* The table's entry 4a + 2b + c, as in v_bitop3. */
static u64 table_bits(u8 table, const u64 value[3], const u64 bits[3]) {
  u64 can[2] = {0, 0};
  for (u32 entry = 0; entry < 8; entry++) {
    u64 possible = ~UINT64_C(0);
    for (u32 s = 0; s < 3; s++) {
      u64 equal = (entry >> (2 - s) & 1) != 0 ? value[s] : ~value[s];
      possible &= equal | bits[s];
    }
    can[table >> entry & 1] |= possible;
  }
  return can[0] & can[1];
}

static u8 table_of(const inst *i) { return (i->mods & MOD_BITOP3) != 0 ? i->bitop3 : i->op->table; }

/* ---- Scalars ---- */

static u64 width_mask(const operand *o) { return o->count > 1 ? ~UINT64_C(0) : UINT32_MAX; }

/* The saveexec forms: EXEC becomes table(source, EXEC), the result is what EXEC was, or for wrexec what it is. */
static void flow_exec(wave *w, const inst *i) {
  uninit_wave *d = w->uninit;
  const operand exec = {.kind = OPERAND_SGPR, .count = 2, .reg = S_EXEC};
  u64 value[3] = {scalar_source(w, &i->operand[1]), get_exec(w)}, bits[3] = {uninit_scalar_bits(d, &i->operand[1])};
  uninit_set_scalar(d, &i->operand[0], 0);
  uninit_set_scalar(d, &exec, table_bits(i->op->table, value, bits));
  d->scc = 0; /* once EXEC's undefined bits are reported it counts as defined */
}

void uninit_scalar(wave *w, const inst *i) {
  uninit_wave *d = w->uninit;
  if (i->op->flow == FLOW_MOVE) {
    uninit_move(w, i);
    return;
  }
  if (i->op->flow == FLOW_EXEC) {
    flow_exec(w, i);
    return;
  }
  u64 value[SOURCES] = {0}, bits[SOURCES] = {0}, all = (i->op->implied & IMPLIED_SCC) != 0 ? d->scc : 0;
  bool lost = false;
  int sources = 0;
  for (int n = 0; n < i->operands && sources < SOURCES; n++) {
    const operand *o = &i->operand[n];
    if (!o->read || o->type == 'i') continue;
    value[sources] = scalar_source(w, o);
    bits[sources] = uninit_scalar_bits(d, o);
    lost = lost || (o->control && bits[sources] != 0);
    all |= bits[sources++];
  }
  u64 result = all != 0 ? ~UINT64_C(0) : 0;
  if (!lost && i->op->flow == FLOW_BITWISE) result = table_bits(i->op->table, value, bits);
  if (!lost && i->op->flow == FLOW_CARRY) result = all | (0 - all);
  for (int n = 0; n < i->operands; n++)
    if (i->operand[n].write && i->operand[n].kind == OPERAND_SGPR)
      uninit_set_scalar(d, &i->operand[n], result & width_mask(&i->operand[n]));
  if ((i->op->implied & IMPLIED_SCC_RESULT) != 0) d->scc = result != 0;
}

/* ---- Vectors ---- */

typedef struct source_rows {
  u32 bits[2][LANES], value[2][LANES]; /* value: for FLOW_BITWISE */
  const operand *o;
} source_rows;

static bool is_half(u8 type) { return type == 'h' || type == 'k' || type == 'w'; }
static bool is_packed(u8 type) { return type == 'p' || type == 'q' || type == 'K' || type == 'F'; }

static bool is_data(const operand *o) { return o->read && !o->control; }

/* One row of 0 and ~0 per lane where registers are more than two, as of conversions of many elements. */
static void read_bits(wave *w, const inst *changed, int n, source_rows *s) {
  const operand *o = s->o = &changed->operand[n];
  memset(s->bits, 0, sizeof s->bits);
  if (o->type == 'm') {
    u64 lanes = scalar_source(w, o);
    for (int l = 0; l < LANES; l++) s->bits[0][l] = (u32)(lanes >> l & 1);
    return;
  }
  const u32 *rows = src(w, changed, n);
  for (int r = 0; r < o->count; r++)
    for (int l = 0; l < LANES; l++) s->bits[r % 2][l] |= rows[r * LANES + l];
  for (int l = 0; l < LANES && is_half(o->type); l++) s->bits[0][l] &= 0xffff;
}

/* The bits that result `p`, the low or the high one, gets from source n: of packed ones the half that op_sel, or op_sel_hi,
 * names; of a pair of registers register p; of two sources of other types, as of conversions, source p. */
static u32 packed_bits(const inst *i, const source_rows *s, int sources, int n, u32 p, int lane) {
  u8 from = s[n].o->type;
  u32 high = (i->mods & MOD_OP_SEL_HI) != 0 ? i->op_sel_hi : 0xff, part = (p == 0 ? i->op_sel : high) >> s[n].o->source & 1;
  bool pair = i->operand[0].type == 'F';
  if (from == 'F') return s[n].bits[pair ? part : p][lane];
  if (is_packed(from)) return s[n].bits[0][lane] >> (16 * part) & 0xffff;
  bool converts = sources == 2 && !is_packed(s[1 - n].o->type);
  return converts && (u32)n != p ? 0 : s[n].bits[0][lane] | s[n].bits[1][lane];
}

static void flow_packed(const inst *i, const source_rows *s, int sources, u32 result[2][LANES]) {
  bool pair = i->operand[0].type == 'F';
  for (int l = 0; l < LANES; l++) {
    u32 low = 0, high = 0;
    for (int n = 0; n < sources; n++) {
      low |= packed_bits(i, s, sources, n, 0, l);
      high |= packed_bits(i, s, sources, n, 1, l);
    }
    low = low != 0 ? ~0u : 0;
    high = high != 0 ? ~0u : 0;
    result[0][l] = pair ? low : (low & 0xffff) | high << 16;
    result[1][l] = pair ? high : 0;
  }
}

static void flow_table(const inst *i, const source_rows *s, int sources, u32 result[2][LANES]) {
  u8 table = table_of(i);
  for (int l = 0; l < LANES; l++) {
    u64 value[3] = {0}, bits[3] = {0};
    for (int n = 0; n < sources && n < 3; n++) {
      value[n] = s[n].value[0][l];
      bits[n] = s[n].bits[0][l];
    }
    result[0][l] = (u32)table_bits(table, value, bits);
  }
}

/* All of the result, or with FLOW_CARRY what lies above the lowest undefined bit. */
static void flow_union(const inst *i, const source_rows *s, int sources, u32 result[2][LANES]) {
  for (int l = 0; l < LANES; l++) {
    u64 all = 0;
    for (int n = 0; n < sources; n++) all |= s[n].bits[0][l] | (u64)s[n].bits[1][l] << 32;
    all &= i->op->matter != 0 ? i->op->matter : ~UINT64_C(0);
    if (i->op->flow == FLOW_CARRY)
      all |= 0 - all;
    else
      all = all != 0 ? ~UINT64_C(0) : 0;
    result[0][l] = (u32)all;
    result[1][l] = (u32)(all >> 32);
  }
}

static void write_bits(wave *w, const inst *changed, u32 result[2][LANES]) {
  uninit_wave *d = w->uninit;
  const operand *o = &changed->operand[0];
  for (int l = 0; l < LANES && is_half(o->type); l++) result[0][l] &= 0xffff;
  if (o->count > 2)
    for (u32 r = 0; r < o->count; r++) write_row(w->v[o->reg + r], result[0], get_exec(w));
  else if (o->kind == OPERAND_VGPR && changed->plain_dst)
    for (u32 r = 0; r < o->count; r++) write_row(w->v[o->reg + r], result[r], get_exec(w));
  else if (o->kind == OPERAND_VGPR)
    wave_result(w, changed, 0, result[0]);
  u64 lanes = 0;
  for (int l = 0; l < LANES; l++) lanes |= (u64)((result[0][l] | result[1][l]) != 0) << l;
  for (int n = 0; n < changed->operands; n++)
    if (changed->operand[n].write && changed->operand[n].kind == OPERAND_SGPR)
      uninit_set_scalar(d, &changed->operand[n], lanes & get_exec(w));
  if ((changed->op->implied & IMPLIED_EXEC_RESULT) != 0)
    uninit_set_scalar(d, &(operand){.kind = OPERAND_SGPR, .count = 2, .reg = S_EXEC}, lanes & get_exec(w));
}

void uninit_vector(wave *w, const inst *i) {
  if (i->op->flow == FLOW_MOVE) {
    uninit_move(w, i);
    return;
  }
  source_rows s[SOURCES + 1];
  on_bits changed;
  int sources = 0;
  u32 result[2][LANES] = {0};
  change(w, i, &changed);
  for (int n = 0; n < i->operands && sources < SOURCES; n++)
    if (is_data(&i->operand[n]) && i->op->flow == FLOW_BITWISE) memcpy(s[sources++].value, src(w, i, n), sizeof s->value[0]);
  sources = 0;
  u64 lost = lost_lanes(w, i);
  exchange(w);
  for (int n = 0; n < i->operands && sources < SOURCES; n++)
    if (is_data(&i->operand[n])) read_bits(w, &changed.i, n, &s[sources++]);
  if ((i->op->implied & IMPLIED_VCC) != 0) lost |= (u64)w->uninit->s[S_VCC] | (u64)w->uninit->s[S_VCC + 1] << 32;
  if (is_packed(i->operand[0].type))
    flow_packed(i, s, sources, result);
  else if (i->op->flow == FLOW_BITWISE)
    flow_table(i, s, sources, result);
  else
    flow_union(i, s, sources, result);
  for (int l = 0; l < LANES && lost != 0; l++)
    if ((lost >> l & 1) != 0) result[0][l] = result[1][l] = UINT32_MAX;
  write_bits(w, &changed.i, result);
  exchange(w);
  note_results(w->uninit, i);
}

/* Every element of D depends on a row of A and a column of B. Sparse forms add to D itself. */
void uninit_matrix(wave *w, const inst *i) {
  uninit_wave *d = w->uninit;
  const operand *to = &i->operand[0], *c = to->read ? to : &i->operand[3];
  bool all = false;
  for (int n = 1; n < i->operands; n++) all = all || (&i->operand[n] != c && uninit_dirty(d, &i->operand[n]));
  for (u32 r = 0; r < to->count; r++)
    for (int l = 0; l < LANES; l++) {
      u32 bits = c->kind == OPERAND_VGPR ? d->v[c->reg + r][l] : 0;
      d->v[to->reg + r][l] = all || bits != 0 ? UINT32_MAX : 0;
    }
  note_rows(d, to->reg, to->count);
}
