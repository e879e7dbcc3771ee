/* f16 and bf16 as bits in the low half of a dword: exact conversions that vectorise and know every rounding mode. */
#ifndef GFXSIM_HALF_H
#define GFXSIM_HALF_H
#include "ops.h"

/* The encoding of MODE's FP_ROUND fields. Source: MI300 ISA, "MODE register". */
typedef enum rounding { ROUND_NEAREST, ROUND_UP, ROUND_DOWN, ROUND_ZERO } rounding;

/* How results of f16 and f64 are rounded. */
static inline u32 half_rounding(const wave *w) { return w->mode >> 2 & 3; }

/* A signalling NaN stays one. */
static inline u32 half_bits_f32(u32 half) {
  u32 magnitude = half & 0x7fff, sign = (half & 0x8000) << 16;
  u32 scaled = bits_f32(as_f32(magnitude << 13) * 0x1p112f); /* exact, for denormals too */
  return sign | (magnitude >= 0x7c00 ? 0x7f800000 | magnitude << 13 : scaled);
}
static inline float half_f32(u32 half) { return as_f32(half_bits_f32(half)); }

/* What is added below the kept bits so that cutting rounds: `unit` is the last kept bit. */
static inline u32 round_addend(u32 magnitude, u32 unit, bool negative, u32 round) {
  u32 nearest = (unit >> 1) - 1 + ((magnitude & unit) != 0);
  bool away = round == (negative ? ROUND_DOWN : ROUND_UP);
  return round == ROUND_NEAREST ? nearest : away ? unit - 1 : 0;
}

static inline u32 f32_half(float value, u32 round) {
  u32 bits = bits_f32(value), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  bool negative = sign != 0;
  u32 normal = (magnitude + round_addend(magnitude, 1u << 13, negative, round) - (112u << 23)) >> 13;
  /* Denormal f16: the fraction with its leading one is shifted until its unit is 2^-24. Below 2^-26 any shift of 25 rounds
   * alike: nearest to 0, away from zero to 1. */
  u32 exponent = magnitude >> 23, shift = exponent < 101 ? 25 : 126 - (exponent > 112 ? 112 : exponent);
  u32 fraction = exponent < 101 ? magnitude != 0 : (magnitude & 0x7fffff) | 0x800000;
  u32 denormal = (fraction + round_addend(fraction, 1u << shift, negative, round)) >> shift;
  bool to_infinity = round == ROUND_NEAREST || round == (negative ? ROUND_DOWN : ROUND_UP);
  u32 finite = magnitude < 0x38800000 ? denormal : magnitude < 0x47800000 ? normal : to_infinity ? 0x7c00 : 0x7bff;
  u32 special = magnitude == 0x7f800000 ? 0x7c00 : 0x7e00 | (magnitude >> 13 & 0x3ff);
  return sign | (magnitude >= 0x7f800000 ? special : finite);
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
  u32 bits = bits_f32(sum);
  bool inexact = error > 0 || error < 0, even = (bits & 1) == 0;
  u32 step = (error > 0) == (sum > 0) ? 1 : ~0u;
  /* Opposite numbers add up to -0 when rounding down. */
  bool minus = round == ROUND_DOWN && sum == 0 && ((bits_f32(a) ^ bits_f32(b)) >> 31) != 0;
  return as_f32(inexact && even ? bits + step : minus ? 0x80000000 : bits);
}

/* The product of two f16 is exact in f32. */
static inline float fma_half(float a, float b, float c, u32 round) { return nan3(add_to_odd(a * b, c, round), a, b, c); }

#endif
