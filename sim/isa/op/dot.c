/* Dot products: VOP3P, and the accumulating forms of VOP2. Source: CDNA 4 ISA, their pseudocode: every product is added in
 * turn, in f32 or 32 bits. Those of floats treat denormal sources and results as zeros and round to nearest, whatever MODE says
 * (6.4; LLVM says so of the f32 operand and result of V_DOT2_F32_F16). */
#include "ops.h"
#include "sim/base/half.h"
#include "sim/machine/mode.h"

enum { UNSIGNED, SIGNED };

/* The n-th field of `width` bits */
static inline i64 field(u32 value, int n, int width, bool sign) {
  u32 shift = (u32)(32 - width);
  u32 top = value << (shift - (u32)(n * width));
  return sign ? (i64)((i32)top >> shift) : (i64)(top >> shift);
}

static void integers(wave *w, const inst *i, int width, bool accumulate) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pc = src(w, i, accumulate ? 0 : 3);
  bool sign = i->op->parameter == SIGNED;
  i64 least = sign ? INT32_MIN : 0, most = sign ? INT32_MAX : UINT32_MAX;
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    i64 sum = sign ? (i64)(i32)pc[l] : (i64)pc[l];
    for (int n = 0; n < 32 / width; n++) sum += field(pa[l], n, width, sign) * field(pb[l], n, width, sign);
    row[l] = (u32)(!i->clamp ? sum : sum < least ? least : sum > most ? most : sum);
  }
  put(w, i, row);
}
static void dot2_int(wave *w, const inst *i) { integers(w, i, 16, false); }
static void dot4_int(wave *w, const inst *i) { integers(w, i, 8, false); }
static void dot8_int(wave *w, const inst *i) { integers(w, i, 4, false); }
static void dot2c_int(wave *w, const inst *i) { integers(w, i, 16, true); }
static void dot4c_int(wave *w, const inst *i) { integers(w, i, 8, true); }
static void dot8c_int(wave *w, const inst *i) { integers(w, i, 4, true); }

enum { F16, BF16 };

static inline float element(u32 value, int n, int format) {
  u32 half = value >> (16 * n) & 0xffff;
  return format == F16 ? half_f32(flush_f16(half)) : as_f32(flush_f32(half << 16));
}

/* c + a0 * b0 + a1 * b1, in this order */
static void dot2_float(wave *w, const inst *i, bool accumulate) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pc = src(w, i, accumulate ? 0 : 3);
  int format = i->op->parameter;
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    float sum = as_f32(flush_f32(pc[l]));
    for (int n = 0; n < 2; n++) {
      float a = element(pa[l], n, format), b = element(pb[l], n, format), product = nan2(a * b, a, b);
      sum = nan2(sum + product, sum, product);
    }
    row[l] = flush_f32(bits_f32(sum));
  }
  put(w, i, row);
}
static void dot2_f32(wave *w, const inst *i) { dot2_float(w, i, false); }
static void dot2c_f32(wave *w, const inst *i) { dot2_float(w, i, true); }

/* a0 * b0 + a1 * b1 + c, in this order: unlike V_DOT2_F32_F16 */
static void dot2_f32_bf16(wave *w, const inst *i) {
  const u32 *pa = src(w, i, 1), *pb = src(w, i, 2), *pc = src(w, i, 3);
  u32 row[LANES];
  for (int l = 0; l < LANES; l++) {
    float a0 = element(pa[l], 0, BF16), b0 = element(pb[l], 0, BF16), first = nan2(a0 * b0, a0, b0);
    float a1 = element(pa[l], 1, BF16), b1 = element(pb[l], 1, BF16), second = nan2(a1 * b1, a1, b1);
    float c = as_f32(flush_f32(pc[l])), sum = nan2(first + second, first, second);
    row[l] = flush_f32(bits_f32(nan2(sum + c, sum, c)));
  }
  put(w, i, row);
}

static const op ops[] = {
    {"v_dot2_i32_i16", dot2_int, "=bbbb", .mods = MOD_CLAMP, .parameter = SIGNED},
    {"v_dot2_u32_u16", dot2_int, "=bbbb", .mods = MOD_CLAMP, .parameter = UNSIGNED},
    {"v_dot4_i32_i8", dot4_int, "=bbbb", .mods = MOD_CLAMP, .parameter = SIGNED},
    {"v_dot4_u32_u8", dot4_int, "=bbbb", .mods = MOD_CLAMP, .parameter = UNSIGNED},
    {"v_dot8_i32_i4", dot8_int, "=bbbb", .mods = MOD_CLAMP, .parameter = SIGNED},
    {"v_dot8_u32_u4", dot8_int, "=bbbb", .mods = MOD_CLAMP, .parameter = UNSIGNED},
    {"v_dot2c_i32_i16", dot2c_int, "+bbb", .mods = MOD_CLAMP | MOD_DPP, .parameter = SIGNED},
    {"v_dot4c_i32_i8", dot4c_int, "+bbb", .mods = MOD_CLAMP | MOD_DPP, .parameter = SIGNED},
    {"v_dot8c_i32_i4", dot8c_int, "+bbb", .mods = MOD_CLAMP | MOD_DPP, .parameter = SIGNED},
    {"v_dot2_f32_f16", dot2_f32, "=fppf", .mods = MOD_CLAMP, .parameter = F16, .own_mode = true},
    {"v_dot2c_f32_f16", dot2c_f32, "+fpp", .mods = MOD_CLAMP | MOD_DPP, .parameter = F16, .own_mode = true},
    {"v_dot2_f32_bf16", dot2_f32_bf16, "=fKKf", .mods = MOD_CLAMP, .own_mode = true},
    {"v_dot2c_f32_bf16", dot2c_f32, "+fKK", .mods = MOD_CLAMP | MOD_DPP, .parameter = BF16, .own_mode = true},
};
FAMILY(family_dot, "dot", CLASS_VALU, 0, ops);
