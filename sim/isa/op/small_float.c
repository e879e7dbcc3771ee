#include "small_float.h"

#include <math.h>
#include <pthread.h>

typedef enum special { SPECIAL_NONE, SPECIAL_NAN, SPECIAL_IEEE, SPECIAL_FNUZ } special;

static const struct {
  int exponent_bits, mantissa_bits, bias;
  special special;
} formats[LOWP_FORMATS] = {
    [LOWP_FP8] = {4, 3, 7, SPECIAL_NAN},        [LOWP_BF8] = {5, 2, 15, SPECIAL_IEEE},
    [LOWP_FP6] = {2, 3, 1, SPECIAL_NONE},       [LOWP_BF6] = {3, 2, 3, SPECIAL_NONE},
    [LOWP_FP4] = {2, 1, 1, SPECIAL_NONE},       [LOWP_FP8_FNUZ] = {4, 3, 8, SPECIAL_FNUZ},
    [LOWP_BF8_FNUZ] = {5, 2, 16, SPECIAL_FNUZ}, [LOWP_F16] = {5, 10, 15, SPECIAL_IEEE},
    [LOWP_BF16] = {8, 7, 127, SPECIAL_IEEE},    [LOWP_F32] = {8, 23, 127, SPECIAL_IEEE},
};

int lowp_bits(lowp_format format) { return 1 + formats[format].exponent_bits + formats[format].mantissa_bits; }

static u32 sign_bit(lowp_format format) { return 1u << (lowp_bits(format) - 1); }

/* Infinity's code where there is one, else the code above the largest finite one. */
static u32 overflow_code(lowp_format format) {
  switch (formats[format].special) {
    case SPECIAL_NAN: return sign_bit(format) - 1;
    case SPECIAL_IEEE: return sign_bit(format) - (1u << formats[format].mantissa_bits);
    default: return sign_bit(format);
  }
}

/* ---- Values ---- */

double lowp_decode(lowp_format format, u32 code) {
  int mantissa_bits = formats[format].mantissa_bits;
  u32 sign = sign_bit(format), magnitude = code & (sign - 1);
  if (formats[format].special == SPECIAL_FNUZ && code == sign) return NAN;
  if (formats[format].special != SPECIAL_FNUZ && magnitude >= overflow_code(format)) {
    bool infinite = formats[format].special == SPECIAL_IEEE && magnitude == overflow_code(format);
    return copysign(infinite ? INFINITY : NAN, (code & sign) != 0 ? -1 : 1);
  }
  int exponent = (int)(magnitude >> mantissa_bits);
  u32 mantissa = magnitude & ((1u << mantissa_bits) - 1);
  if (exponent != 0) mantissa |= 1u << mantissa_bits;
  double value = ldexp(mantissa, (exponent != 0 ? exponent : 1) - formats[format].bias - mantissa_bits);
  return (code & sign) != 0 ? -value : value;
}

static float values[LOWP_NARROW][256];
static void fill(void) {
  for (int f = 0; f < LOWP_NARROW; f++)
    for (u32 code = 0; code < 1u << lowp_bits((lowp_format)f); code++)
      values[f][code] = (float)lowp_decode((lowp_format)f, code);
}

const float *lowp_values(lowp_format format) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fill);
  return values[format];
}

double lowp_scale(u8 code) { return code == 255 ? NAN : ldexp(1, code - 127); }

/* ---- Codes ---- */

static u32 nan_code(lowp_format format, u32 sign) {
  switch (formats[format].special) {
    case SPECIAL_NAN: return sign | (sign_bit(format) - 1);
    case SPECIAL_IEEE: return sign | (sign_bit(format) - 2); /* quiet */
    case SPECIAL_FNUZ: return sign_bit(format);
    default: return sign | (sign_bit(format) - 1); /* the largest */
  }
}

static u32 too_large(lowp_format format, u32 sign) {
  return formats[format].special == SPECIAL_IEEE ? sign | overflow_code(format) : nan_code(format, sign);
}

/* A count of units in the last place, 0 or more, to a whole number. Source of the stochastic rounding: AMD's
 * amd_hip_ocp_host.hpp, from_float_sr. */
static double whole(double units, lowp_rounding how, int mantissa_bits) {
  if (!how.stochastic) return rint(units);
  int below = formats[how.source].mantissa_bits - mantissa_bits; /* bits of the source below the unit */
  double down = floor(units), fraction = floor(ldexp(units - down, below)), random = (double)(how.seed >> (32 - below));
  return fraction + random >= ldexp(1, below) ? down + 1 : down;
}

u32 lowp_encode(lowp_format format, double value, lowp_rounding how) {
  int mantissa_bits = formats[format].mantissa_bits, least = 1 - formats[format].bias, exponent;
  u32 sign = signbit(value) ? sign_bit(format) : 0;
  if (isnan(value)) return nan_code(format, sign);
  if (isinf(value)) return too_large(format, sign);
  frexp(value, &exponent);
  exponent = value == 0 || exponent - 1 < least ? least : exponent - 1;
  double units = whole(ldexp(fabs(value), mantissa_bits - exponent), how, mantissa_bits);
  /* One unit more than the mantissa holds carries into the exponent by itself. */
  if (exponent - least > 1 << formats[format].exponent_bits) return too_large(format, sign);
  u32 code = (u32)units + ((u32)(exponent - least) << mantissa_bits);
  if (code >= overflow_code(format)) return too_large(format, sign);
  if (code == 0 && formats[format].special == SPECIAL_FNUZ) return 0;
  return sign | code;
}
