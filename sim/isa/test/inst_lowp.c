/* Conversions from and to 8, 6 and 4 bits. A code is found by going through all of the format's values (mfma_shape.c), so that
 * nothing is shared with the simulator's way. The formats' sources are in sim/isa/op/small_float.h. */
#include "sim/test/expect.h"
#include "sim/test/mfma_shape.h"

/* ---- What is expected ---- */

static int mantissa_of(type t) { return t == F32 ? 23 : t == F16 ? 10 : 7; }
static bool saturates(type t) { return t == FP6 || t == BF6 || t == FP4; }

/* Codes without sign are ordered like their values; the one after the last finite one would be as far from it as that from the
 * one before. */
static u32 narrow(type t, double value, bool stochastic, u32 seed, type source) {
  u32 sign_bit = 1u << (type_bits(t) - 1), sign = signbit(value) ? sign_bit : 0, last = sign_bit - 1, code = 0;
  bool fnuz = t == FP8_FNUZ || t == BF8_FNUZ;
  while (!isfinite(value_of(t, last))) last--;
  u32 over = saturates(t) ? sign | last : t == BF8 ? sign | 0x7c : fnuz ? 0x80 : sign | 0x7f;
  if (isnan(value)) return saturates(t) ? sign | last : fnuz ? 0x80 : t == BF8 ? sign | 0x7e : sign | 0x7f;
  double magnitude = fabs(value);
  while (code < last && value_of(t, code + 1) <= magnitude) code++;
  double low = value_of(t, code), step = code < last ? value_of(t, code + 1) - low : low - value_of(t, code - 1);
  double part = (magnitude - low) / step; /* at least 1 only above the last */
  if (part >= 1) return over;
  int width = stochastic ? mantissa_of(source) - (t == FP8 || t == FP6 || t == FP8_FNUZ ? 3 : t == FP4 ? 1 : 2) : 0;
  if (stochastic)
    code += floor(part * ldexp(1, width)) + (seed >> (32 - width)) >= ldexp(1, width);
  else
    code += part > 0.5 || (part == 0.5 && code % 2 == 1);
  if (code > last) return over;
  return code == 0 && fnuz ? 0 : sign | code;
}

/* double to f16 or bf16, to nearest even: between the two neighbours that an f32 or the integer part gives. */
static u16 half(type t, double value) {
  if (isnan(value)) return 0x7fff;
  int exponent, mantissa = mantissa_of(t), least = t == F16 ? -14 : -126, most = t == F16 ? 15 : 127;
  u16 sign = signbit(value) ? 0x8000 : 0;
  if (value == 0) return sign;
  frexp(value, &exponent);
  exponent = exponent - 1 < least ? least : exponent - 1;
  double units = isinf(value) ? INFINITY : nearbyint(ldexp(fabs(value), mantissa - exponent));
  if (units * ldexp(1, exponent - mantissa) >= ldexp(1, most + 1)) return (u16)(sign | (t == F16 ? 0x7c00 : 0x7f80));
  return (u16)(sign | (((u32)(exponent - least) << mantissa) + (u32)units));
}

static double scale_of(u64 word) { return (word >> 23 & 255) == 255 ? NAN : ldexp(1, (int)(word >> 23 & 255) - 127); }

/* ---- What the text makes of the operands, and so the expectation: numbers of a useful size, with many ties ---- */

#define SMALL(v) " v_and_b32 " v ", 0x8ffc0000, " v "\n v_add_u32 " v ", 0x37800000, " v "\n"
#define SMALL_BF16(v) " v_and_b32 " v ", 0x8fff8fff, " v "\n v_add_u32 " v ", 0x37803780, " v "\n"
#define SCALE " v_and_b32 v8, 0x3ffffff, v8\n v_add_u32 v8, 0x3e000000, v8\n"
static float small(u64 bits) { return f((bits & 0x8ffc0000) + 0x37800000); }
static double small_bf16(u64 bits, int n) { return value_of(BF16, ((bits & 0x8fff8fff) + 0x37803780) >> (16 * n) & 0xffff); }
static double small_scale(u64 c) { return scale_of((c & 0x3ffffff) + 0x3e000000); }

