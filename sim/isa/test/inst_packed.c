/* Packed and mixed arithmetic. Every expectation is written from the pseudocode of the CDNA 4 ISA, chapter 12. */
#include "sim/test/half_expect.h"

static i64 s16(u64 x) { return (i16)(u16)x; }
static i64 within(i64 value, i64 least, i64 most) { return value < least ? least : value > most ? most : value; }

/* Both halves: `r` finds the sources' halves in x, y, z, and in p and q as signed ones */
#define EACH(symbol, r)                           \
  static u64 symbol##_half(u32 x, u32 y, u32 z) { \
    i64 p = s16(x), q = s16(y), s = s16(z);       \
    (void)p, (void)q, (void)s;                    \
    return (u64)(r) & 0xffff;                     \
  }                                               \
  EXPECT(symbol, pair(symbol##_half(low(a), low(b), low(c)), symbol##_half(high(a), high(b), high(c))))

EACH(add, x + y)
EACH(sub, x - y)
EACH(mul, x *y)
EACH(mad, x *y + z)
EACH(add_u_clamp, within((i64)x + y, 0, 0xffff))
EACH(sub_u_clamp, within((i64)x - y, 0, 0xffff))
EACH(mad_u_clamp, within((i64)x *y + z, 0, 0xffff))
EACH(add_i_clamp, within(p + q, -0x8000, 0x7fff))
EACH(sub_i_clamp, within(p - q, -0x8000, 0x7fff))
EACH(mad_i_clamp, within(p *q + s, -0x8000, 0x7fff))
EACH(shl, y << (x & 15))
EACH(shr, y >> (x & 15))
EACH(sar, q >> (x & 15))
EACH(min_u, x < y ? x : y)
EACH(max_u, x > y ? x : y)
EACH(min_i, p < q ? x : y)
EACH(max_i, p > q ? x : y)
EXPECT(add_crossed, pair(high(a) + low(b), low(a) + high(b)))

EACH(add_h, half_add(x, y))
EACH(mul_h, half_mul(x, y))
EACH(fma_h, half_fma(x, y, z))
EACH(min_h, half_min(x, y))
EACH(max_h, half_max(x, y))
static bool any_nan(u32 x, u32 y, u32 z) { return half_nan(x) || half_nan(y) || half_nan(z); }
EACH(minimum3, any_nan(x, y, z) ? 0x7e00 : half_min(half_min(x, y), z))
EACH(maximum3, any_nan(x, y, z) ? 0x7e00 : half_max(half_max(x, y), z))
EXPECT(fmac_h, pair(half_fma(low(a), low(b), low(old)), half_fma(high(a), high(b), high(old))))
EXPECT(fma_h_chosen, pair(half_fma(high(a) ^ 0x8000, low(b), low(c)), half_fma(low(a), high(b) ^ 0x8000, low(c))))
/* An inline constant is in the low half alone. */
EXPECT(add_h_one, pair(half_add(low(a), 0x3c00), half_add(high(a), 0)))
static u64 clamp_h(u32 h) {
  double x = half_value(h);
  return isnan(x) || x <= 0 ? 0 : x >= 1 ? 0x3c00 : h;
}
EACH(add_h_clamp, clamp_h(half_add(x, y)))

static float first(u64 x) { return f(x); }
static float second(u64 x) { return f(x >> 32); }
static u64 two(float low_value, float high_value) { return bits(low_value) | bits(high_value) << 32; }
EXPECT(add_ff, two(first(a) + first(b), second(a) + second(b)))
EXPECT(mul_ff, two(first(a) * first(b), second(a) * second(b)))
EXPECT(fma_ff, two(fmaf(first(a), first(b), first(c)), fmaf(second(a), second(b), second(c))))
EXPECT(fma_ff_chosen, two(fmaf(-second(a), first(b), first(c)), fmaf(first(a), -second(b), first(c))))
static u64 clamp_f(float x) { return bits(x > 0 ? fminf(x, 1) : 0); }
EXPECT(add_ff_clamp, clamp_f(first(a) + first(b)) | clamp_f(second(a) + second(b)) << 32)
EXPECT(mov_pair, (a & UINT32_MAX) | (b & UINT32_MAX) << 32)
EXPECT(mov_chosen, (a >> 32) | (b >> 32) << 32)
EXPECT(mov_crossed, (a >> 32) | (b & UINT32_MAX) << 32)

/* ---- Mixed: f32, or the half of an f16 ---- */

static float hf(u32 h) { return (float)half_value(h); }
EXPECT(mix_f32, bits(fmaf(f(a), f(b), f(c))))
EXPECT(mix_halves, bits(fmaf(hf(low(a)), hf(high(b)), f(c))))
EXPECT(mix_signs, bits(fmaf(-hf(low(a)), fabsf(hf(high(b))), -fabsf(f(c)))))
EXPECT(mix_clamp, clamp_f(fmaf(hf(low(a)), hf(low(b)), hf(low(c)))))
EXPECT(mix_low, half_from(fmaf(hf(low(a)), hf(low(b)), f(c))) | (old & 0xffff0000))
EXPECT(mix_high, (u64)half_from(fmaf(hf(low(a)), hf(low(b)), f(c))) << 16 | (old & 0xffff))

/* Constants as f16 sources are f16 in the low half; in the high half they are 0. Integers are the bits. */
EXPECT(mix_times_2, bits(fmaf(hf(low(a)), 2, f(c))))
EXPECT(mix_minus_4, bits(fmaf(hf(low(a)), -4, f(c))))
EXPECT(mix_abs_1, bits(fmaf(hf(low(a)), -1, f(c))))
EXPECT(mix_high_of_1, bits(fmaf(hf(low(a)), 0, f(c))))
EXPECT(mix_minus_high_of_1, bits(fmaf(hf(low(a)), -0.0f, f(c))))
EXPECT(mix_integer, bits(fmaf(hf(low(a)), 0x5p-24f, f(c))))
EXPECT(mix_minus_integer, bits(fmaf(hf(low(a)), -0x5p-24f, f(c))))
EXPECT(mix_two_constants, bits(fmaf(hf(low(a)), 0.5f, 4)))
EXPECT(mix_f32_constant, bits(fmaf(hf(low(a)), 4, 0x5p-149f)))
EXPECT(mix_inverse_pi, bits(fmaf(hf(low(a)), hf(0x3118), f(c))))
EXPECT(mix_scalar_low, bits(fmaf(hf(low(a)), 2, f(c))))
EXPECT(mix_scalar_high, bits(fmaf(hf(low(a)), 1, f(c))))
EXPECT(mix_low_constant, half_from(fmaf(hf(low(a)), 2, 1)) | (old & 0xffff0000))
EXPECT(mix_high_constant, (u64)half_from(fmaf(hf(low(a)), 2, 1)) << 16 | (old & 0xffff))

#define UP ".amdhsa_float_round_mode_16_64 1\n"
#define UP32 ".amdhsa_float_round_mode_32 1\n"

static const instruction_test tests[] = {
    {"v_pk_add_u16 v10, v2, v4", VECTOR32, add, .edges = "i"},
    {"v_pk_add_u16 v10, v2, v4 op_sel:[1,0] op_sel_hi:[0,1]", VECTOR32, add_crossed, .edges = "i"},
    {"v_pk_sub_u16 v10, v2, v4", VECTOR32, sub, .edges = "i"},
    {"v_pk_add_i16 v10, v2, v4", VECTOR32, add, .edges = "i"},
    {"v_pk_sub_i16 v10, v2, v4", VECTOR32, sub, .edges = "i"},
    {"v_pk_mul_lo_u16 v10, v2, v4", VECTOR32, mul, .edges = "i"},
    {"v_pk_mad_u16 v10, v2, v4, v6", VECTOR32, mad, .edges = "i"},
    {"v_pk_mad_i16 v10, v2, v4, v6", VECTOR32, mad, .edges = "i"},
    {"v_pk_add_u16 v10, v2, v4 clamp", VECTOR32, add_u_clamp, .edges = "i"},
    {"v_pk_sub_u16 v10, v2, v4 clamp", VECTOR32, sub_u_clamp, .edges = "i"},
    {"v_pk_mad_u16 v10, v2, v4, v6 clamp", VECTOR32, mad_u_clamp, .edges = "i"},
    {"v_pk_add_i16 v10, v2, v4 clamp", VECTOR32, add_i_clamp, .edges = "i"},
    {"v_pk_sub_i16 v10, v2, v4 clamp", VECTOR32, sub_i_clamp, .edges = "i"},
    {"v_pk_mad_i16 v10, v2, v4, v6 clamp", VECTOR32, mad_i_clamp, .edges = "i"},
    {"v_pk_lshlrev_b16 v10, v2, v4", VECTOR32, shl, .edges = "i"},
    {"v_pk_lshrrev_b16 v10, v2, v4", VECTOR32, shr, .edges = "i"},
    {"v_pk_ashrrev_i16 v10, v2, v4", VECTOR32, sar, .edges = "i"},
    {"v_pk_min_u16 v10, v2, v4", VECTOR32, min_u, .edges = "i"},
    {"v_pk_max_u16 v10, v2, v4", VECTOR32, max_u, .edges = "i"},
    {"v_pk_min_i16 v10, v2, v4", VECTOR32, min_i, .edges = "i"},
    {"v_pk_max_i16 v10, v2, v4", VECTOR32, max_i, .edges = "i"},
    {"v_pk_add_f16 v10, v2, v4", VECTOR32, add_h, 'p', .edges = "p"},
    {"v_pk_add_f16 v10, v2, v4", VECTOR32, add_h, 'p', .edges = "p", .kernel = UP, .round = FE_UPWARD},
    {"v_pk_add_f16 v10, v2, 1.0", VECTOR32, add_h_one, 'p', .edges = "p"},
    {"v_pk_add_f16 v10, v2, v4 clamp", VECTOR32, add_h_clamp, .edges = "p"},
    {"v_pk_mul_f16 v10, v2, v4", VECTOR32, mul_h, 'p', .edges = "p"},
    {"v_pk_fma_f16 v10, v2, v4, v6", VECTOR32, fma_h, 'p', .edges = "p"},
    {"v_pk_fma_f16 v10, v2, v4, v6 op_sel:[1,0,0] op_sel_hi:[0,1,0] neg_lo:[1,0,0] neg_hi:[0,1,0]", VECTOR32, fma_h_chosen, 'p',
     .edges = "p"},
    {"v_pk_min_f16 v10, v2, v4", VECTOR32, min_h, 'p', .edges = "p"},
    {"v_pk_max_f16 v10, v2, v4", VECTOR32, max_h, 'p', .edges = "p"},
    {"v_pk_minimum3_f16 v10, v2, v4, v6", VECTOR32, minimum3, 'p', .edges = "p", .chip = "gfx950"},
    {"v_pk_maximum3_f16 v10, v2, v4, v6", VECTOR32, maximum3, 'p', .edges = "p", .chip = "gfx950"},
    {"v_pk_fmac_f16 v10, v2, v4", VECTOR32, fmac_h, 'p', .edges = "p"},
    {"v_pk_add_f32 v[10:11], v[2:3], v[4:5]", VECTOR64, add_ff, 'F'},
    {"v_pk_mul_f32 v[10:11], v[2:3], v[4:5]", VECTOR64, mul_ff, 'F'},
    {"v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7]", VECTOR64, fma_ff, 'F'},
    {"v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7]", VECTOR64, fma_ff, 'F', .kernel = UP32, .round = FE_UPWARD},
    {"v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7] op_sel:[1,0,0] op_sel_hi:[0,1,0] neg_lo:[1,0,0] neg_hi:[0,1,0]", VECTOR64,
     fma_ff_chosen, 'F'},
    {"v_pk_add_f32 v[10:11], v[2:3], v[4:5] clamp", VECTOR64, add_ff_clamp},
    {"v_pk_mov_b32 v[10:11], v[2:3], v[4:5]", VECTOR64, mov_pair},
    {"v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[1,1]", VECTOR64, mov_chosen},
    {"v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[1,0]", VECTOR64, mov_crossed},
    {"v_fma_mix_f32 v10, v2, v4, v6", VECTOR32, mix_f32, 'f', .edges = "f"},
    {"v_fma_mix_f32 v10, v2, v4, v6 op_sel:[0,1,0] op_sel_hi:[1,1,0]", VECTOR32, mix_halves, 'f', .edges = "ppf"},
    {"v_fma_mix_f32 v10, -v2, |v4|, -|v6| op_sel:[0,1,0] op_sel_hi:[1,1,0]", VECTOR32, mix_signs, 'f', .edges = "ppf"},
    {"v_fma_mix_f32 v10, v2, v4, v6 op_sel_hi:[1,1,1] clamp", VECTOR32, mix_clamp, 'f', .edges = "p"},
    {"v_fma_mixlo_f16 v10, v2, v4, v6 op_sel_hi:[1,1,0]", VECTOR32, mix_low, 'h', .edges = "ppf"},
    {"v_fma_mixhi_f16 v10, v2, v4, v6 op_sel_hi:[1,1,0]", VECTOR32, mix_high, 'p', .edges = "ppf"},
    {"v_fma_mix_f32 v10, v2, 2.0, v6 op_sel_hi:[1,1,0]", VECTOR32, mix_times_2, 'f', .edges = "ppf"},
    {"v_fma_mix_f32 v10, v2, -4.0, v6 op_sel_hi:[1,1,0]", VECTOR32, mix_minus_4, 'f', .edges = "ppf"},
    {"v_fma_mix_f32 v10, v2, -|1.0|, v6 op_sel_hi:[1,1,0]", VECTOR32, mix_abs_1, 'f', .edges = "ppf"},
    {"v_fma_mix_f32 v10, v2, 1.0, v6 op_sel:[0,1,0] op_sel_hi:[1,1,0]", VECTOR32, mix_high_of_1, 'f', .edges = "ppf"},
    {"v_fma_mix_f32 v10, v2, neg(1.0), v6 op_sel:[0,1,0] op_sel_hi:[1,1,0]", VECTOR32, mix_minus_high_of_1, 'f',
     .edges = "ppf"},
    {"v_fma_mix_f32 v10, v2, 5, v6 op_sel_hi:[1,1,0]", VECTOR32, mix_integer, 'f', .edges = "ppf"},
    {"v_fma_mix_f32 v10, 5, neg(v2), v6 op_sel_hi:[1,1,0]", VECTOR32, mix_minus_integer, 'f', .edges = "ppf"},
    {"v_fma_mix_f32 v10, v2, 0.5, 4.0 op_sel_hi:[1,1,1]", VECTOR32, mix_two_constants, 'f', .edges = "ppf"},
    {"v_fma_mix_f32 v10, v2, 4.0, 5 op_sel_hi:[1,0,0]", VECTOR32, mix_f32_constant, 'f', .edges = "ppf"},
    {"v_fma_mix_f32 v10, v2, 0.15915494, v6 op_sel_hi:[1,1,0]", VECTOR32, mix_inverse_pi, 'f', .edges = "ppf"},
    {"s_mov_b32 s22, 0x3c004000\n v_fma_mix_f32 v10, v2, s22, v6 op_sel_hi:[1,1,0]", VECTOR32, mix_scalar_low, 'f',
     .edges = "ppf"},
    {"s_mov_b32 s22, 0x3c004000\n v_fma_mix_f32 v10, v2, s22, v6 op_sel:[0,1,0] op_sel_hi:[1,1,0]", VECTOR32, mix_scalar_high,
     'f', .edges = "ppf"},
    {"v_fma_mixlo_f16 v10, v2, 2.0, 1.0 op_sel_hi:[1,1,1]", VECTOR32, mix_low_constant, 'h', .edges = "ppf"},
    {"v_fma_mixhi_f16 v10, v2, 2.0, 1.0 op_sel_hi:[1,1,0]", VECTOR32, mix_high_constant, 'p', .edges = "ppf"},
};
TABLE(packed);
