/* Floats of 8, 6 and 4 bits and, to convert from and to them, of 16 and 32: their values, and conversion to them. Sources: OCP
 * 8-bit Floating Point Specification 1.0 (E4M3, E5M2); OCP Microscaling Formats 1.0 (E2M3, E3M2, E2M1, the scale E8M0); LLVM's
 * APFloat (the FNUZ forms, gfx942's). */
#ifndef GFXSIM_LOWP_H
#define GFXSIM_LOWP_H
#include "sim/base/types.h"

typedef enum lowp_format {
  LOWP_FP8,      /* E4M3: no infinity, NaN is 0x7f and 0xff */
  LOWP_BF8,      /* E5M2: as IEEE */
  LOWP_FP6,      /* E2M3; this and the next two have neither infinity nor NaN */
  LOWP_BF6,      /* E3M2 */
  LOWP_FP4,      /* E2M1; formats up to here have the numbers that f8f6f4 instructions select them with */
  LOWP_FP8_FNUZ, /* E4M3 and E5M2 with a bias greater by one; 0x80 is the only NaN, and there is no -0 */
  LOWP_BF8_FNUZ,
  LOWP_NARROW, /* formats up to here have a table of values */
  LOWP_F16 = LOWP_NARROW,
  LOWP_BF16,
  LOWP_F32,
  LOWP_FORMATS
} lowp_format;

/* Bits of a code. */
int lowp_bits(lowp_format format);
/* The value of every code (256, 64 or 16 of them) of a format before LOWP_NARROW. */
const float *lowp_values(lowp_format format);
/* The value of a code of any format. */
double lowp_decode(lowp_format format, u32 code);

/* How a value becomes a code: to nearest even, or stochastically: as many bits of the seed, the uppermost, as the source's
 * mantissa has below the result's are added to those, and the sum is truncated. */
typedef struct lowp_rounding {
  bool stochastic;
  u32 seed;
  lowp_format source;
} lowp_rounding;

/* The code of a value. What is too large, infinity too, becomes infinity, or NaN where there is none. In the formats without
 * NaN it becomes the largest code, and NaN too. */
u32 lowp_encode(lowp_format format, double value, lowp_rounding how);

/* 2^(code - 127), and NaN for 255: E8M0. */
double lowp_scale(u8 code);

#endif
