/* f16 and bf16 for expectations, in ways of their own: a finite f16 is an integer times 2^-24, and sums of their products are
 * integers times 2^-48 that fit in 128 bits. */
#ifndef SIM_TEST_HALF_EXPECT_H
#define SIM_TEST_HALF_EXPECT_H
#include <fenv.h>

#include "expect.h"

__extension__ typedef __int128 i128;

static inline u32 low(u64 pair) { return (u32)pair & 0xffff; }
static inline u32 high(u64 pair) { return (u32)pair >> 16; }
static inline u64 pair(u64 low_half, u64 high_half) { return (low_half & 0xffff) | (high_half & 0xffff) << 16; }

static inline bool half_nan(u32 h) { return (h & 0x7fff) > 0x7c00; }
static inline bool half_inf(u32 h) { return (h & 0x7fff) == 0x7c00; }
static inline bool half_negative(u32 h) { return (h & 0x8000) != 0; }

/* In units of 2^-24 */
static inline i64 half_units(u32 h) {
  i64 exponent = h >> 10 & 31, fraction = h & 0x3ff;
  i64 size = exponent == 0 ? fraction : (fraction | 0x400) << (exponent - 1);
  return half_negative(h) ? -size : size;
}
static inline double half_value(u32 h) {
  if (half_nan(h)) return (double)NAN;
  double size = half_inf(h) ? (double)INFINITY : fabs((double)half_units(h)) * 0x1p-24;
  return half_negative(h) ? -size : size;
}

/* Rounds units of 2^-48, by the host's mode. zero: the sign that a zero gets. */
static inline u32 half_round(i128 value, bool zero_negative) {
  if (value == 0) return zero_negative ? 0x8000 : 0;
  bool negative = value < 0;
  i128 size = negative ? -value : value;
  int shift = 24; /* of the unit in the last place: at least that of denormals */
  while (size >> (shift + 11) != 0) shift++;
  i128 kept = size >> shift, rest = size - (kept << shift), half = (i128)1 << (shift - 1);
  int mode = fegetround();
  bool up = mode == FE_TONEAREST ? rest > half || (rest == half && (kept & 1) != 0)
                                 : mode == (negative ? FE_DOWNWARD : FE_UPWARD) && rest > 0;
  kept += up;
  if (kept == 0x800) kept >>= 1, shift++;
  bool overflow = shift > 24 + 29;
  u32 bits = overflow       ? mode == FE_TONEAREST || mode == (negative ? FE_DOWNWARD : FE_UPWARD) ? 0x7c00 : 0x7bff
             : kept < 0x400 ? (u32)kept
                            : (u32)(shift - 24 + 1) << 10 | ((u32)kept & 0x3ff);
  return bits | (negative ? 0x8000 : 0);
}

/* a * b + c, rounded once */
static inline u32 half_fma(u32 a, u32 b, u32 c) {
  bool product_negative = half_negative(a) != half_negative(b);
  bool invalid = (half_inf(a) && (b & 0x7fff) == 0) || (half_inf(b) && (a & 0x7fff) == 0);
  bool product_inf = half_inf(a) || half_inf(b);
  if (half_nan(a) || half_nan(b) || half_nan(c) || invalid) return 0x7e00;
  if (product_inf && half_inf(c) && product_negative != half_negative(c)) return 0x7e00;
  if (product_inf) return product_negative ? 0xfc00 : 0x7c00;
  if (half_inf(c)) return c;
  i128 sum = (i128)half_units(a) * half_units(b) + (i128)half_units(c) * (1 << 24);
  bool both_zero = ((a & 0x7fff) == 0 || (b & 0x7fff) == 0) && (c & 0x7fff) == 0;
  bool same_sign = both_zero && product_negative == half_negative(c);
  return half_round(sum, same_sign ? product_negative : fegetround() == FE_DOWNWARD);
}
static inline u32 half_add(u32 a, u32 b) { return half_fma(a, 0x3c00, b); }
static inline u32 half_sub(u32 a, u32 b) { return half_add(a, half_nan(b) ? b : b ^ 0x8000); }
/* A zero of the product's sign leaves every product as it is. */
static inline u32 half_mul(u32 a, u32 b) { return half_fma(a, b, half_negative(a) != half_negative(b) ? 0x8000 : 0); }
static inline u32 half_mad(u32 a, u32 b, u32 c) { return half_add(half_mul(a, b), c); }

/* From an f32, by the host's mode */
static inline u32 half_from(float value) {
  u32 sign = (u32)bits(value) >> 16 & 0x8000;
  if (isnan(value)) return 0x7e00;
  if (isinf(value)) return sign | 0x7c00;
  if (fabsf(value) >= 0x1p17f) value = copysignf(0x1p17f, value);                /* too large whatever it is */
  if (value != 0 && fabsf(value) < 0x1p-40f) value = copysignf(0x1p-40f, value); /* too small whatever it is */
  return half_round((i128)((double)value * 0x1p48), sign != 0) | sign;
}

/* V_MIN_F16, V_MAX_F16 in IEEE mode */
static inline u32 half_pick(u32 a, u32 b, bool least) {
  bool a_signals = half_nan(a) && (a & 0x200) == 0, b_signals = half_nan(b) && (b & 0x200) == 0;
  if (a_signals || b_signals) return 0x7e00;
  if (half_nan(a)) return b;
  if (half_nan(b)) return a;
  if (half_units(a) == 0 && half_units(b) == 0) return half_negative(a) == least ? a : b;
  double x = half_value(a), y = half_value(b);
  return (x < y) == least ? a : b;
}
static inline u32 half_min(u32 a, u32 b) { return half_pick(a, b, true); }
static inline u32 half_max(u32 a, u32 b) { return half_pick(a, b, false); }

static inline float bfloat(u32 h) { return f((u64)h << 16); }
/* The nearer of the two neighbours, the even one of a tie */
static inline u32 bfloat_from(float value) {
  u32 whole = (u32)bits(value), below = whole >> 16, rest = whole & 0xffff;
  if (isnan(value)) return 0x7fc0;
  return below + (rest > 0x8000 || (rest == 0x8000 && (below & 1) != 0));
}

#endif
