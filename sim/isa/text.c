/* Source: LLVM's AMDGPU operand and modifier syntax (AMDGPUOperandSyntax, AMDGPUModifierSyntax). */
#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct cursor {
  const char *at, *end;
} cursor;

static bool take(cursor *c, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

static bool take_int(cursor *c, i64 *value) {
  char *end;
  if (c->at == c->end || !(isdigit((unsigned char)*c->at) || *c->at == '-')) return false;
  bool negative = *c->at == '-';
  unsigned long long number = strtoull(c->at + negative, &end, 0);
  if (end == c->at + negative || end > c->end) return false;
  *value = negative ? -(i64)number : (i64)number;
  c->at = end;
  return true;
}

const char *text_mnemonic(const char *text, text_line *line) {
  static const struct {
    const char *suffix;
    bool dpp, sdwa;
  } suffixes[] = {
      {"_e64_dpp", true, false}, {"_e32", false, false}, {"_e64", false, false}, {"_dpp", true, false}, {"_sdwa", false, true}};
  while (*text == ' ' || *text == '\t') text++;
  size_t length = strcspn(text, " \t\n");
  if (length == 0 || length >= sizeof line->mnemonic) return NULL;
  memcpy(line->mnemonic, text, length);
  line->mnemonic[length] = '\0';
  line->dpp = line->sdwa = false;
  for (size_t s = 0; s < sizeof suffixes / sizeof suffixes[0]; s++) {
    size_t tail = strlen(suffixes[s].suffix);
    if (length <= tail || strcmp(line->mnemonic + length - tail, suffixes[s].suffix) != 0) continue;
    line->mnemonic[length - tail] = '\0';
    line->dpp = suffixes[s].dpp;
    line->sdwa = suffixes[s].sdwa;
    break;
  }
  return text + length;
}

/* ---- Operands ---- */

static const struct {
  const char *name;
  u8 kind, reg, count;
} specials[] = {
    {"vcc_lo", OPERAND_SGPR, S_VCC, 1},
    {"vcc_hi", OPERAND_SGPR, S_VCC + 1, 1},
    {"vcc", OPERAND_SGPR, S_VCC, 2},
    {"exec_lo", OPERAND_SGPR, S_EXEC, 1},
    {"exec_hi", OPERAND_SGPR, S_EXEC + 1, 1},
    {"exec", OPERAND_SGPR, S_EXEC, 2},
    {"m0", OPERAND_SGPR, S_M0, 1},
    {"flat_scratch_lo", OPERAND_SGPR, S_FLAT_SCRATCH, 1},
    {"flat_scratch_hi", OPERAND_SGPR, S_FLAT_SCRATCH + 1, 1},
    {"flat_scratch", OPERAND_SGPR, S_FLAT_SCRATCH, 2},
    {"xnack_mask_lo", OPERAND_SGPR, S_XNACK, 1},
    {"xnack_mask_hi", OPERAND_SGPR, S_XNACK + 1, 1},
    {"xnack_mask", OPERAND_SGPR, S_XNACK, 2},
    {"src_scc", OPERAND_SCC, 0, 1},
    {"scc", OPERAND_SCC, 0, 1},
    {"src_vccz", OPERAND_VCCZ, 0, 1},
    {"src_execz", OPERAND_EXECZ, 0, 1},
    {"off", OPERAND_OFF, 0, 0},
    {"null", OPERAND_OFF, 0, 0},
};

/* 64-bit base of an aperture, or the 64-bit address of its last byte. Ours: hardware takes them from the queue. The upper half
 * of a flat address tells the apertures apart, so the lower half of every base is 0. */
static const struct {
  const char *name;
  u64 value;
} apertures[] = {
    {"src_shared_base", UINT64_C(0x1000000000000)},
    {"src_shared_limit", UINT64_C(0x10000ffffffff)},
    {"src_private_base", UINT64_C(0x2000000000000)},
    {"src_private_limit", UINT64_C(0x20000ffffffff)},
};

/* s3, v[2:5], a0 */
static bool parse_register(cursor c, text_operand *t) {
  char file = *c.at;
  if (file != 's' && file != 'v' && file != 'a') return false;
  c.at++;
  i64 first, last;
  if (take(&c, "[")) {
    if (!take_int(&c, &first) || !take(&c, ":") || !take_int(&c, &last) || !take(&c, "]")) return false;
  } else {
    if (!take_int(&c, &first)) return false;
    last = first;
  }
  if (c.at != c.end || first < 0 || last < first || last > 255 || last - first > 31) return false;
  t->o.kind = file == 's' ? OPERAND_SGPR : OPERAND_VGPR;
  t->o.agpr = file == 'a';
  t->o.reg = (u16)first;
  t->o.count = (u8)(last - first + 1);
  return true;
}

static bool parse_number(cursor c, text_operand *t) {
  if (!isdigit((unsigned char)*c.at) && *c.at != '-') return false;
  t->o.kind = OPERAND_CONST;
  t->number = true;
  cursor whole = c;
  i64 value;
  if (take_int(&whole, &value) && whole.at == whole.end) {
    t->o.value = (u64)value;
    return true;
  }
  char *end;
  double real = strtod(c.at, &end);
  if (end != c.end) return false;
  t->decimal = true;
  memcpy(&t->o.value, &real, sizeof real);
  return true;
}

static bool parse_special(cursor c, text_operand *t) {
  size_t length = (size_t)(c.end - c.at);
  for (size_t s = 0; s < sizeof specials / sizeof specials[0]; s++) {
    if (strlen(specials[s].name) != length || memcmp(specials[s].name, c.at, length) != 0) continue;
    t->o.kind = specials[s].kind;
    t->o.reg = specials[s].reg;
    t->o.count = specials[s].count;
    return true;
  }
  for (size_t a = 0; a < sizeof apertures / sizeof apertures[0]; a++) {
    if (strlen(apertures[a].name) != length || memcmp(apertures[a].name, c.at, length) != 0) continue;
    t->o.kind = OPERAND_CONST;
    t->o.value = apertures[a].value;
    return true;
  }
  return false;
}

static bool parse_operand(cursor c, text_operand *t) {
  *t = (text_operand){.at = c.at, .length = (int)(c.end - c.at)};
  if (c.at == c.end) return false;
  if (memchr(c.at, '(', (size_t)(c.end - c.at)) != NULL && c.end[-1] == ')') {
    if (take(&c, "sext(")) {
      t->o.sext = true;
      c.end--;
    } else if (take(&c, "neg(")) {
      t->o.neg = true;
      c.end--;
    } else if (take(&c, "lit(")) {
      t->literal = true;
      c.end--;
    } else {
      t->o.kind = OPERAND_TEXT;
      return true;
    }
  }
  if (c.end - c.at > 1 && *c.at == '-' && !isdigit((unsigned char)c.at[1])) {
    t->o.neg = true;
    c.at++;
  }
  if (c.end - c.at > 2 && *c.at == '|' && c.end[-1] == '|') {
    t->o.abs = true;
    c.at++;
    c.end--;
  }
  return parse_register(c, t) || parse_number(c, t) || parse_special(c, t);
}

/* ---- Modifiers ---- */

static bool take_list(cursor *c, i64 values[8], int *count) {
  *count = 0;
  if (!take(c, "[")) return false;
  do {
    if (*count == 8 || !take_int(c, &values[(*count)++])) return false;
  } while (take(c, ","));
  return take(c, "]");
}

static bool take_bits(cursor *c, u8 *bits) {
  i64 values[8];
  int count;
  if (!take_list(c, values, &count)) return false;
  *bits = 0;
  for (int b = 0; b < count; b++) {
    if (values[b] < 0 || values[b] > 1) return false;
    *bits |= (u8)(values[b] << b);
  }
  return true;
}

static bool take_select(cursor *c, u8 *select) {
  static const char *const names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  for (u8 s = 0; s <= SEL_DWORD; s++)
    if (take(c, names[s])) {
      *select = s;
      return true;
    }
  return false;
}

static bool take_u8(cursor *c, u8 *value) {
  i64 number;
  if (!take_int(c, &number) || number < 0 || number > 255) return false;
  *value = (u8)number;
  return true;
}

/* Numbers of DPP_CTRL: CDNA 4 ISA, table 94. */
static bool take_dpp(cursor *c, inst *i) {
  static const struct {
    const char *name;
    u16 base, most; /* most: the largest number after the name; 0: none */
  } controls[] = {
      {"row_shl:", 0x100, 15},       {"row_shr:", 0x110, 15},    {"row_ror:", 0x120, 15},    {"wave_shl:1", 0x130, 0},
      {"wave_rol:1", 0x134, 0},      {"wave_shr:1", 0x138, 0},   {"wave_ror:1", 0x13c, 0},   {"row_mirror", 0x140, 0},
      {"row_half_mirror", 0x141, 0}, {"row_bcast:15", 0x142, 0}, {"row_bcast:31", 0x143, 0}, {"row_newbcast:", 0x150, 15},
  };
  if (take(c, "quad_perm:")) {
    i64 lane[8];
    int count;
    if (!take_list(c, lane, &count) || count != 4) return false;
    i->dpp_ctrl = 0;
    for (int l = 0; l < 4; l++) {
      if (lane[l] < 0 || lane[l] > 3) return false;
      i->dpp_ctrl |= (u16)(lane[l] << (2 * l));
    }
    return true;
  }
  for (size_t d = 0; d < sizeof controls / sizeof controls[0]; d++) {
    if (!take(c, controls[d].name)) continue;
    i64 number = 0;
    if (controls[d].most != 0 && (!take_int(c, &number) || number < 0 || number > controls[d].most)) return false;
    i->dpp_ctrl = (u16)(controls[d].base + number);
    return true;
  }
  return false;
}

static bool take_offset(cursor *c, inst *i) {
  i64 number;
  if (take(c, "offset0:")) {
    i->mods |= MOD_OFFSET01;
    return take_u8(c, &i->offset0);
  }
  if (take(c, "offset1:")) {
    i->mods |= MOD_OFFSET01;
    return take_u8(c, &i->offset1);
  }
  if (take(c, "offset:swizzle(")) { /* the same bits lie in the first word (CDNA 4 ISA 13.4.1) */
    const char *close = memchr(c->at, ')', (size_t)(c->end - c->at));
    if (close == NULL) return false;
    c->at = close + 1;
    i->mods |= MOD_SWIZZLE;
    i->offset = (i32)(i->word[0] & 0xffff);
    return true;
  }
  if (!take(c, "offset:") || !take_int(c, &number) || number < INT32_MIN || number > INT32_MAX) return false;
  i->mods |= MOD_OFFSET;
  i->offset = (i32)number;
  return true;
}

static bool take_flag(cursor *c, inst *i) {
  static const struct {
    const char *name;
    u32 mod;
    u8 cache;
  } flags[] = {
      {"sc0", MOD_CACHE, CACHE_SC0}, {"glc", MOD_CACHE, CACHE_SC0}, {"sc1", MOD_CACHE, CACHE_SC1}, {"nt", MOD_CACHE, CACHE_NT},
      {"offen", MOD_OFFEN, 0},       {"idxen", MOD_IDXEN, 0},       {"lds", MOD_LDS, 0},           {"clamp", MOD_CLAMP, 0},
  };
  for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
    cursor after = *c;
    if (!take(&after, flags[f].name) || (after.at < after.end && *after.at != ' ')) continue;
    *c = after;
    i->mods |= flags[f].mod;
    i->cache |= flags[f].cache;
    if (flags[f].mod == MOD_CLAMP) i->clamp = 1;
    return true;
  }
  return false;
}

