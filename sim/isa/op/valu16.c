/* Vector arithmetic on 16 bits: VOP1, VOP2, VOP3. Source: CDNA 4 ISA, the pseudocode of 12.7, 12.8, 12.11.
 *
 * The instructions whose result can go to either half (op_sel) leave the other half alone; all others clear the upper half.
 * Source: CDNA 4 ISA, V_MAD_LEGACY_F16; LLVM's zeroesHigh16BitsOfDest says the same. */
#include "minmax.h"
#include "ops.h"
#include "sim/base/half.h"
#include "sim/machine/mode.h"

#define U(x) ((x) & 0xffff)
#define S(x) ((i32)(i16)(x))
#define T(x) ((u32)(x) & 0xffff)
#define H(x) half_f32((x) & 0xffff)
#define TH(x) f32_half(x, half_rounding(w))

/* ---- Integers: in 32 bits, where no 16-bit operation overflows ---- */

static inline u32 saturate_u16(i64 value, bool clamp) {
  return clamp ? (u32)(value < 0 ? 0 : value > 0xffff ? 0xffff : value) : (u32)value & 0xffff;
}
static inline u32 saturate_i16(i64 value, bool clamp) {
  return (u32)(clamp ? value < -0x8000 ? -0x8000 : value > 0x7fff ? 0x7fff : value : value) & 0xffff;
}

V_BINARY(add_u16, U, T, saturate_u16((i64)a + b, i->clamp))
V_BINARY(sub_u16, U, T, saturate_u16((i64)a - b, i->clamp))
V_BINARY(subrev_u16, U, T, saturate_u16((i64)b - a, i->clamp))
V_BINARY(add_i16, S, T, saturate_i16((i64)a + b, i->clamp))
V_BINARY(sub_i16, S, T, saturate_i16((i64)a - b, i->clamp))
V_BINARY(mul_lo_u16, U, T, a *b)
V_TERNARY(mad_u16, U, T, saturate_u16((i64)a *b + c, i->clamp))
V_TERNARY(mad_i16, S, T, saturate_i16((i64)a *b + c, i->clamp))
V_BINARY(lshlrev_b16, U, T, b << (a & 15))
V_BINARY(lshrrev_b16, U, T, b >> (a & 15))
V_BINARY(ashrrev_i16, S, T, b >> (a & 15))
V_BINARY(min_u16, U, T, a < b ? a : b)
V_BINARY(max_u16, U, T, a > b ? a : b)
V_BINARY(min_i16, S, T, a < b ? a : b)
V_BINARY(max_i16, S, T, a > b ? a : b)

#define LESS(a, b) ((a) < (b) ? (a) : (b))
#define MORE(a, b) ((a) > (b) ? (a) : (b))
V_TERNARY(min3_u16, U, T, LESS(LESS(a, b), c))
V_TERNARY(max3_u16, U, T, MORE(MORE(a, b), c))
V_TERNARY(med3_u16, U, T, MORE(LESS(a, b), LESS(MORE(a, b), c)))
V_TERNARY(min3_i16, S, T, LESS(LESS(a, b), c))
V_TERNARY(max3_i16, S, T, MORE(MORE(a, b), c))
V_TERNARY(med3_i16, S, T, MORE(LESS(a, b), LESS(MORE(a, b), c)))

/* Two signed 16-bit integers, each to 0..255: bytes 0 and 1 */
static inline u32 saturate_u8(i32 value) { return value < 0 ? 0 : value > 255 ? 255 : (u32)value; }
V_UNARY(sat_pk_u8_i16, , , saturate_u8((i16)a) | saturate_u8((i32)a >> 16) << 8)

/* gfx950: two signed integers shifted right, each to 8 bits */
static inline u32 saturate_i8(i32 value) { return (u32)(value < -128 ? -128 : value > 127 ? 127 : value) & 0xff; }
V_TERNARY(ashr_pk_i8_i32, , , saturate_i8((i32)a >> (c & 31)) | saturate_i8((i32)b >> (c & 31)) << 8)
V_TERNARY(ashr_pk_u8_i32, , , saturate_u8((i32)a >> (c & 31)) | saturate_u8((i32)b >> (c & 31)) << 8)

