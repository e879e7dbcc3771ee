/* Floats of 8, 6 and 4 bits: their values, and conversion to them. Sources: OCP 8-bit Floating Point Specification 1.0 (E4M3,
 * E5M2); OCP Microscaling Formats 1.0 (E2M3, E3M2, E2M1, the scale E8M0); LLVM's APFloat (the FNUZ forms, gfx942's). */
#ifndef GFXSIM_LOWP_H
#define GFXSIM_LOWP_H
#include "types.h"

typedef enum lowp_format {
  LOWP_FP8,      /* E4M3: no infinity, NaN is 0x7f and 0xff */
  LOWP_BF8,      /* E5M2: as IEEE */
  LOWP_FP6,      /* E2M3; this and the next two have neither infinity nor NaN */
  LOWP_BF6,      /* E3M2 */
  LOWP_FP4,      /* E2M1; formats up to here have the numbers that f8f6f4 instructions select them with */
  LOWP_FP8_FNUZ, /* E4M3 and E5M2 with a bias greater by one; 0x80 is the only NaN, and there is no -0 */
  LOWP_BF8_FNUZ,
  LOWP_FORMATS
} lowp_format;

/* Bits of a code. */
int lowp_bits(lowp_format format);
/* The value of every code (256, 64 or 16 of them). */
const float *lowp_values(lowp_format format);

/* How a value becomes a code. */
typedef struct lowp_rounding {
  bool saturate;   /* what is too large, infinity too, becomes the largest; else infinity, or NaN where there is none */
  bool stochastic; /* a random fraction is added and the sum truncated, instead of round to nearest even */
  u32 seed;        /* its upper bits are the fraction */
  int source_bits; /* stochastic: mantissa bits of the source's type */
} lowp_rounding;

/* The code of a value; of the formats without NaN it is the largest one for NaN. */
u32 lowp_encode(lowp_format format, double value, lowp_rounding how);

/* 2^(code - 127), and NaN for 255: E8M0. */
double lowp_scale(u8 code);

#endif
