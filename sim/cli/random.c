/* Buffers of random numbers, the same in every run. Floats are about normal, as benchmarks fill their arrays: the sum of four
 * uniform numbers, with mean 0 and variance 1, so that none is above 3.47. Integers and fp4 are random bits. */
#include <string.h>

#include "cli.h"
#include "sim/base/half.h"

/* Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t next_bits(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static float next_normal(uint64_t *state) {
  uint64_t bits = next_bits(state);
  int sum = 0;
  for (int part = 0; part < 4; part++) sum += (int)(bits >> 16 * part & 0xffff);
  return ((float)sum - 2 * 65535.0f) * (1.7320508f / 65536); /* each part has the variance 65536^2 / 12 */
}

/* To nearest even; no value is large. e5m2 is the upper half of an f16, whatever the chip. */
static uint8_t to_bf8(uint32_t half) { return (uint8_t)((half + 0x7f + (half >> 8 & 1)) >> 8); }

/* OCP e4m3; values below 2^-6 become 0. */
static uint8_t to_fp8(uint32_t half) {
  uint32_t sign = half >> 8 & 0x80, magnitude = ((half & 0x7fff) + 0x3f + (half >> 7 & 1)) >> 7;
  return (uint8_t)(magnitude >> 3 > 8 ? sign | (magnitude - (8 << 3)) : sign);
}

void random_fill(const char *type, size_t type_length, uint64_t seed, size_t bytes, uint8_t *data) {
  static const char *const names[] = {"f64", "f32", "f16", "bf16", "fp8", "bf8"};
  static const size_t sizes[] = {8, 4, 2, 2, 1, 1};
  enum { F64, F32, F16, BF16, FP8, BF8, KINDS };
  int kind = 0;
  while (kind < KINDS && (strlen(names[kind]) != type_length || strncmp(names[kind], type, type_length) != 0)) kind++;
  size_t size = kind < KINDS ? sizes[kind] : 1;
  for (size_t at = 0; at < bytes; at += size) {
    float value = kind < KINDS ? next_normal(&seed) : 0;
    double wide = (double)value;
    uint16_t half = (uint16_t)(kind == BF16 ? f32_bf16(value) : f32_half(value, ROUND_NEAREST));
    switch (kind) {
      case F64: memcpy(data + at, &wide, sizeof wide); break;
      case F32: memcpy(data + at, &value, sizeof value); break;
      case F16:
      case BF16: memcpy(data + at, &half, sizeof half); break;
      case FP8: data[at] = to_fp8(half); break;
      case BF8: data[at] = to_bf8(half); break;
      default: data[at] = (uint8_t)next_bits(&seed);
    }
  }
}
