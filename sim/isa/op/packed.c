/* Packed arithmetic: VOP3P. Every source's halves are chosen by op_sel (for the low result) and op_sel_hi (for the high one,
 * all ones unless the text says otherwise), and negated by neg_lo and neg_hi. Source: CDNA 4 ISA 6.7, "Packed Math". */
#include "minmax.h"
#include "ops.h"
#include "sim/base/half.h"
#include "sim/machine/mode.h"

typedef struct halves {
  u32 part[2][LANES]; /* for the low and the high result, each in the low 16 bits */
} halves;

static inline u32 bit(u32 bits, u32 n) { return bits >> n & 1; }
static inline u32 high_select(const inst *i) { return (i->mods & MOD_OP_SEL_HI) != 0 ? i->op_sel_hi : 0xff; }

static void read_halves(wave *w, const inst *i, int n, halves *h) {
  const u32 *row = src(w, i, n);
  u32 s = i->operand[n].source;
  u32 low = 16 * bit(i->op_sel, s), high = 16 * bit(high_select(i), s);
  u32 flip_low = bit(i->neg_lo, s) << 15, flip_high = bit(i->neg_hi, s) << 15;
  for (int l = 0; l < LANES; l++) {
    h->part[0][l] = (row[l] >> low & 0xffff) ^ flip_low;
    h->part[1][l] = (row[l] >> high & 0xffff) ^ flip_high;
  }
}

/* `a`, `b`, `c`: the sources' halves; r: 16 bits */
#define PK_BINARY(symbol, from, r)                    \
  static void symbol(wave *w, const inst *i) {        \
    halves ha, hb;                                    \
    u32 row[2][LANES];                                \
    read_halves(w, i, 1, &ha);                        \
    read_halves(w, i, 2, &hb);                        \
    for (int p = 0; p < 2; p++)                       \
      for (int l = 0; l < LANES; l++) {               \
        __typeof__(from(0u)) a = from(ha.part[p][l]); \
        __typeof__(from(0u)) b = from(hb.part[p][l]); \
        row[p][l] = (u32)(r) & 0xffff;                \
      }                                               \
    put_halves(w, i, row);                            \
  }
#define PK_TERNARY(symbol, from, r)                   \
  static void symbol(wave *w, const inst *i) {        \
    halves ha, hb, hc;                                \
    u32 row[2][LANES];                                \
    read_halves(w, i, 1, &ha);                        \
    read_halves(w, i, 2, &hb);                        \
    read_halves(w, i, 3, &hc);                        \
    for (int p = 0; p < 2; p++)                       \
      for (int l = 0; l < LANES; l++) {               \
        __typeof__(from(0u)) a = from(ha.part[p][l]); \
        __typeof__(from(0u)) b = from(hb.part[p][l]); \
        __typeof__(from(0u)) c = from(hc.part[p][l]); \
        row[p][l] = (u32)(r) & 0xffff;                \
      }                                               \
    put_halves(w, i, row);                            \
  }

static void put_halves(wave *w, const inst *i, u32 row[2][LANES]) {
  for (int l = 0; l < LANES; l++) row[0][l] |= row[1][l] << 16;
  put(w, i, row[0]);
}

#define U(x) ((i64)(x))
#define S(x) ((i64)(i16)(x))
#define H(x) half_f32(x)
#define HB(x) half_bits_f32(x)
#define TH(x) f32_half(x, half_rounding(w))
#define TB(x) f32_half(as_f32(x), ROUND_NEAREST) /* of an f16: exact */

static inline i64 saturate(i64 value, i64 least, i64 most, bool clamp) {
  return clamp ? value < least ? least : value > most ? most : value : value;
}
#define SAT_U(x) saturate(x, 0, 0xffff, i->clamp)
#define SAT_S(x) saturate(x, -0x8000, 0x7fff, i->clamp)

