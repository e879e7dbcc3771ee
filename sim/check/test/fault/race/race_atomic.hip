#include "../fault.h"

/* One workgroup adds to a word by an atomic, the other stores to it. The line of whichever comes second is reported. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten, (void)out;
  int *words = (int *)in;
  if (lane_x() != 0) return;
  if (group_x() == 0)
    __hip_atomic_fetch_add(words, n, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);  // fault: global memory race
  if (group_x() == 1) words[PLANTED(0, 1)] = n + 1;                                // fault: global memory race
}
