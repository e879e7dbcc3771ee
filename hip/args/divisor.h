/* A division by a number that the host knows, shared by host and device. */
#ifndef TANDEM_HIP_ARGS_DIVISOR_H
#define TANDEM_HIP_ARGS_DIVISOR_H

#include <stdint.h>

/* Divides numbers below HIP_DIVIDED, 2^30, without a division, which would take 100 to 200 clocks before a workgroup's first
 * load: n / by = (2 n factor) >> (32 + shift), with shift = floor(log2(by)) and factor = ceil(2^(31 + shift) / by). */
typedef struct hip_divisor {
  uint32_t factor, shift; /* factor 0: there is none, and quotient_of divides by an instruction sequence */
} hip_divisor;

enum { HIP_DIVIDED = 1 << 30 };

#ifndef __HIP__
/* by: 1 to 2^30. */
static inline hip_divisor hip_divisor_of(int64_t by) {
  uint32_t shift = 0;
  while (by >> (shift + 1) > 0) shift++;
  return (hip_divisor){(uint32_t)((((uint64_t)1 << (31 + shift)) + (uint64_t)by - 1) / (uint64_t)by), shift};
}
/* For numbers below `below`; by: 1 to `below`. */
static inline hip_divisor hip_divisor_below(int64_t by, int64_t below) {
  return below <= HIP_DIVIDED ? hip_divisor_of(by) : (hip_divisor){0, 0};
}
#else
static inline __attribute__((device, always_inline)) uint32_t quotient(uint32_t n, hip_divisor by) {
  return (uint32_t)((uint64_t)(2 * n) * by.factor >> 32) >> by.shift;
}
/* a / b for numbers >= 0, by the divisor of b if there is one. */
static inline __attribute__((device, always_inline)) int64_t quotient_of(int64_t a, int64_t b, hip_divisor by) {
  return __builtin_expect(by.factor != 0, 1) ? quotient((uint32_t)a, by) : a / b;
}
#endif

#endif
