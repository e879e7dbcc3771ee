/* Dot products. Every expectation is written from the CDNA 4 ISA: the pseudocode of 12.10, in which every product is added in
 * turn, and 6.4 on MODE. */
#include "sim/test/half_expect.h"

static i64 element(u64 x, int n, int width, bool sign) {
  i64 value = (i64)((u32)x >> (n * width)) & ((1 << width) - 1);
  return sign && value >> (width - 1) != 0 ? value - (1 << width) : value;
}
static i64 dot(u64 a, u64 b, u64 c, int width, bool sign) {
  i64 sum = sign ? (i64)(i32)(u32)c : (i64)(u32)c;
  for (int n = 0; n < 32 / width; n++) sum += element(a, n, width, sign) * element(b, n, width, sign);
  return sum;
}
static u64 within(i64 value, i64 least, i64 most) { return (u32)(value < least ? least : value > most ? most : value); }

EXPECT(dot2_i, (u32)dot(a, b, c, 16, true))
EXPECT(dot2_u, (u32)dot(a, b, c, 16, false))
EXPECT(dot4_i, (u32)dot(a, b, c, 8, true))
EXPECT(dot4_u, (u32)dot(a, b, c, 8, false))
EXPECT(dot8_i, (u32)dot(a, b, c, 4, true))
EXPECT(dot8_u, (u32)dot(a, b, c, 4, false))
EXPECT(dot2_i_clamp, within(dot(a, b, c, 16, true), INT32_MIN, INT32_MAX))
EXPECT(dot4_i_clamp, within(dot(a, b, c, 8, true), INT32_MIN, INT32_MAX))
EXPECT(dot8_u_clamp, within(dot(a, b, c, 4, false), 0, UINT32_MAX))
EXPECT(dot2c_i, (u32)dot(a, b, old, 16, true))
EXPECT(dot4c_i, (u32)dot(a, b, old, 8, true))
EXPECT(dot8c_i, (u32)dot(a, b, old, 4, true))

/* Floats take denormals for zeros, as sources and as results. */
static float flushed(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }
static float flushed_half(u32 h) { return flushed((float)half_value((h & 0x7c00) == 0 ? h & 0x8000 : h)); }
static float product(u64 a, u64 b, int n, bool brain) {
  u32 x = n == 0 ? low(a) : high(a), y = n == 0 ? low(b) : high(b);
  return brain ? flushed(bfloat(x)) * flushed(bfloat(y)) : flushed_half(x) * flushed_half(y);
}
EXPECT(dot2_f16, bits(flushed(flushed(f(c)) + product(a, b, 0, false) + product(a, b, 1, false))))
EXPECT(dot2c_f16, bits(flushed(flushed(f(old)) + product(a, b, 0, false) + product(a, b, 1, false))))
EXPECT(dot2_bf16, bits(flushed(product(a, b, 0, true) + product(a, b, 1, true) + flushed(f(c)))))
EXPECT(dot2c_bf16, bits(flushed(flushed(f(old)) + product(a, b, 0, true) + product(a, b, 1, true))))

#define ROUND_UP ".amdhsa_float_round_mode_32 1\n"

static const instruction_test tests[] = {
    {"v_dot2_i32_i16 v10, v2, v4, v6", VECTOR32, dot2_i, .edges = "i"},
    {"v_dot2_u32_u16 v10, v2, v4, v6", VECTOR32, dot2_u, .edges = "i"},
    {"v_dot4_i32_i8 v10, v2, v4, v6", VECTOR32, dot4_i, .edges = "i"},
    {"v_dot4_u32_u8 v10, v2, v4, v6", VECTOR32, dot4_u, .edges = "i"},
    {"v_dot8_i32_i4 v10, v2, v4, v6", VECTOR32, dot8_i, .edges = "i"},
    {"v_dot8_u32_u4 v10, v2, v4, v6", VECTOR32, dot8_u, .edges = "i"},
    {"v_dot2_i32_i16 v10, v2, v4, v6 clamp", VECTOR32, dot2_i_clamp, .edges = "i"},
    {"v_dot4_i32_i8 v10, v2, v4, v6 clamp", VECTOR32, dot4_i_clamp, .edges = "i"},
    {"v_dot8_u32_u4 v10, v2, v4, v6 clamp", VECTOR32, dot8_u_clamp, .edges = "i"},
    {"v_dot2c_i32_i16 v10, v2, v4", VECTOR32, dot2c_i, .edges = "i"},
    {"v_dot4c_i32_i8 v10, v2, v4", VECTOR32, dot4c_i, .edges = "i"},
    {"v_dot8c_i32_i4 v10, v2, v4", VECTOR32, dot8c_i, .edges = "i"},
    {"v_dot2_f32_f16 v10, v2, v4, v6", VECTOR32, dot2_f16, 'f', .edges = "ppf"},
    {"v_dot2c_f32_f16 v10, v2, v4", VECTOR32, dot2c_f16, 'f', .edges = "ppf"},
    {"v_dot2_f32_bf16 v10, v2, v4, v6", VECTOR32, dot2_bf16, 'f', .edges = "kkf", .chip = "gfx950"},
    {"v_dot2c_f32_bf16 v10, v2, v4", VECTOR32, dot2c_bf16, 'f', .edges = "kkf", .chip = "gfx950"},
    {"v_dot2_f32_f16 v10, v2, v4, v6", VECTOR32, dot2_f16, 'f', .edges = "ppf", .kernel = ROUND_UP},
};
TABLE(dot);
