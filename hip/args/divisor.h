/* A division by a number that the host knows, shared by host and device. */
#ifndef TANDEM_HIP_ARGS_DIVISOR_H
#define TANDEM_HIP_ARGS_DIVISOR_H

#include <stdint.h>

/* Divides numbers below 2^30 without a division, which would take 100 to 200 clocks before a workgroup's first load: n / by =
 * (2 n factor) >> (32 + shift), with shift = floor(log2(by)) and factor = ceil(2^(31 + shift) / by). */
typedef struct hip_divisor {
  uint32_t factor, shift;
} hip_divisor;

#ifndef __HIP__
/* by: 1 to 2^30. */
static inline hip_divisor hip_divisor_of(int64_t by) {
  uint32_t shift = 0;
  while (by >> (shift + 1) > 0) shift++;
  return (hip_divisor){(uint32_t)((((uint64_t)1 << (31 + shift)) + (uint64_t)by - 1) / (uint64_t)by), shift};
}
#else
static inline __attribute__((device, always_inline)) uint32_t quotient(uint32_t n, hip_divisor by) {
  return (uint32_t)((uint64_t)(2 * n) * by.factor >> 32) >> by.shift;
}
#endif

#endif