V_BINARY(pack_b32_f16, U, , a | b << 16)

/* ---- f16 ---- */

V_BINARY(add_f16, H, TH, nan2(add_to_odd(a, b, half_rounding(w)), a, b))
V_BINARY(sub_f16, H, TH, nan2(add_to_odd(a, -b, half_rounding(w)), a, b))
V_BINARY(subrev_f16, H, TH, nan2(add_to_odd(b, -a, half_rounding(w)), a, b))
V_BINARY(mul_f16, H, TH, nan2(a *b, a, b)) /* exact before it is rounded to f16 */
V_TERNARY(fma_f16, H, TH, fma_half(a, b, c, half_rounding(w)))

/* a * b + c, rounded twice */
static inline u32 mad_half(float a, float b, float c, u32 round) {
  float product = half_f32(f32_half(nan2(a * b, a, b), round));
  return f32_half(nan2(add_to_odd(product, c, round), product, c), round);
}
V_TERNARY(mad_f16, H, , mad_half(a, b, c, half_rounding(w)))
static void mac_f16(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pd = src(w, i, 0);
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) row[l] = mad_half(H(pa[l]), H(pb[l]), H(pd[l]), half_rounding(w));
  put(w, i, row);
}

#define HB(x) half_bits_f32((x) & 0xffff)
#define TB(x) f32_half(as_f32(x), ROUND_NEAREST) /* of an f16: exact */
V_BINARY(min_f16, HB, TB, min_f32_bits(a, b, ieee_mode(w)))
V_BINARY(max_f16, HB, TB, max_f32_bits(a, b, ieee_mode(w)))
V_TERNARY(min3_f16, HB, TB, min_f32_bits(min_f32_bits(a, b, ieee_mode(w)), c, ieee_mode(w)))
V_TERNARY(max3_f16, HB, TB, max_f32_bits(max_f32_bits(a, b, ieee_mode(w)), c, ieee_mode(w)))
V_TERNARY(med3_f16, HB, TB, med3_f32_bits(a, b, c, ieee_mode(w)))

V_UNARY(floor_f16, H, TH, floorf(a))
V_UNARY(ceil_f16, H, TH, ceilf(a))
V_UNARY(trunc_f16, H, TH, truncf(a))
V_UNARY(rndne_f16, H, TH, __builtin_roundevenf(a))
/* Below 1, as for f32 */
static inline u32 fract_half(float a, u32 round) {
  u32 bits = f32_half(nan2(a - floorf(a), a, a), round);
  return bits == 0x3c00 ? 0x3bff : bits;
}
V_UNARY(fract_f16, H, , fract_half(a, half_rounding(w)))

#define HALF_MODS (MOD_SRC | MOD_CLAMP | MOD_OMOD)
#define SELECT_MODS (MOD_SRC | MOD_CLAMP | MOD_OP_SEL)