PK_BINARY(pk_add_u16, U, SAT_U(a + b))
PK_BINARY(pk_sub_u16, U, SAT_U(a - b))
PK_TERNARY(pk_mad_u16, U, SAT_U(a *b + c))
PK_BINARY(pk_add_i16, S, SAT_S(a + b))
PK_BINARY(pk_sub_i16, S, SAT_S(a - b))
PK_TERNARY(pk_mad_i16, S, SAT_S(a *b + c))
PK_BINARY(pk_mul_lo_u16, U, a *b)
PK_BINARY(pk_lshlrev_b16, U, b << (a & 15))
PK_BINARY(pk_lshrrev_b16, U, b >> (a & 15))
PK_BINARY(pk_ashrrev_i16, S, b >> (a & 15))
PK_BINARY(pk_min_u16, U, a < b ? a : b)
PK_BINARY(pk_max_u16, U, a > b ? a : b)
PK_BINARY(pk_min_i16, S, a < b ? a : b)
PK_BINARY(pk_max_i16, S, a > b ? a : b)
PK_BINARY(pk_add_f16, H, TH(nan2(add_to_odd(a, b, half_rounding(w)), a, b)))
PK_BINARY(pk_mul_f16, H, TH(nan2(a *b, a, b)))
PK_TERNARY(pk_fma_f16, H, TH(fma_half(a, b, c, half_rounding(w))))
PK_BINARY(pk_min_f16, HB, TB(min_f32_bits(a, b, ieee_mode(w))))
PK_BINARY(pk_max_f16, HB, TB(max_f32_bits(a, b, ieee_mode(w))))
PK_TERNARY(pk_minimum3_f16, HB, TB(minimum_f32_bits(minimum_f32_bits(a, b), c)))
PK_TERNARY(pk_maximum3_f16, HB, TB(maximum_f32_bits(maximum_f32_bits(a, b), c)))

/* D = a * b + D: VOP2, and so without choice of halves */
static void pk_fmac_f16(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pd = src(w, i, 0);
  u32 row[LANES], round = half_rounding(w);
  for (int l = 0; l < LANES; l++) {
    u32 low = f32_half(fma_half(H(pa[l] & 0xffff), H(pb[l] & 0xffff), H(pd[l] & 0xffff), round), round);
    u32 high = f32_half(fma_half(H(pa[l] >> 16), H(pb[l] >> 16), H(pd[l] >> 16), round), round);
    row[l] = low | high << 16;
  }
  put(w, i, row);
}

/* ---- Pairs of 32 bits: the same choice and signs on dwords ---- */

static const u32 *pair_part(const inst *i, int n, const u32 *rows, int result, u32 *flip) {
  u32 s = i->operand[n].source;
  *flip = bit(result == 0 ? i->neg_lo : i->neg_hi, s) << 31;
  return rows + LANES * bit(result == 0 ? i->op_sel : high_select(i), s);
}

enum { PAIR_ADD, PAIR_MUL, PAIR_FMA };

static void pk_f32(wave *w, const inst *i) {
  const u32 *source[3] = {src(w, i, 1), src(w, i, 2), i->operands > 3 ? src(w, i, 3) : NULL};
  u32 rows[2][LANES];
  for (int p = 0; p < 2; p++) {
    u32 flip_a, flip_b, flip_c = 0;
    const u32 *pa = pair_part(i, 1, source[0], p, &flip_a), *pb = pair_part(i, 2, source[1], p, &flip_b);
    const u32 *pc = source[2] != NULL ? pair_part(i, 3, source[2], p, &flip_c) : pa;
    for (int l = 0; l < LANES; l++) {
      float a = as_f32(pa[l] ^ flip_a), b = as_f32(pb[l] ^ flip_b), c = as_f32(pc[l] ^ flip_c);
      rows[p][l] = bits_f32(i->op->parameter == PAIR_ADD   ? nan2(a + b, a, b)
                            : i->op->parameter == PAIR_MUL ? nan2(a * b, a, b)
                                                           : nan3(fmaf(a, b, c), a, b, c));
    }
  }
  put64(w, i, rows);
}

/* The low result from source 0, the high one from source 1; op_sel chooses the dword of each */
static void pk_mov_b32(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2);
  u32 rows[2][LANES];
  memcpy(rows[0], pa + LANES * bit(i->op_sel, 0), sizeof rows[0]);
  memcpy(rows[1], pb + LANES * bit(i->op_sel, 1), sizeof rows[1]);
  put64(w, i, rows);
}

/* ---- Mixed f16 and f32: op_sel_hi says which sources are f16, op_sel which half ----
 * A constant as an f16 source is the f16 constant in the low half (LLVM, pull request 183487: "F16 source operands [...] use
 * F16 constant values in the low 16 bits"). */

static void read_mixed(wave *w, const inst *i, int n, float value[LANES]) {
  const operand *o = &i->operand[n];
  const u32 *row = wave_row(w, i, n);
  bool half = bit(i->op_sel_hi, o->source) != 0;
  u32 shift = 16 * bit(i->op_sel, o->source);
  float least = mode_flushes(w, half ? 'h' : 'f', true) ? half ? 0x1p-14f : 0x1p-126f : 0;
  for (int l = 0; l < LANES; l++) {
    float x = half ? half_f32(row[l] >> shift & 0xffff) : as_f32(row[l]);
    x = fabsf(x) < least ? copysignf(0, x) : x;
    x = o->abs ? fabsf(x) : x;
    value[l] = o->neg ? -x : x;
  }
}

