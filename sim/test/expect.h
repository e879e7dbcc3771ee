/* What the tables' expectations are written with. */
#ifndef SIM_TEST_EXPECT_H
#define SIM_TEST_EXPECT_H
#include <math.h>
#include <string.h>

#include "harness.h"

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;
typedef int64_t i64;
typedef int32_t i32;
typedef int16_t i16;
typedef int8_t i8;

static inline float f(u64 bits) {
  float value;
  u32 low = (u32)bits;
  memcpy(&value, &low, sizeof value);
  return value;
}
static inline u64 bits(float value) {
  u32 low;
  memcpy(&low, &value, sizeof low);
  return low;
}
static inline double d(u64 bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline u64 bits64(double value) {
  u64 bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#define EXPECT(symbol, r)                           \
  static u64 symbol(u64 a, u64 b, u64 c, u64 old) { \
    (void)a, (void)b, (void)c, (void)old;           \
    return (r);                                     \
  }

#endif
