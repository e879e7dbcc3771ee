#include "../fault.h"

/* Lanes part by what nobody wrote. The atomic keeps the branch from becoming a select. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  const int *from = PLANTED(unwritten, in);
  out[item_x()] = n;
  if (from[item_x()] > 7)  // fault: uninitialised
    __hip_atomic_exchange(&out[item_x()], n + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
