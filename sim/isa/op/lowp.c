/* Conversions from and to floats of 8, 6 and 4 bits, without a scale (both chips) and with one (gfx950). Sources: CDNA
 * 4 ISA 7.3, 12.8 and 12.11; which bits of op_sel select: LLVM's patterns; scales, saturation and NaN: AMD's
 * amd_hip_ocp_host.hpp.
 *
 * A scale is an f32 of which only the exponent counts. Narrow results are value / scale, wide ones value * scale. Only
 * FP16_OVFL = 0 is known here (hwreg.c and descriptor.c refuse the other): what is too large does not saturate. */
#include "ops.h"
#include "small_float.h"

/* A row's parameter: formats, elements, and what operands there are. */
enum {
  TO_SHIFT = 4,
  COUNT_SHIFT = 8,
  TWO = 1 << 16,        /* elements come from two operands in turn */
  STOCHASTIC = 1 << 17, /* an operand after them is the seed */
  SCALED = 1 << 18,     /* the last operand is the scale */
};
#define CONVERT(from, to, count) ((from) | (to) << TO_SHIFT | (count) << COUNT_SHIFT)

enum { REGISTERS_MOST = 32 };

/* ---- Elements, packed from bit 0 of the first register on ---- */

static u32 get_code(const u32 *rows, int lane, int element, int bits) {
  int at = element * bits;
  u64 both = rows[at / 32 * LANES + lane];
  if (at % 32 + bits > 32) both |= (u64)rows[(at / 32 + 1) * LANES + lane] << 32;
  return (u32)(both >> (at % 32) & ((UINT64_C(1) << bits) - 1));
}

static void set_code(u32 *row, int lane, int element, int bits, u32 code) {
  int at = element * bits;
  u64 mask = ((UINT64_C(1) << bits) - 1) << (at % 32), placed = (u64)code << (at % 32);
  u32 *low = &row[at / 32 * LANES + lane];
  *low = (*low & ~(u32)mask) | (u32)placed;
  if (at % 32 + bits > 32) low[LANES] = (low[LANES] & ~(u32)(mask >> 32)) | (u32)(placed >> 32);
}

/* gfx942's names mean the FNUZ forms. */
static lowp_format format_of(const wave *w, int number) {
  bool fnuz = !w->group->launch->device->chip.ocp_fp8;
  if (fnuz && number == LOWP_FP8) return LOWP_FP8_FNUZ;
  return fnuz && number == LOWP_BF8 ? LOWP_BF8_FNUZ : (lowp_format)number;
}

/* ---- Which part of a register: op_sel ---- */

/* The number of the part, of `parts` in a register, that the two bits from `first` of the word on select. */
static int selected(const inst *i, int first, int parts, u32 *used) {
  u32 bits = i->word[0] >> first & 3;
  if ((i->mods & MOD_OP_SEL) == 0 || parts < 2) return 0;
  *used |= (parts == 4 ? 3u : first == 11 ? 1u : 2u) << first;
  if (parts == 4) return (int)bits;
  return first == 11 ? (int)(bits & 1) : (int)(bits >> 1); /* halves: bit 11 of a source, bit 14 of the result */
}

typedef struct selection {
  int from, to; /* first elements */
} selection;

static bool select_parts(wave *w, const inst *i, int from_bits, int to_bits, int count, selection *s) {
  u32 used = 0;
  bool narrows = to_bits < from_bits;
  s->from = narrows || count > 2 ? 0 : selected(i, 11, 32 / (from_bits * count), &used) * count;
  s->to = count > 2 ? 0 : selected(i, 13, 32 / (to_bits * count), &used) * count;
  if ((i->mods & MOD_OP_SEL) == 0 || (i->word[0] & 0x7800 & ~used) == 0) return true;
  wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, -1, NO_ADDRESS,
             "op_sel selects a part that this instruction does not have");
  return false;
}

/* ---- The conversion ---- */

static void convert(wave *w, const inst *i) {
  int p = i->op->parameter, count = p >> COUNT_SHIFT & 63, sources = (p & TWO) != 0 ? 2 : 1;
  lowp_format from = format_of(w, p & 15), to = format_of(w, p >> TO_SHIFT & 15);
  int from_bits = lowp_bits(from), to_bits = lowp_bits(to), registers = i->operand[0].count;
  selection part;
  if (!select_parts(w, i, from_bits, to_bits, count, &part)) return;
  const u32 *source[2] = {src(w, i, 1), sources == 2 ? src(w, i, 2) : NULL};
  const u32 *seed = (p & STOCHASTIC) != 0 ? src(w, i, 1 + sources) : NULL;
  const u32 *scale = (p & SCALED) != 0 ? src(w, i, i->operands - 1) : NULL;
  u32 rows[REGISTERS_MOST][LANES];
  memcpy(rows, w->v[i->operand[0].reg], (size_t)registers * sizeof *rows);
  for (u64 left = get_exec(w); left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    double factor = scale != NULL ? lowp_scale((u8)(scale[l] >> 23)) : 1;
    if (to_bits < from_bits) factor = 1 / factor;
    lowp_rounding how = {seed != NULL, seed != NULL ? seed[l] : 0, from};
    for (int e = 0; e < count; e++) {
      double value = lowp_decode(from, get_code(source[e % sources], l, part.from + e / sources, from_bits));
      /* NaN keeps the value's sign, whether it is the value or the scale. */
      double product = isnan(value) || isnan(factor) ? copysign(NAN, value) : value * factor;
      set_code(rows[0], l, part.to + e, to_bits, lowp_encode(to, product, how));
    }
  }
  for (int r = 0; r < registers; r++) memcpy(w->v[i->operand[0].reg + r], rows[r], sizeof rows[r]);
}