enum { MIX_F32, MIX_LOW, MIX_HIGH };

/* fma in f32; the f16 forms round its result again, and leave the other half alone */
static void fma_mix(wave *w, const inst *i) {
  float value[3][LANES];
  u32 row[LANES], round = half_rounding(w);
  for (int n = 1; n <= 3; n++) read_mixed(w, i, n, value[n - 1]);
  for (int l = 0; l < LANES; l++) {
    float a = value[0][l], b = value[1][l], c = value[2][l], d = nan3(fmaf(a, b, c), a, b, c);
    row[l] = i->op->parameter == MIX_F32 ? bits_f32(d) : f32_half(d, round);
  }
  put(w, i, row);
}

#define PK_MODS (MOD_NEG_LO | MOD_NEG_HI | MOD_CLAMP)
#define MIX_MODS (MOD_SRC | MOD_CLAMP)

static const op ops[] = {
    {"v_pk_add_u16", pk_add_u16, "=qqq", .mods = MOD_CLAMP},
    {"v_pk_sub_u16", pk_sub_u16, "=qqq", .mods = MOD_CLAMP},
    {"v_pk_mad_u16", pk_mad_u16, "=qqqq", .mods = MOD_CLAMP},
    {"v_pk_add_i16", pk_add_i16, "=qqq", .mods = MOD_CLAMP},
    {"v_pk_sub_i16", pk_sub_i16, "=qqq", .mods = MOD_CLAMP},
    {"v_pk_mad_i16", pk_mad_i16, "=qqqq", .mods = MOD_CLAMP},
    {"v_pk_mul_lo_u16", pk_mul_lo_u16, "=qqq"},
    {"v_pk_lshlrev_b16", pk_lshlrev_b16, "=qqq"},
    {"v_pk_lshrrev_b16", pk_lshrrev_b16, "=qqq"},
    {"v_pk_ashrrev_i16", pk_ashrrev_i16, "=qqq"},
    {"v_pk_min_u16", pk_min_u16, "=qqq"},
    {"v_pk_max_u16", pk_max_u16, "=qqq"},
    {"v_pk_min_i16", pk_min_i16, "=qqq"},
    {"v_pk_max_i16", pk_max_i16, "=qqq"},
    {"v_pk_add_f16", pk_add_f16, "=ppp", .mods = PK_MODS},
    {"v_pk_mul_f16", pk_mul_f16, "=ppp", .mods = PK_MODS},
    {"v_pk_fma_f16", pk_fma_f16, "=pppp", .mods = PK_MODS},
    {"v_pk_min_f16", pk_min_f16, "=ppp", .mods = PK_MODS},
    {"v_pk_max_f16", pk_max_f16, "=ppp", .mods = PK_MODS},
    {"v_pk_minimum3_f16", pk_minimum3_f16, "=pppp", .mods = PK_MODS},
    {"v_pk_maximum3_f16", pk_maximum3_f16, "=pppp", .mods = PK_MODS},
    {"v_pk_fmac_f16", pk_fmac_f16, "+ppp"},
    {"v_pk_add_f32", pk_f32, "=FFF", .mods = PK_MODS, .parameter = PAIR_ADD},
    {"v_pk_mul_f32", pk_f32, "=FFF", .mods = PK_MODS, .parameter = PAIR_MUL},
    {"v_pk_fma_f32", pk_f32, "=FFFF", .mods = PK_MODS, .parameter = PAIR_FMA},
    {"v_pk_mov_b32", pk_mov_b32, "=BBB", .flow = FLOW_MOVE},
    {"v_fma_mix_f32", fma_mix, "=fxxx", .mods = MIX_MODS, .parameter = MIX_F32},
    {"v_fma_mixlo_f16", fma_mix, "=hxxx", .mods = MIX_MODS, .half = HALF_SELECTED, .parameter = MIX_LOW},
    {"v_fma_mixhi_f16", fma_mix, "=hxxx", .mods = MIX_MODS, .half = HALF_HIGH, .parameter = MIX_HIGH},
};
FAMILY(family_packed, "packed", CLASS_VALU, MOD_OP_SEL | MOD_OP_SEL_HI, ops);
