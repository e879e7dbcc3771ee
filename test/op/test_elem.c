/* The conversions of src/base/elem.h, against what the formats' definitions say in f64: every word of f16 and bf16, and
 * between each two neighbours the floats around their middle. A NaN stays a quiet one, with its sign. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/base/elem.h"

typedef struct format {
  const char *name;
  int fraction; /* bits of it; an exponent of 15 - fraction bits stands above */
  float (*to_f32)(uint16_t);
  uint16_t (*from_f32)(float);
} format;

/* In functions of their own, because those of elem.h are inlined everywhere else. */
static float f16_to_f32(uint16_t word) { return tdm_f16_to_f32(word); }
static float bf16_to_f32(uint16_t word) { return tdm_bf16_to_f32(word); }
static uint16_t f32_to_f16(float x) { return tdm_f32_to_f16(x); }
static uint16_t f32_to_bf16(float x) { return tdm_f32_to_bf16(x); }

static const format formats[] = {{"f16", 10, f16_to_f32, f32_to_f16}, {"bf16", 7, bf16_to_f32, f32_to_bf16}};

static unsigned infinity_of(const format *f) { return 0x7fffu >> f->fraction << f->fraction; }

/* A word without its sign. The one of infinity has the value that the next exponent would have: halfway to it is where
 * rounding ends at infinity. */
static double value_of(const format *f, unsigned word) {
  int exponent = (int)(word >> f->fraction), bias = (1 << (14 - f->fraction)) - 1;
  int fraction = (int)(word & ((1u << f->fraction) - 1));
  return exponent == 0 ? ldexp(fraction, 1 - bias - f->fraction)
                       : ldexp(fraction + (1 << f->fraction), exponent - bias - f->fraction);
}

static void expect(const format *f, float x, unsigned want) {
  unsigned got = f->from_f32(x), negative = f->from_f32(-x);
  if (got != want || negative != (want | 0x8000))
    fail_msg("%s of +-%a: got 0x%04x and 0x%04x, must be 0x%04x and 0x%04x", f->name, (double)x, got, negative, want,
             want | 0x8000);
}

static void test_numbers(void **state) {
  (void)state;
  for (const format *f = formats; f < formats + 2; f++)
    for (unsigned word = 0; word < infinity_of(f); word++) {
      float x = (float)value_of(f, word);
      assert_true(f->to_f32((uint16_t)word) == x && f->to_f32((uint16_t)(word | 0x8000)) == -x);
      expect(f, x, word);
      double middle = (value_of(f, word) + value_of(f, word + 1)) / 2;
      float at = (float)middle;
      assert_true((double)at == middle);
      expect(f, at, word + (word & 1)); /* to the even one */
      expect(f, nextafterf(at, 0), word);
      expect(f, nextafterf(at, INFINITY), word + 1);
    }
}

static void test_infinity_and_nan(void **state) {
  (void)state;
  for (const format *f = formats; f < formats + 2; f++) {
    unsigned infinity = infinity_of(f), quiet = 1u << (f->fraction - 1);
    assert_true(f->to_f32((uint16_t)infinity) == INFINITY && f->to_f32((uint16_t)(infinity | 0x8000)) == -INFINITY);
    expect(f, INFINITY, infinity);
    for (unsigned word = infinity + 1; word < 0x8000; word++) {
      uint32_t bits = tdm_bits(f->to_f32((uint16_t)word));
      assert_true((bits & 0x7fffffff) > 0x7f800000);
      /* What made the word a NaN may stand below the fraction's bits that are kept: the quiet bit keeps it one. */
      for (uint32_t low = 0; low < 2; low++) {
        unsigned want = word | quiet, got = f->from_f32(tdm_from_bits(bits | low)),
                 negative = f->from_f32(tdm_from_bits(bits | low | 0x80000000));
        if (got != want || negative != (want | 0x8000))
          fail_msg("%s of the NaN 0x%08x: got 0x%04x, must be 0x%04x", f->name, (unsigned)(bits | low), got, want);
      }
    }
    assert_int_equal(f->from_f32(tdm_from_bits(0x7f800001)), infinity | quiet);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_infinity_and_nan)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
