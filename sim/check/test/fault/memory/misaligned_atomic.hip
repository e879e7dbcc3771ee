#include "../fault.h"

/* An atomic of 64 bits needs all 8 bytes aligned, other than a load. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)in, (void)unwritten, (void)n;
  unsigned long *to = (unsigned long *)((char *)out + PLANTED(4, 8));
  __hip_atomic_exchange(to, 1ul, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);  // fault: misaligned
}
