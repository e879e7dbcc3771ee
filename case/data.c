/* The elements of a case: to doubles and back, by arithmetic on their definition. fill.c makes their values. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "op.h"

/* A 16-bit format: 1 sign bit, exponent bits, fraction bits; value = (1 + fraction) 2^(exponent - bias). */
typedef struct format {
  int fraction_bits, bias;
} format;

static const format f16 = {10, 15}, bf16 = {7, 127};

static double word_value(uint16_t word, format f) {
  int fraction = word & ((1 << f.fraction_bits) - 1);
  int exponent = (word & 0x7fff) >> f.fraction_bits;
  double sign = word & 0x8000 ? -1 : 1;
  if (exponent == 2 * f.bias + 1) return fraction != 0 ? NAN : sign * (double)INFINITY;
  if (exponent == 0) return sign * ldexp(fraction, 1 - f.bias - f.fraction_bits);
  return sign * ldexp((1 << f.fraction_bits) + fraction, exponent - f.bias - f.fraction_bits);
}

static uint16_t value_word(double value, format f) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  uint16_t infinite = (uint16_t)((2 * f.bias + 1) << f.fraction_bits);
  if (isnan(value)) return sign | infinite | (uint16_t)(1 << (f.fraction_bits - 1));
  if (value == 0) return sign;
  int exponent = 0;
  double magnitude = fabs(value);
  if (!isinf(magnitude)) frexp(magnitude, &exponent); /* magnitude = [0.5, 1) 2^exponent */
  int unit = exponent - 1 - f.fraction_bits;          /* weight of the last bit of the fraction */
  int least = 1 - f.bias - f.fraction_bits;           /* that of subnormal numbers */
  if (unit < least) unit = least;
  double units = isinf(magnitude) ? magnitude : rint(ldexp(magnitude, -unit)); /* rounds halves to even */
  double largest = ldexp(2 - ldexp(1, -f.fraction_bits), f.bias);
  if (ldexp(units, unit) > largest) return sign | infinite;
  /* Subnormal numbers have unit == least and no hidden bit; a carry into the next exponent comes out right by itself. */
  return (uint16_t)(sign | (uint16_t)((unit - least) * (1 << f.fraction_bits) + (int)units));
}

/* The values of all words: references read each element thousands of times. */
enum { WORDS = 1 << 16 };
static double f16_values[WORDS], bf16_values[WORDS];

static void find_values(void) {
  for (int w = 0; w < WORDS; w++) f16_values[w] = word_value((uint16_t)w, f16), bf16_values[w] = word_value((uint16_t)w, bf16);
}

static const double *values_of(case_element element) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static atomic_bool found; /* a load is cheaper than pthread_once, which was 3 % of a check's time */
  if (!atomic_load_explicit(&found, memory_order_acquire)) {
    pthread_once(&once, find_values);
    atomic_store_explicit(&found, true, memory_order_release);
  }
  return element == CASE_F16 ? f16_values : bf16_values;
}

double case_get(const void *base, int64_t offset, case_element element) {
  switch (element) {
    case CASE_F32: return (double)((const float *)base)[offset];
    case CASE_F16:
    case CASE_BF16: return values_of(element)[((const uint16_t *)base)[offset]];
    case CASE_I32: return ((const int32_t *)base)[offset];
    case CASE_I64: return (double)((const int64_t *)base)[offset];
  }
  return NAN;
}

void case_get_several(const void *base, int64_t offset, int64_t stride, int count, case_element element, double *to) {
  if (element == CASE_F32) {
    const float *from = (const float *)base + offset;
    for (int i = 0; i < count; i++) to[i] = (double)from[i * stride];
  } else if (element == CASE_F16 || element == CASE_BF16) {
    const double *values = values_of(element);
    const uint16_t *from = (const uint16_t *)base + offset;
    for (int i = 0; i < count; i++) to[i] = values[from[i * stride]];
  } else {
    for (int i = 0; i < count; i++) to[i] = case_get(base, offset + i * stride, element);
  }
}

void case_put(void *base, int64_t offset, case_element element, double value) {
  switch (element) {
    case CASE_F32: ((float *)base)[offset] = (float)value; break;
    case CASE_F16: ((uint16_t *)base)[offset] = value_word(value, f16); break;
    case CASE_BF16: ((uint16_t *)base)[offset] = value_word(value, bf16); break;
    case CASE_I32: ((int32_t *)base)[offset] = (int32_t)value; break;
    case CASE_I64: ((int64_t *)base)[offset] = (int64_t)value; break;
  }
}

/* ---- Words ---- */

void case_poison(void *base, size_t bytes, case_element element) {
  static const uint32_t words[] = {[CASE_F32] = 0x7fedface,
                                   [CASE_F16] = 0x7eda7eda,
                                   [CASE_BF16] = 0x7fda7fda,
                                   [CASE_I32] = 0x5a5a5a5a,
                                   [CASE_I64] = 0x5a5a5a5a};
  memcpy(base, &words[element], bytes < 4 ? bytes : 4);
  for (size_t done = 4; done < bytes; done *= 2) memcpy((char *)base + done, base, done < bytes - done ? done : bytes - done);
}

uint64_t case_mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}