/* ---- Rows ---- */

#define SEL MOD_OP_SEL
#define ROW(text, shape, parameters, modifiers) \
  {"v_cvt_" text, convert, shape, .parameter = (parameters), .mods = (modifiers), .flow = FLOW_ALL}

#define PLAIN(name, format)                                                              \
  ROW("f32_" name, "=fb", CONVERT(format, LOWP_F32, 1), MOD_SDWA),                       \
      ROW("pk_f32_" name, "=Bb", CONVERT(format, LOWP_F32, 2), MOD_SDWA),                \
      ROW("pk_" name "_f32", "+bff", CONVERT(LOWP_F32, format, 2) | TWO, SEL | MOD_SRC), \
      ROW("sr_" name "_f32", "+bfb", CONVERT(LOWP_F32, format, 1) | STOCHASTIC, SEL | MOD_SRC)

#define SCALE8(name, format)                                                                                       \
  ROW("scalef32_f32_" name, "=bbf", CONVERT(format, LOWP_F32, 1) | SCALED, SEL),                                   \
      ROW("scalef32_f16_" name, "+bbf", CONVERT(format, LOWP_F16, 1) | SCALED, SEL),                               \
      ROW("scalef32_pk_" name "_f32", "+bfff", CONVERT(LOWP_F32, format, 2) | TWO | SCALED, SEL | MOD_SRC),        \
      ROW("scalef32_sr_" name "_f32", "+bfbf", CONVERT(LOWP_F32, format, 1) | STOCHASTIC | SCALED, SEL | MOD_SRC), \
      ROW("scalef32_sr_" name "_f16", "+bbbf", CONVERT(LOWP_F16, format, 1) | STOCHASTIC | SCALED, SEL),           \
      ROW("scalef32_sr_" name "_bf16", "+bbbf", CONVERT(LOWP_BF16, format, 1) | STOCHASTIC | SCALED, SEL)

/* Pairs, of fp8, bf8 and fp4. */
#define SCALE_PAIR(name, format)                                                           \
  ROW("scalef32_pk_f32_" name, "=Bbf", CONVERT(format, LOWP_F32, 2) | SCALED, SEL),        \
      ROW("scalef32_pk_f16_" name, "=bbf", CONVERT(format, LOWP_F16, 2) | SCALED, SEL),    \
      ROW("scalef32_pk_bf16_" name, "=bbf", CONVERT(format, LOWP_BF16, 2) | SCALED, SEL),  \
      ROW("scalef32_pk_" name "_f16", "+bbf", CONVERT(LOWP_F16, format, 2) | SCALED, SEL), \
      ROW("scalef32_pk_" name "_bf16", "+bbf", CONVERT(LOWP_BF16, format, 2) | SCALED, SEL)

/* 32 elements of 6 bits. 2xpk16 takes them from its two operands in turn (Composable Kernel deinterleaves for it). */
#define SCALE6(name, format)                                                                                 \
  ROW("scalef32_pk32_f32_" name, "=rrf", CONVERT(format, LOWP_F32, 32) | SCALED, 0),                         \
      ROW("scalef32_pk32_f16_" name, "=rrf", CONVERT(format, LOWP_F16, 32) | SCALED, 0),                     \
      ROW("scalef32_pk32_bf16_" name, "=rrf", CONVERT(format, LOWP_BF16, 32) | SCALED, 0),                   \
      ROW("scalef32_2xpk16_" name "_f32", "=rrrf", CONVERT(LOWP_F32, format, 32) | TWO | SCALED, 0),         \
      ROW("scalef32_pk32_" name "_f16", "=rrf", CONVERT(LOWP_F16, format, 32) | SCALED, 0),                  \
      ROW("scalef32_pk32_" name "_bf16", "=rrf", CONVERT(LOWP_BF16, format, 32) | SCALED, 0),                \
      ROW("scalef32_sr_pk32_" name "_f32", "=rrbf", CONVERT(LOWP_F32, format, 32) | STOCHASTIC | SCALED, 0), \
      ROW("scalef32_sr_pk32_" name "_f16", "=rrbf", CONVERT(LOWP_F16, format, 32) | STOCHASTIC | SCALED, 0), \
      ROW("scalef32_sr_pk32_" name "_bf16", "=rrbf", CONVERT(LOWP_BF16, format, 32) | STOCHASTIC | SCALED, 0)

static const op ops[] = {
    PLAIN("fp8", LOWP_FP8),
    PLAIN("bf8", LOWP_BF8),
    SCALE8("fp8", LOWP_FP8),
    SCALE8("bf8", LOWP_BF8),
    SCALE_PAIR("fp8", LOWP_FP8),
    SCALE_PAIR("bf8", LOWP_BF8),
    SCALE_PAIR("fp4", LOWP_FP4),
    ROW("scalef32_pk_fp4_f32", "+bfff", CONVERT(LOWP_F32, LOWP_FP4, 2) | TWO | SCALED, SEL | MOD_SRC),
    ROW("scalef32_sr_pk_fp4_f32", "+brbf", CONVERT(LOWP_F32, LOWP_FP4, 2) | STOCHASTIC | SCALED, SEL),
    ROW("scalef32_sr_pk_fp4_f16", "+bbbf", CONVERT(LOWP_F16, LOWP_FP4, 2) | STOCHASTIC | SCALED, SEL),
    ROW("scalef32_sr_pk_fp4_bf16", "+bbbf", CONVERT(LOWP_BF16, LOWP_FP4, 2) | STOCHASTIC | SCALED, SEL),
    SCALE6("fp6", LOWP_FP6),
    SCALE6("bf6", LOWP_BF6),
};
FAMILY(family_lowp, "lowp", CLASS_VALU, 0, ops);
