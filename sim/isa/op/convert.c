/* Conversions between f32, f16, bf16 and integers: VOP1, VOP3. Source: CDNA 4 ISA, 12.8 and 12.11. Conversions to
 * integers round toward zero, saturate, and turn NaN into 0. */
#include "ops.h"
#include "sim/base/half.h"
#include "sim/machine/mode.h"

#define U(x) (x)
#define S(x) ((i32)(x))
#define F(x) as_f32(x)
#define TF(x) bits_f32(x)
#define W(x) ((x) & 0xffff)
#define H(x) half_f32((x) & 0xffff)
#define TH(x) f32_half(x, half_rounding(w))

/* ---- Integers to floats ---- */

V_UNARY(cvt_f32_i32, S, TF, (float)a)
V_UNARY(cvt_f32_u32, U, TF, (float)a)
V_UNARY(cvt_f32_ubyte0, U, TF, (float)(a & 0xff))
V_UNARY(cvt_f32_ubyte1, U, TF, (float)(a >> 8 & 0xff))
V_UNARY(cvt_f32_ubyte2, U, TF, (float)(a >> 16 & 0xff))
V_UNARY(cvt_f32_ubyte3, U, TF, (float)(a >> 24))
V_UNARY(cvt_off_f32_i4, U, TF, (float)((i32)(a << 28) >> 28) * 0x1p-4f) /* -0.5 to 0.4375 */
V_UNARY(cvt_f16_u16, W, TH, (float)a)
V_UNARY(cvt_f16_i16, W, TH, (float)(i16)a)

/* ---- Floats to integers ---- */

static inline u32 f32_u32(float a) { return a >= 0x1p32f ? UINT32_MAX : a > 0 ? (u32)a : 0; }
static inline u32 f32_i32(float a) {
  return a >= 0x1p31f ? INT32_MAX : a > -0x1p31f ? (u32)(i32)a : a <= -0x1p31f ? (u32)INT32_MIN : 0;
}
static inline u32 f32_u16(float a) { return a >= 0x1p16f ? 0xffff : a > 0 ? (u32)a : 0; }
static inline u32 f32_i16(float a) {
  return a >= 0x1p15f ? 0x7fff : a > -0x1p15f ? (u32)(i32)a & 0xffff : a <= -0x1p15f ? 0x8000 : 0;
}

V_UNARY(cvt_u32_f32, F, U, f32_u32(a))
V_UNARY(cvt_i32_f32, F, U, f32_i32(a))
V_UNARY(cvt_rpi_i32_f32, F, U, f32_i32(floorf(a + 0.5f)))
V_UNARY(cvt_flr_i32_f32, F, U, f32_i32(floorf(a)))
V_UNARY(cvt_u16_f16, H, U, f32_u16(a))
V_UNARY(cvt_i16_f16, H, U, f32_i16(a))

/* Fractions of 1: of 65535 in 0..1, of 32767 in -1..1. The ISA leaves the rounding open; ours is to nearest even, which the
 * packSnorm2x16 and packUnorm2x16 of Vulkan and OpenGL allow. */
static inline double limited(double x, double least) { return x > least ? x < 1 ? x : 1 : x <= least ? least : 0; }
static inline u32 f32_snorm(float a) { return (u32)(i32)__builtin_roundeven(limited(a, -1) * 32767) & 0xffff; }
static inline u32 f32_unorm(float a) { return (u32)__builtin_roundeven(limited(a, 0) * 65535); }

V_UNARY(cvt_norm_i16_f16, H, U, f32_snorm(a))
V_UNARY(cvt_norm_u16_f16, H, U, f32_unorm(a))
V_BINARY(cvt_pknorm_i16_f32, F, U, f32_snorm(a) | f32_snorm(b) << 16)
V_BINARY(cvt_pknorm_u16_f32, F, U, f32_unorm(a) | f32_unorm(b) << 16)
V_BINARY(cvt_pknorm_i16_f16, H, U, f32_snorm(a) | f32_snorm(b) << 16)
V_BINARY(cvt_pknorm_u16_f16, H, U, f32_unorm(a) | f32_unorm(b) << 16)

/* Byte b of c is replaced. No document says how it rounds: to nearest, as others measured on gfx90c, and ours ties to even. */
static inline u32 f32_u8(float a) { return (u32)__builtin_roundevenf(a > 0 ? a < 255 ? a : 255 : 0); }
V_TERNARY(cvt_pk_u8_f32, U, U, (c & ~(0xffu << (b & 3) * 8)) | f32_u8(F(a)) << (b & 3) * 8)

/* ---- Between floats ---- */

