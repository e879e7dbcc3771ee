/* f16 and bf16 as bits in the low half of a dword: exact conversions in every rounding mode, written so that loops over lanes
 * vectorise. */
#ifndef GFXSIM_HALF_H
#define GFXSIM_HALF_H
#include "float_bits.h"

/* The encoding of MODE's FP_ROUND fields. Source: CDNA 4 ISA 3.5, "Mode register". */
typedef enum rounding { ROUND_NEAREST, ROUND_UP, ROUND_DOWN, ROUND_ZERO } rounding;

/* A signalling NaN stays one. */
static inline u32 half_bits_f32(u32 half) {
  u32 magnitude = half & 0x7fff, sign = (half & 0x8000) << 16;
  u32 scaled = bits_f32(as_f32(magnitude << 13) * 0x1p112f); /* exact, for denormals too */
  return sign | choose(magnitude >= 0x7c00, 0x7f800000 | magnitude << 13, scaled);
}
static inline float half_f32(u32 half) { return as_f32(half_bits_f32(half)); }

static inline u32 f32_half(float value, u32 round) {
  u32 bits = bits_f32(value), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  bool nearest = round == ROUND_NEAREST;
  u32 away = choose(sign != 0, -(u32)(round == ROUND_DOWN), -(u32)(round == ROUND_UP)); /* all ones: away from zero */
  /* What is added below the last kept bit so that cutting rounds, of a normal f16 ... */
  u32 addend = choose(nearest, 0xfff + (magnitude >> 13 & 1), 0x1fff & away);
  u32 normal = (magnitude + addend - (112u << 23)) >> 13;
  /* ... and of a denormal one, where the fraction with its leading one is shifted until its unit is 2^-24. Below 2^-26 a one
   * shifted by 25 rounds like the value: to 0, or away from zero to 1. */
  u32 exponent = magnitude >> 23;
  bool tiny = exponent < 101;
  u32 shift = choose(tiny, 25, (126 - exponent) & 31);
  u32 fraction = choose(tiny, magnitude != 0, (magnitude & 0x7fffff) | 0x800000);
  u32 below = choose(nearest, (1u << shift >> 1) - 1 + (fraction >> shift & 1), ((1u << shift) - 1) & away);
  u32 denormal = (fraction + below) >> shift;
  u32 overflow = 0x7bff + ((u32)nearest | (away & 1));
  u32 finite = choose(magnitude < 0x38800000, denormal, choose(magnitude < 0x47800000, normal, overflow));
  u32 special = choose(magnitude == 0x7f800000, 0x7c00, 0x7e00 | (magnitude >> 13 & 0x3ff));
  return sign | choose(magnitude >= 0x7f800000, special, finite);
}

static inline float bf16_f32(u32 half) { return as_f32(half << 16); }

/* To nearest even. */
static inline u32 f32_bf16(float value) {
  u32 bits = bits_f32(value);
  return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* a + b with the last bit set where the sum is inexact (round to odd): rounding it again to f16, which has 13 bits less, gives
 * what one rounding of the exact sum gives, in any mode. Needs the host's rounding to nearest. Source: Boldo, Melquiond,
 * "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008. */
static inline float add_to_odd(float a, float b, u32 round) {
  float sum = a + b, b_part = sum - a, error = (a - (sum - b_part)) + (b - b_part);
  u32 bits = bits_f32(sum), off = bits_f32(error), signs = bits_f32(a) ^ bits_f32(b);
  /* Masks: the error is a number but not 0 (infinities make it NaN), and the last bit is 0. */
  u32 inexact = -(u32)((off & 0x7fffffff) - 1 < 0x7f800000), even = (bits & 1) - 1;
  u32 step = 1 | (u32)((i32)(off ^ bits) >> 31); /* toward the error: 1 or -1 */
  /* Opposite numbers add up to -0 when rounding down. */
  u32 zero = -(u32)(bits << 1 == 0), minus = -(u32)(round == ROUND_DOWN) & zero & signs & 0x80000000;
  return as_f32((bits + (step & inexact & even)) | minus);
}

/* The product of two f16 is exact in f32. */
static inline float fma_half(float a, float b, float c, u32 round) { return nan3(add_to_odd(a * b, c, round), a, b, c); }

#endif