static bool take_select_modifier(cursor *c, inst *i) {
  if (take(c, "dst_sel:")) return take_select(c, &i->dst_sel);
  if (take(c, "src0_sel:")) return take_select(c, &i->src_sel[0]);
  if (take(c, "src1_sel:")) return take_select(c, &i->src_sel[1]);
  if (!take(c, "dst_unused:")) return false;
  static const char *const unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  for (u8 u = 0; u < 3; u++)
    if (take(c, unused[u])) {
      i->dst_unused = u;
      return true;
    }
  return false;
}

static bool mark(inst *i, modifier mod, bool taken) {
  if (taken) i->mods |= mod;
  return taken;
}

static bool take_modifier(cursor *c, inst *i) {
  if (take(c, "mul:2")) return mark(i, MOD_OMOD, (i->omod = 1) != 0);
  if (take(c, "mul:4")) return mark(i, MOD_OMOD, (i->omod = 2) != 0);
  if (take(c, "div:2")) return mark(i, MOD_OMOD, (i->omod = -1) != 0);
  if (take(c, "op_sel:")) return mark(i, MOD_OP_SEL, take_bits(c, &i->op_sel));
  if (take(c, "op_sel_hi:")) return mark(i, MOD_OP_SEL_HI, take_bits(c, &i->op_sel_hi));
  if (take(c, "neg_lo:") || take(c, "neg:")) return mark(i, MOD_NEG_LO, take_bits(c, &i->neg_lo));
  if (take(c, "neg_hi:")) return mark(i, MOD_NEG_HI, take_bits(c, &i->neg_hi));
  if (take(c, "cbsz:")) return mark(i, MOD_MFMA, take_u8(c, &i->cbsz));
  if (take(c, "abid:")) return mark(i, MOD_MFMA, take_u8(c, &i->abid));
  if (take(c, "blgp:")) return mark(i, MOD_MFMA, take_u8(c, &i->blgp));
  if (take(c, "bitop3:")) return mark(i, MOD_BITOP3, take_u8(c, &i->bitop3));
  if (take(c, "row_mask:")) return mark(i, MOD_DPP, take_u8(c, &i->row_mask));
  if (take(c, "bank_mask:")) return mark(i, MOD_DPP, take_u8(c, &i->bank_mask));
  if (take(c, "bound_ctrl:1") || take(c, "bound_ctrl:0")) { /* LLVM writes 0 or 1 for the same bit, by version */
    i->bound_ctrl = true;
    return mark(i, MOD_DPP, true);
  }
  if (take(c, "fi:1")) return mark(i, MOD_DPP, i->fetch_inactive = true);
  return take_select_modifier(c, i) || take_offset(c, i) || mark(i, MOD_DPP, take_dpp(c, i)) || take_flag(c, i);
}