static const op ops[] = {
    {"v_add_u16", add_u16, "=www", .mods = MOD_CLAMP, .flow = FLOW_CARRY},
    {"v_sub_u16", sub_u16, "=www", .mods = MOD_CLAMP, .flow = FLOW_CARRY},
    {"v_subrev_u16", subrev_u16, "=www", .mods = MOD_CLAMP, .flow = FLOW_CARRY},
    {"v_mul_lo_u16", mul_lo_u16, "=www", .flow = FLOW_CARRY},
    {"v_lshlrev_b16", lshlrev_b16, "=w@ww", .flow = FLOW_MOVE},
    {"v_lshrrev_b16", lshrrev_b16, "=w@ww", .flow = FLOW_MOVE},
    {"v_ashrrev_i16", ashrrev_i16, "=w@ww", .flow = FLOW_MOVE},
    {"v_min_u16", min_u16, "=www"},
    {"v_max_u16", max_u16, "=www"},
    {"v_min_i16", min_i16, "=www"},
    {"v_max_i16", max_i16, "=www"},
    {"v_mad_legacy_u16", mad_u16, "=wwww", .mods = MOD_CLAMP},
    {"v_mad_legacy_i16", mad_i16, "=wwww", .mods = MOD_CLAMP},
    {"v_sat_pk_u8_i16", sat_pk_u8_i16, "=wb"},
    {"v_add_i16", add_i16, "=www", .mods = MOD_CLAMP | MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_sub_i16", sub_i16, "=www", .mods = MOD_CLAMP | MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_mad_u16", mad_u16, "=wwww", .mods = MOD_CLAMP | MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_mad_i16", mad_i16, "=wwww", .mods = MOD_CLAMP | MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_min3_u16", min3_u16, "=wwww", .mods = MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_max3_u16", max3_u16, "=wwww", .mods = MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_med3_u16", med3_u16, "=wwww", .mods = MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_min3_i16", min3_i16, "=wwww", .mods = MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_max3_i16", max3_i16, "=wwww", .mods = MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_med3_i16", med3_i16, "=wwww", .mods = MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_ashr_pk_i8_i32", ashr_pk_i8_i32, "=wbbb", .mods = MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_ashr_pk_u8_i32", ashr_pk_u8_i32, "=wbbb", .mods = MOD_OP_SEL, .half = HALF_SELECTED},
    {"v_pack_b32_f16", pack_b32_f16, "=bhh", .mods = MOD_SRC | MOD_OP_SEL, .flow = FLOW_MOVE},
    {"v_add_f16", add_f16, "=hhh", .mods = HALF_MODS},
    {"v_sub_f16", sub_f16, "=hhh", .mods = HALF_MODS},
    {"v_subrev_f16", subrev_f16, "=hhh", .mods = HALF_MODS},
    {"v_mul_f16", mul_f16, "=hhh", .mods = HALF_MODS},
    {"v_min_f16", min_f16, "=hhh", .mods = HALF_MODS},
    {"v_max_f16", max_f16, "=hhh", .mods = HALF_MODS},
    {"v_mac_f16", mac_f16, "+hhh", .mods = HALF_MODS},
    {"v_madak_f16", mad_f16, "=hhhh"}, /* a * b + K */
    {"v_madmk_f16", mad_f16, "=hhhh"}, /* a * K + b: the text has them in this order */
    {"v_mad_legacy_f16", mad_f16, "=hhhh", .mods = HALF_MODS},
    {"v_fma_legacy_f16", fma_f16, "=hhhh", .mods = HALF_MODS},
    {"v_mad_f16", mad_f16, "=hhhh", .mods = SELECT_MODS, .half = HALF_SELECTED},
    {"v_fma_f16", fma_f16, "=hhhh", .mods = SELECT_MODS, .half = HALF_SELECTED},
    {"v_min3_f16", min3_f16, "=hhhh", .mods = SELECT_MODS, .half = HALF_SELECTED},
    {"v_max3_f16", max3_f16, "=hhhh", .mods = SELECT_MODS, .half = HALF_SELECTED},
    {"v_med3_f16", med3_f16, "=hhhh", .mods = SELECT_MODS, .half = HALF_SELECTED},
    {"v_floor_f16", floor_f16, "=hh", .mods = HALF_MODS},
    {"v_ceil_f16", ceil_f16, "=hh", .mods = HALF_MODS},
    {"v_trunc_f16", trunc_f16, "=hh", .mods = HALF_MODS},
    {"v_rndne_f16", rndne_f16, "=hh", .mods = HALF_MODS},
    {"v_fract_f16", fract_f16, "=hh", .mods = HALF_MODS},
};
FAMILY(family_valu16, "valu16", CLASS_VALU, MOD_DPP | MOD_SDWA | MOD_SEXT, ops);