/* `x` is the lane's item; `r` the result's dwords. */
#define WIDE(symbol, body)                                                             \
  static void symbol(const test_item wave[TEST_LANES], int lane, u64 exec, u32 r[4]) { \
    const test_item *x = &wave[lane];                                                  \
    (void)exec;                                                                        \
    body;                                                                              \
  }
static void set_part(u32 *word, int part, int bits, u32 code) {
  u32 mask = (bits == 32 ? ~0u : (1u << bits) - 1) << (part * bits);
  *word = (*word & ~mask) | (code << (part * bits) & mask);
}
static void set_pair(u32 *word, int part, int bits, u32 low, u32 high) { set_part(word, part, 2 * bits, low | high << bits); }

#define PLAIN(name, t)                                                                                                   \
  EXPECT(f32_##name, bits((float)value_of(t, a & 0xff)))                                                                 \
  EXPECT(f32_byte_##name, bits((float)value_of(t, a >> 16 & 0xff)))                                                      \
  EXPECT(pk_f32_##name, bits((float)value_of(t, a & 0xff)) | bits((float)value_of(t, a >> 8 & 0xff)) << 32)              \
  EXPECT(pk_f32_high_##name, bits((float)value_of(t, a >> 16 & 0xff)) | bits((float)value_of(t, a >> 24 & 0xff)) << 32)  \
  WIDE(pk_##name, set_pair(r, 0, 8, narrow(t, f(x->a), 0, 0, F32), narrow(t, f(x->b), 0, 0, F32)))                       \
  WIDE(pk_small_##name, set_pair(r, 1, 8, narrow(t, -small(x->a), 0, 0, F32), narrow(t, fabsf(small(x->b)), 0, 0, F32))) \
  WIDE(sr_##name, set_part(r, 2, 8, narrow(t, small(x->a), 1, (u32)x->b, F32)))
PLAIN(fp8_fnuz, FP8_FNUZ)
PLAIN(bf8_fnuz, BF8_FNUZ)
PLAIN(fp8, FP8)
PLAIN(bf8, BF8)

#define PLAIN_ROWS(name, symbol, on)                                                                                        \
  {"v_cvt_f32_" name " v10, v2", VECTOR32, f32_##symbol, .real = 'f', .chip = on},                                          \
      {"v_cvt_f32_" name "_sdwa v10, v2 src0_sel:BYTE_2", VECTOR32, f32_byte_##symbol, .real = 'f', .chip = on},            \
      {"v_cvt_pk_f32_" name " v[10:11], v2", VECTOR64, pk_f32_##symbol, .real = 'F', .chip = on},                           \
      {"v_cvt_pk_f32_" name "_sdwa v[10:11], v2 src0_sel:WORD_1", VECTOR64, pk_f32_high_##symbol, .real = 'F', .chip = on}, \
      {"v_cvt_pk_" name "_f32 v10, v2, v4", VECTOR32, .wide = pk_##symbol, .edges = "f", .chip = on},                       \
      {SMALL("v2") SMALL("v4") "v_cvt_pk_" name "_f32 v10, -v2, |v4| op_sel:[0,0,1]", VECTOR32, .wide = pk_small_##symbol,  \
       .chip = on},                                                                                                         \
  {                                                                                                                         \
    SMALL("v2") "v_cvt_sr_" name "_f32 v10, v2, v4 op_sel:[0,0,0,1]", VECTOR32, .wide = sr_##symbol, .chip = on             \
  }

/* ---- With a scale, from v8 ---- */

#define SCALED8(name, t)                                                                                        \
  WIDE(scaled_f32_##name, r[0] = (u32)bits((float)(value_of(t, x->a >> 24 & 0xff) * scale_of(x->c[1]))))        \
  WIDE(scaled_f16_##name, set_part(r, 1, 16, half(F16, value_of(t, x->a >> 16 & 0xff) * small_scale(x->c[1])))) \
  WIDE(scaled_pk_##name, set_pair(r, 1, 8, narrow(t, small(x->a) / small_scale(x->c[1]), 0, 0, F32),            \
                                  narrow(t, small(x->b) / small_scale(x->c[1]), 0, 0, F32)))                    \
  WIDE(scaled_sr_##name, set_part(r, 3, 8, narrow(t, small(x->a) / small_scale(x->c[1]), 1, (u32)x->b, F32)))   \
  WIDE(scaled_sr_f16_##name,                                                                                    \
       set_part(r, 1, 8, narrow(t, value_of(F16, x->a & 0xffff) / small_scale(x->c[1]), 1, (u32)x->b, F16)))    \
  WIDE(scaled_sr_bf16_##name, set_part(r, 0, 8, narrow(t, small_bf16(x->a, 0) / small_scale(x->c[1]), 1, (u32)x->b, BF16)))
SCALED8(fp8, FP8)
SCALED8(bf8, BF8)
#define SCALED8_ROWS(name)                                                                                                 \
  {"v_cvt_scalef32_f32_" #name " v10, v2, v8 op_sel:[1,1,0]", VECTOR32, .wide = scaled_f32_##name, .real = 'f',            \
   .chip = "gfx950"},                                                                                                      \
      {SCALE "v_cvt_scalef32_f16_" #name " v10, v2, v8 op_sel:[0,1,1]",                                                    \
       VECTOR32,                                                                                                           \
       .wide = scaled_f16_##name,                                                                                          \
       .real = 'p',                                                                                                        \
       .edges = "p",                                                                                                       \
       .chip = "gfx950"},                                                                                                  \
      {SMALL("v2") SMALL("v4") SCALE "v_cvt_scalef32_pk_" #name "_f32 v10, v2, v4, v8 op_sel:[0,0,0,1]", VECTOR32,         \
       .wide = scaled_pk_##name, .chip = "gfx950"},                                                                        \
      {SMALL("v2") SCALE "v_cvt_scalef32_sr_" #name "_f32 v10, v2, v4, v8 op_sel:[0,0,1,1]", VECTOR32,                     \
       .wide = scaled_sr_##name, .chip = "gfx950"},                                                                        \
      {SCALE "v_cvt_scalef32_sr_" #name "_f16 v10, v2, v4, v8 op_sel:[0,0,1,0]", VECTOR32, .wide = scaled_sr_f16_##name,   \
       .chip = "gfx950"},                                                                                                  \
      {SMALL_BF16("v2") SCALE "v_cvt_scalef32_sr_" #name "_bf16 v10, v2, v4, v8", VECTOR32, .wide = scaled_sr_bf16_##name, \
       .chip = "gfx950"}

/* Pairs: `at` is the pair's first bit in v2; `to` the part of the result. */
#define PAIR(name, t, size, at, to)                                                                                           \
  WIDE(pair_f32_##name, r[0] = (u32)bits((float)(value_of(t, x->a >> (at) & ((1 << (size)) - 1)) * scale_of(x->c[1])));       \
       r[1] = (u32)bits((float)(value_of(t, x->a >> ((at) + (size)) & ((1 << (size)) - 1)) * scale_of(x->c[1]))))             \
  WIDE(pair_f16_##name, set_pair(r, 0, 16, half(F16, value_of(t, x->a & ((1 << (size)) - 1)) * small_scale(x->c[1])),         \
                                 half(F16, value_of(t, x->a >> (size) & ((1 << (size)) - 1)) * small_scale(x->c[1]))))        \
  WIDE(pair_bf16_##name, set_pair(r, 0, 16, half(BF16, value_of(t, x->a & ((1 << (size)) - 1)) * scale_of(x->c[1])),          \
                                  half(BF16, value_of(t, x->a >> (size) & ((1 << (size)) - 1)) * scale_of(x->c[1]))))         \
  WIDE(pair_from_f16_##name, set_pair(r, to, size, narrow(t, value_of(F16, x->a & 0xffff) / small_scale(x->c[1]), 0, 0, F16), \
                                      narrow(t, value_of(F16, x->a >> 16 & 0xffff) / small_scale(x->c[1]), 0, 0, F16)))       \
  WIDE(pair_from_bf16_##name, set_pair(r, 0, size, narrow(t, small_bf16(x->a, 0) / small_scale(x->c[1]), 0, 0, BF16),         \
                                       narrow(t, small_bf16(x->a, 1) / small_scale(x->c[1]), 0, 0, BF16)))
PAIR(fp8, FP8, 8, 16, 1)
PAIR(bf8, BF8, 8, 16, 1)
PAIR(fp4, FP4, 4, 8, 3)
#define PAIR_ROWS(name, from, to)                                                                                              \
  {"v_cvt_scalef32_pk_f32_" #name " v[10:11], v2, v8 " from, VECTOR64, .wide = pair_f32_##name, .real = 'F',                   \
   .chip = "gfx950"},                                                                                                          \
      {SCALE "v_cvt_scalef32_pk_f16_" #name " v10, v2, v8", VECTOR32, .wide = pair_f16_##name, .real = 'p', .chip = "gfx950"}, \
      {"v_cvt_scalef32_pk_bf16_" #name " v10, v2, v8", VECTOR32, .wide = pair_bf16_##name, .real = 'K', .chip = "gfx950"},     \
      {SCALE "v_cvt_scalef32_pk_" #name "_f16 v10, v2, v8 " to, VECTOR32, .wide = pair_from_f16_##name, .edges = "p",          \
       .chip = "gfx950"},                                                                                                      \
      {SMALL_BF16("v2") SCALE "v_cvt_scalef32_pk_" #name "_bf16 v10, v2, v8", VECTOR32, .wide = pair_from_bf16_##name,         \
       .chip = "gfx950"}

static double quotient(double value, double scale) { return isnan(scale) ? copysign(NAN, value) : value / scale; }
WIDE(fp4_f32, set_pair(r, 1, 4, narrow(FP4, quotient(small(x->a), scale_of(x->c[1])), 0, 0, F32),
                       narrow(FP4, quotient(small(x->b), scale_of(x->c[1])), 0, 0, F32)))
WIDE(fp4_sr_f32, set_pair(r, 2, 4, narrow(FP4, small(x->a) / small_scale(x->c[1]), 1, (u32)x->b, F32),
                          narrow(FP4, small(x->a >> 32) / small_scale(x->c[1]), 1, (u32)x->b, F32)))
WIDE(fp4_sr_f16, set_pair(r, 0, 4, narrow(FP4, value_of(F16, x->a & 0xffff) / small_scale(x->c[1]), 1, (u32)x->b, F16),
                          narrow(FP4, value_of(F16, x->a >> 16 & 0xffff) / small_scale(x->c[1]), 1, (u32)x->b, F16)))
WIDE(fp4_sr_bf16, set_pair(r, 3, 4, narrow(FP4, small_bf16(x->a, 0) / small_scale(x->c[1]), 1, (u32)x->b, BF16),
                           narrow(FP4, small_bf16(x->a, 1) / small_scale(x->c[1]), 1, (u32)x->b, BF16)))

/* ---- 32 elements: v[32:37] hold six words for narrow sources, v[32:47] and v[48:63] sixteen each for wide ones ---- */

#define EACH_16(line) " .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n " line "\n .endr\n"
#define NARROW_SOURCE " .irp n, 0,1,2,3,4,5\n v_alignbit_b32 v[32+\\n], v2, v4, 5*\\n\n .endr\n" SCALE
#define WIDE_SOURCE(and, add)                        \
  EACH_16("v_alignbit_b32 v[32+\\n], v2, v4, 2*\\n") \
  EACH_16("v_alignbit_b32 v[48+\\n], v4, v2, 2*\\n") \
  EACH_16("v_and_b32 v[32+\\n], " and ", v[32+\\n]") \
  EACH_16("v_and_b32 v[48+\\n], " and ", v[48+\\n]") \
  EACH_16("v_add_u32 v[32+\\n], " add ", v[32+\\n]") EACH_16("v_add_u32 v[48+\\n], " add ", v[48+\\n]") SCALE

static u32 align(u64 high, u64 low, int by) { return (u32)(((high << 32) | (low & 0xffffffff)) >> by); }
static u32 word_of(const test_item *x, int n, int step) {
  return n < 16 ? align(x->a, x->b, n * step) : align(x->b, x->a, (n - 16) * step);
}
static u32 six_bits(const test_item *x, int e) {
  u64 both = word_of(x, e * 6 / 32, 5) | (u64)word_of(x, e * 6 / 32 + 1, 5) << 32;
  return (u32)(both >> (e * 6 % 32) & 63);
}
/* Element e of 32 in the wide source: pairs of halves, or one per register. */
static double wide_element(const test_item *x, type t, int e) {
  if (t == F32) return small(word_of(x, e, 2));
  u32 word = word_of(x, e / 2, 2);
  return t == BF16 ? small_bf16(word, e % 2) : value_of(F16, word >> (16 * (e % 2)) & 0xffff);
}
/* The first four registers of 32 codes, or the last two. */
static void narrow_all(const test_item *x, type t, type source, bool in_turn, bool stochastic, int first, u32 r[4]) {
  u32 words[6] = {0};
  for (int e = 0; e < 32; e++) {
    int from = in_turn ? e / 2 + e % 2 * 16 : e;
    u32 code = narrow(t, wide_element(x, source, from) / small_scale(x->c[1]), stochastic, (u32)x->c[0], source);
    for (int n = 0; n < 6; n++) words[(e * 6 + n) / 32] |= (code >> n & 1) << ((e * 6 + n) % 32);
  }
  memcpy(r, words + first, (first == 0 ? 4 : 2) * sizeof *r);
}

#define SIX(name, t)                                                                                                          \
  WIDE(six_f32_##name,                                                                                                        \
       for (int n = 0; n < 4; n++) r[n] = (u32)bits((float)(value_of(t, six_bits(x, 9 * n + 4)) * small_scale(x->c[1]))))     \
  WIDE(six_f16_##name, for (int n = 0; n < 4; n++)                                                                            \
                           set_pair(r + n, 0, 16, half(F16, value_of(t, six_bits(x, 8 * n + 6)) * small_scale(x->c[1])),      \
                                    half(F16, value_of(t, six_bits(x, 8 * n + 7)) * small_scale(x->c[1]))))                   \
  WIDE(six_bf16_##name,                                                                                                       \
       for (int n = 0; n < 4; n++) set_pair(r + n, 0, 16, half(BF16, value_of(t, six_bits(x, 8 * n)) * small_scale(x->c[1])), \
                                            half(BF16, value_of(t, six_bits(x, 8 * n + 1)) * small_scale(x->c[1]))))          \
  WIDE(from_2x_low_##name, narrow_all(x, t, F32, true, false, 0, r))                                                          \
  WIDE(from_2x_high_##name, narrow_all(x, t, F32, true, false, 4, r))                                                         \
  WIDE(from_f16_##name, narrow_all(x, t, F16, false, false, 0, r))                                                            \
  WIDE(from_bf16_##name, narrow_all(x, t, BF16, false, false, 4, r))                                                          \
  WIDE(from_sr_f32_##name, narrow_all(x, t, F32, false, true, 0, r))                                                          \
  WIDE(from_sr_f16_##name, narrow_all(x, t, F16, false, true, 4, r))                                                          \
  WIDE(from_sr_bf16_##name, narrow_all(x, t, BF16, false, true, 0, r))
SIX(fp6, FP6)
SIX(bf6, BF6)

#define F32_SOURCE WIDE_SOURCE("0x8ffc0000", "0x37800000")
#define F16_SOURCE WIDE_SOURCE("-1", "0")
#define BF16_SOURCE WIDE_SOURCE("0x8fff8fff", "0x37803780")
#define MOVE4(r0, r1, r2, r3) \
  "\n v_mov_b32 v10, v" #r0 "\n v_mov_b32 v11, v" #r1 "\n v_mov_b32 v12, v" #r2 "\n v_mov_b32 v13, v" #r3
#define MOVE2(r0, r1) "\n v_mov_b32 v10, v" #r0 "\n v_mov_b32 v11, v" #r1
#define SIX_ROW(text, symbol, letter) {text, VECTOR128, .wide = symbol, .real = letter, .chip = "gfx950"}
#define SIX_ROWS(name)                                                                                                        \
  SIX_ROW(NARROW_SOURCE "v_cvt_scalef32_pk32_f32_" #name " v[64:95], v[32:37], v8" MOVE4(68, 77, 86, 95), six_f32_##name,     \
          'F'),                                                                                                               \
      SIX_ROW(NARROW_SOURCE "v_cvt_scalef32_pk32_f16_" #name " v[64:79], v[32:37], v8" MOVE4(67, 71, 75, 79), six_f16_##name, \
              'p'),                                                                                                           \
      SIX_ROW(NARROW_SOURCE "v_cvt_scalef32_pk32_bf16_" #name " v[64:79], v[32:37], v8" MOVE4(64, 68, 72, 76),                \
              six_bf16_##name, 'K'),                                                                                          \
      SIX_ROW(F32_SOURCE "v_cvt_scalef32_2xpk16_" #name "_f32 v[64:69], v[32:47], v[48:63], v8" MOVE4(64, 65, 66, 67),        \
              from_2x_low_##name, 0),                                                                                         \
      SIX_ROW(F32_SOURCE "v_cvt_scalef32_2xpk16_" #name "_f32 v[64:69], v[32:47], v[48:63], v8" MOVE2(68, 69),                \
              from_2x_high_##name, 0),                                                                                        \
      SIX_ROW(F16_SOURCE "v_cvt_scalef32_pk32_" #name "_f16 v[64:69], v[32:47], v8" MOVE4(64, 65, 66, 67), from_f16_##name,   \
              0),                                                                                                             \
      SIX_ROW(BF16_SOURCE "v_cvt_scalef32_pk32_" #name "_bf16 v[64:69], v[32:47], v8" MOVE2(68, 69), from_bf16_##name, 0),    \
      SIX_ROW(F32_SOURCE "v_cvt_scalef32_sr_pk32_" #name "_f32 v[64:69], v[32:63], v6, v8" MOVE4(64, 65, 66, 67),             \
              from_sr_f32_##name, 0),                                                                                         \
      SIX_ROW(F16_SOURCE "v_cvt_scalef32_sr_pk32_" #name "_f16 v[64:69], v[32:47], v6, v8" MOVE2(68, 69), from_sr_f16_##name, \
              0),                                                                                                             \
      SIX_ROW(BF16_SOURCE "v_cvt_scalef32_sr_pk32_" #name "_bf16 v[64:69], v[32:47], v6, v8" MOVE4(64, 65, 66, 67),           \
              from_sr_bf16_##name, 0)

static const instruction_test tests[] = {
    PLAIN_ROWS("fp8", fp8_fnuz, "gfx942"),
    PLAIN_ROWS("bf8", bf8_fnuz, "gfx942"),
    PLAIN_ROWS("fp8", fp8, "gfx950"),
    PLAIN_ROWS("bf8", bf8, "gfx950"),
    SCALED8_ROWS(fp8),
    SCALED8_ROWS(bf8),
    PAIR_ROWS(fp8, "op_sel:[1,0,0]", "op_sel:[0,0,1]"),
    PAIR_ROWS(bf8, "op_sel:[1,0,0]", "op_sel:[0,0,1]"),
    PAIR_ROWS(fp4, "op_sel:[1,0,0]", "op_sel:[0,0,1,1]"),
    {SMALL("v2") SMALL("v4") "v_cvt_scalef32_pk_fp4_f32 v10, v2, v4, v8 op_sel:[0,0,1,0]", VECTOR32, .wide = fp4_f32,
     .chip = "gfx950"},
    {SMALL("v2") SMALL("v3") SCALE "v_cvt_scalef32_sr_pk_fp4_f32 v10, v[2:3], v4, v8 op_sel:[0,0,0,1]", VECTOR32,
     .wide = fp4_sr_f32, .chip = "gfx950"},
    {SCALE "v_cvt_scalef32_sr_pk_fp4_f16 v10, v2, v4, v8", VECTOR32, .wide = fp4_sr_f16, .chip = "gfx950"},
    {SMALL_BF16("v2") SCALE "v_cvt_scalef32_sr_pk_fp4_bf16 v10, v2, v4, v8 op_sel:[0,0,1,1]", VECTOR32, .wide = fp4_sr_bf16,
     .chip = "gfx950"},
    SIX_ROWS(fp6),
    SIX_ROWS(bf6),
};
TABLE(lowp);