/* ---- The line ---- */

/* The end of the operand at `at`: a comma, a space or the end, outside of brackets. */
static const char *operand_end(const char *at) {
  int depth = 0;
  for (; *at != '\0' && *at != '\n'; at++) {
    if (*at == '[' || *at == '(') depth++;
    if (*at == ']' || *at == ')') depth--;
    if (depth == 0 && (*at == ',' || *at == ' ')) return at;
  }
  return at;
}

const char *text_parse(const char *rest, text_line *line, inst *i) {
  const char *at = rest, *end = rest + strcspn(rest, "\n");
  bool more = true; /* operands: the first, and what follows a comma */
  line->count = 0;
  i->mods |= line->sdwa ? MOD_SDWA : 0;
  i->dst_sel = i->src_sel[0] = i->src_sel[1] = SEL_DWORD;
  i->row_mask = i->bank_mask = 0xf;
  for (;;) {
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    if (at == end) return more && line->count > 0 ? rest : NULL;
    cursor c = {at, end};
    if (more) {
      c.end = operand_end(at);
      text_operand *t = &line->operand[line->count];
      if (line->count < OPERANDS && parse_operand(c, t)) {
        if (t->o.neg || t->o.abs) i->mods |= MOD_SRC;
        if (t->o.sext) i->mods |= MOD_SEXT;
        line->count++;
        more = *c.end == ',';
        at = c.end + more;
        continue;
      }
      if (line->count > 0) return at;
      more = false; /* no operands at all: buffer_wbl2 sc1 */
      c.end = end;
    }
    if (!take_modifier(&c, i) || (c.at < end && *c.at != ' ')) return at;
    at = c.at;
  }
}
