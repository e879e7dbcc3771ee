/* Conversions. Every expectation is written from the descriptions in the CDNA 4 ISA, chapter 12. */
#include "sim/test/half_expect.h"

EXPECT(f_i32, bits((float)(i32)(u32)a))
EXPECT(f_u32, bits((float)(u32)a))
EXPECT(f_byte0, bits((float)(a & 0xff)))
EXPECT(f_byte1, bits((float)(a >> 8 & 0xff)))
EXPECT(f_byte2, bits((float)(a >> 16 & 0xff)))
EXPECT(f_byte3, bits((float)(a >> 24 & 0xff)))
/* The table of the ISA: 0 to 7 sixteenths, then -8 to -1 */
EXPECT(f_i4, bits((float)((a & 15) < 8 ? (i64)(a & 15) : (i64)(a & 15) - 16) / 16))
EXPECT(h_u16, half_from((float)(a & 0xffff)))
EXPECT(h_i16, half_from((float)(i16)(u16)a))

/* Toward zero, saturated, NaN to 0: in double every f32 and every limit is exact. */
static i64 whole(double x, double least, double most) {
  return isnan(x) ? 0 : (i64)(x <= least ? least : x >= most ? most : trunc(x));
}
EXPECT(u32_f, (u32)whole(f(a), 0, UINT32_MAX))
EXPECT(i32_f, (u32)whole(f(a), INT32_MIN, INT32_MAX))
EXPECT(i32_f_neg, (u32)whole(-fabs((double)f(a)), INT32_MIN, INT32_MAX))
EXPECT(rpi, (u32)whole(floor((double)(f(a) + 0.5f)), INT32_MIN, INT32_MAX))
EXPECT(flr, (u32)whole(floor((double)f(a)), INT32_MIN, INT32_MAX))
EXPECT(u16_h, (u32)whole(half_value(low(a)), 0, 0xffff))
EXPECT(i16_h, (u32)whole(half_value(low(a)), -0x8000, 0x7fff) & 0xffff)

/* In double the product is exact; nearest even */
static u32 scaled(double x, double least, double scale) {
  double y = isnan(x) ? 0 : fmin(fmax(x, least), 1) * scale;
  return (u32)(i32)nearbyint(y) & 0xffff;
}
EXPECT(snorm_h, scaled(half_value(low(a)), -1, 32767))
EXPECT(unorm_h, scaled(half_value(low(a)), 0, 65535))
EXPECT(pk_snorm_f, pair(scaled(f(a), -1, 32767), scaled(f(b), -1, 32767)))
EXPECT(pk_unorm_f, pair(scaled(f(a), 0, 65535), scaled(f(b), 0, 65535)))
EXPECT(pk_snorm_h, pair(scaled(half_value(low(a)), -1, 32767), scaled(half_value(low(b)), -1, 32767)))
EXPECT(pk_unorm_h, pair(scaled(half_value(low(a)), 0, 65535), scaled(half_value(low(b)), 0, 65535)))
EXPECT(pk_snorm_h_high, pair(scaled(half_value(high(a)), -1, 32767), scaled(half_value(low(b)), -1, 32767)))

/* Into byte b of c; saturated, NaN to 0, to nearest even */
static u32 with_byte(u32 word, u32 byte, float x) {
  u8 bytes[4];
  memcpy(bytes, &word, sizeof bytes);
  bytes[byte & 3] = isnan(x) ? 0 : (u8)nearbyint(fmin(fmax((double)x, 0), 255));
  memcpy(&word, bytes, sizeof word);
  return word;
}
EXPECT(pk_u8, with_byte((u32)c, (u32)b, f(a)))
EXPECT(pk_u8_abs, with_byte((u32)c, 2, fabsf(f(a))))

EXPECT(h_f, half_from(f(a)))
EXPECT(f_h, bits((float)half_value(low(a))))
EXPECT(f_h_high, bits((float)half_value(high(a))))
EXPECT(f_bf, bits(bfloat(low(a)) * 1.0f))
EXPECT(pk_h_f, pair(half_from(f(a)), half_from(f(b))))
EXPECT(pk_bf_f, pair(bfloat_from(f(a)), bfloat_from(f(b))))
EXPECT(pk_bf_f_signs, pair(bfloat_from(-f(a)), bfloat_from(fabsf(f(b)))))

static u64 within(i64 value, i64 least, i64 most) {
  return (u64)(value < least ? least : value > most ? most : value) & 0xffff;
}
EXPECT(pk_u16, within((u32)a, 0, 0xffff) | within((u32)b, 0, 0xffff) << 16)
EXPECT(pk_i16, within((i32)(u32)a, -0x8000, 0x7fff) | within((i32)(u32)b, -0x8000, 0x7fff) << 16)

#define ROUND16(mode) ".amdhsa_float_round_mode_16_64 " #mode "\n"
#define ROUND32(mode) ".amdhsa_float_round_mode_32 " #mode "\n"