V_UNARY(cvt_f16_f32, F, TH, a)
/* A signalling NaN is made quiet */
static inline u32 quiet(u32 bits) { return (bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : bits; }
V_UNARY(cvt_f32_f16, W, U, quiet(half_bits_f32(a)))
V_UNARY(cvt_f32_bf16, W, U, quiet(a << 16))
V_BINARY(cvt_pkrtz_f16_f32, F, U, f32_half(a, ROUND_ZERO) | f32_half(b, ROUND_ZERO) << 16)
V_BINARY(cvt_pk_f16_f32, F, U, f32_half(a, ROUND_NEAREST) | f32_half(b, ROUND_NEAREST) << 16)
V_BINARY(cvt_pk_bf16_f32, F, U, f32_bf16(a) | f32_bf16(b) << 16)

/* ---- Integers to narrower ones, with saturation ---- */

static inline u32 to_u16(u32 a) { return a > 0xffff ? 0xffff : a; }
static inline u32 to_i16(i32 a) { return (u32)(a > 0x7fff ? 0x7fff : a < -0x8000 ? -0x8000 : a) & 0xffff; }
V_BINARY(cvt_pk_u16_u32, U, U, to_u16(a) | to_u16(b) << 16)
V_BINARY(cvt_pk_i16_i32, S, U, to_i16(a) | to_i16(b) << 16)

#define FLOAT_MODS (MOD_SRC | MOD_CLAMP | MOD_OMOD)

static const op ops[] = {
    {"v_cvt_f32_i32", cvt_f32_i32, "=fb", .mods = MOD_CLAMP | MOD_OMOD},
    {"v_cvt_f32_u32", cvt_f32_u32, "=fb", .mods = MOD_CLAMP | MOD_OMOD},
    {"v_cvt_f32_ubyte0", cvt_f32_ubyte0, "=fb", .mods = MOD_CLAMP | MOD_OMOD, .matter = 0xff},
    {"v_cvt_f32_ubyte1", cvt_f32_ubyte1, "=fb", .mods = MOD_CLAMP | MOD_OMOD, .matter = 0xff00},
    {"v_cvt_f32_ubyte2", cvt_f32_ubyte2, "=fb", .mods = MOD_CLAMP | MOD_OMOD, .matter = 0xff0000},
    {"v_cvt_f32_ubyte3", cvt_f32_ubyte3, "=fb", .mods = MOD_CLAMP | MOD_OMOD, .matter = 0xff000000},
    {"v_cvt_off_f32_i4", cvt_off_f32_i4, "=fb", .mods = MOD_CLAMP | MOD_OMOD, .matter = 0xf},
    {"v_cvt_f16_u16", cvt_f16_u16, "=hw", .mods = MOD_CLAMP | MOD_OMOD},
    {"v_cvt_f16_i16", cvt_f16_i16, "=hw", .mods = MOD_CLAMP | MOD_OMOD},
    {"v_cvt_u32_f32", cvt_u32_f32, "=bf", .mods = MOD_SRC},
    {"v_cvt_i32_f32", cvt_i32_f32, "=bf", .mods = MOD_SRC},
    {"v_cvt_rpi_i32_f32", cvt_rpi_i32_f32, "=bf", .mods = MOD_SRC},
    {"v_cvt_flr_i32_f32", cvt_flr_i32_f32, "=bf", .mods = MOD_SRC},
    {"v_cvt_u16_f16", cvt_u16_f16, "=wh", .mods = MOD_SRC},
    {"v_cvt_i16_f16", cvt_i16_f16, "=wh", .mods = MOD_SRC},
    {"v_cvt_norm_i16_f16", cvt_norm_i16_f16, "=wh", .mods = MOD_SRC},
    {"v_cvt_norm_u16_f16", cvt_norm_u16_f16, "=wh", .mods = MOD_SRC},
    {"v_cvt_pknorm_i16_f32", cvt_pknorm_i16_f32, "=qff", .mods = MOD_SRC},
    {"v_cvt_pknorm_u16_f32", cvt_pknorm_u16_f32, "=qff", .mods = MOD_SRC},
    {"v_cvt_pknorm_i16_f16", cvt_pknorm_i16_f16, "=qhh", .mods = MOD_SRC | MOD_OP_SEL},
    {"v_cvt_pknorm_u16_f16", cvt_pknorm_u16_f16, "=qhh", .mods = MOD_SRC | MOD_OP_SEL},
    {"v_cvt_pk_u8_f32", cvt_pk_u8_f32, "=bfbb", .mods = MOD_SRC},
    {"v_cvt_f16_f32", cvt_f16_f32, "=hf", .mods = FLOAT_MODS},
    {"v_cvt_f32_f16", cvt_f32_f16, "=fh", .mods = FLOAT_MODS},
    {"v_cvt_f32_bf16", cvt_f32_bf16, "=fk", .mods = FLOAT_MODS},
    {"v_cvt_pkrtz_f16_f32", cvt_pkrtz_f16_f32, "=pff", .mods = MOD_SRC | MOD_CLAMP},
    {"v_cvt_pk_f16_f32", cvt_pk_f16_f32, "=pff", .mods = MOD_SRC},
    {"v_cvt_pk_bf16_f32", cvt_pk_bf16_f32, "=Kff", .mods = MOD_SRC},
    {"v_cvt_pk_u16_u32", cvt_pk_u16_u32, "=qbb"},
    {"v_cvt_pk_i16_i32", cvt_pk_i16_i32, "=qbb"},
};
FAMILY(family_convert, "convert", CLASS_VALU, MOD_DPP | MOD_SDWA | MOD_SEXT, ops);
