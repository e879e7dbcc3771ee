/* The kernel's one argument, a structure. */
#ifndef TANDEM_HIP_DEVICE_ARGUMENTS_H
#define TANDEM_HIP_DEVICE_ARGUMENTS_H

#include "types.h"

/* Brings the kernel's argument to the scalar cache, all lines of 64 bytes at once. What is read of it after that takes 120
 * clocks; else the first line of each part costs those that use it the latency of memory, one after the other. */
template <typename args>
DEVICE void fetch_args(const args *) {
  typedef const uint32_t __attribute__((address_space(4))) constant;
  constant *segment = (constant *)__builtin_amdgcn_kernarg_segment_ptr();
  uint32_t all = 0;
#pragma unroll
  for (int line = 0; line < (int)sizeof(args); line += 64) all |= segment[line / 4];
  asm volatile("" : : "s"(all));
  __builtin_amdgcn_sched_barrier(0);
}

/* The kernel's argument, read again with scalar loads: what only the end needs takes no registers in the loop. */
template <typename args>
DEVICE args args_again(const args *) {
  auto segment = __builtin_amdgcn_kernarg_segment_ptr();
  asm volatile("" : "+s"(segment));
  return *(const args *)segment;
}

#endif