static const instruction_test tests[] = {
    {"v_cvt_f32_i32 v10, v2", VECTOR32, f_i32, .edges = "i"},
    {"v_cvt_f32_u32 v10, v2", VECTOR32, f_u32, .edges = "i"},
    {"v_cvt_f32_i32 v10, v2", VECTOR32, f_i32, .edges = "i", .kernel = ROUND32(2), .round = FE_DOWNWARD},
    {"v_cvt_f32_u32 v10, v2", VECTOR32, f_u32, .edges = "i", .kernel = ROUND32(1), .round = FE_UPWARD},
    {"v_cvt_f32_ubyte0 v10, v2", VECTOR32, f_byte0, .edges = "i"},
    {"v_cvt_f32_ubyte1 v10, v2", VECTOR32, f_byte1, .edges = "i"},
    {"v_cvt_f32_ubyte2 v10, v2", VECTOR32, f_byte2, .edges = "i"},
    {"v_cvt_f32_ubyte3 v10, v2", VECTOR32, f_byte3, .edges = "i"},
    {"v_cvt_off_f32_i4 v10, v2", VECTOR32, f_i4, .edges = "i"},
    {"v_cvt_f16_u16 v10, v2", VECTOR32, h_u16, .edges = "i"},
    {"v_cvt_f16_i16 v10, v2", VECTOR32, h_i16, .edges = "i"},
    {"v_cvt_f16_u16 v10, v2", VECTOR32, h_u16, .edges = "i", .kernel = ROUND16(3), .round = FE_TOWARDZERO},
    {"v_cvt_u32_f32 v10, v2", VECTOR32, u32_f, .edges = "f"},
    {"v_cvt_i32_f32 v10, v2", VECTOR32, i32_f, .edges = "f"},
    {"v_cvt_i32_f32 v10, -|v2|", VECTOR32, i32_f_neg, .edges = "f"},
    {"v_cvt_rpi_i32_f32 v10, v2", VECTOR32, rpi, .edges = "f"},
    {"v_cvt_flr_i32_f32 v10, v2", VECTOR32, flr, .edges = "f"},
    {"v_cvt_u16_f16 v10, v2", VECTOR32, u16_h, .edges = "p"},
    {"v_cvt_i16_f16 v10, v2", VECTOR32, i16_h, .edges = "p"},
    {"v_cvt_norm_i16_f16 v10, v2", VECTOR32, snorm_h, .edges = "p"},
    {"v_cvt_norm_u16_f16 v10, v2", VECTOR32, unorm_h, .edges = "p"},
    {"v_cvt_pknorm_i16_f32 v10, v2, v4", VECTOR32, pk_snorm_f, .edges = "f"},
    {"v_cvt_pknorm_u16_f32 v10, v2, v4", VECTOR32, pk_unorm_f, .edges = "f"},
    {"v_cvt_pknorm_i16_f16 v10, v2, v4", VECTOR32, pk_snorm_h, .edges = "p"},
    {"v_cvt_pknorm_u16_f16 v10, v2, v4", VECTOR32, pk_unorm_h, .edges = "p"},
    {"v_cvt_pknorm_i16_f16 v10, v2, v4 op_sel:[1,0,0]", VECTOR32, pk_snorm_h_high, .edges = "p"},
    {"v_cvt_pk_u8_f32 v10, v2, v4, v6", VECTOR32, pk_u8, .edges = "f"},
    {"v_cvt_pk_u8_f32 v10, v2, v4, v6", VECTOR32, pk_u8, .edges = "i"},
    {"v_cvt_pk_u8_f32 v10, |v2|, 2, v6", VECTOR32, pk_u8_abs, .edges = "f"},
    {"v_cvt_f16_f32 v10, v2", VECTOR32, h_f, 'h', .edges = "f"},
    {"v_cvt_f16_f32 v10, v2", VECTOR32, h_f, 'h', .edges = "f", .kernel = ROUND16(1), .round = FE_UPWARD},
    {"v_cvt_f16_f32 v10, v2", VECTOR32, h_f, 'h', .edges = "f", .kernel = ROUND16(2), .round = FE_DOWNWARD},
    {"v_cvt_f16_f32 v10, v2", VECTOR32, h_f, 'h', .edges = "f", .kernel = ROUND16(3), .round = FE_TOWARDZERO},
    {"v_cvt_f32_f16 v10, v2", VECTOR32, f_h, 'f', .edges = "p"},
    {"v_cvt_f32_f16_sdwa v10, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", VECTOR32, f_h_high, 'f', .edges = "p"},
    {"v_cvt_f32_bf16 v10, v2", VECTOR32, f_bf, 'f', .edges = "k", .chip = "gfx950"},
    {"v_cvt_pkrtz_f16_f32 v10, v2, v4", VECTOR32, pk_h_f, 'p', .edges = "f", .round = FE_TOWARDZERO},
    {"v_cvt_pk_f16_f32 v10, v2, v4", VECTOR32, pk_h_f, 'p', .edges = "f", .chip = "gfx950"},
    {"v_cvt_pk_bf16_f32 v10, v2, v4", VECTOR32, pk_bf_f, 'K', .edges = "f", .chip = "gfx950"},
    {"v_cvt_pk_bf16_f32 v10, -v2, |v4|", VECTOR32, pk_bf_f_signs, 'K', .edges = "f", .chip = "gfx950"},
    {"v_cvt_pk_u16_u32 v10, v2, v4", VECTOR32, pk_u16, .edges = "i"},
    {"v_cvt_pk_i16_i32 v10, v2, v4", VECTOR32, pk_i16, .edges = "i"},
};
TABLE(convert);
