#include "../fault.h"

/* A barrier that the second wave never reaches. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  int wave = __builtin_amdgcn_readfirstlane(lane_x() >> 6);
  out[item_x()] = in[item_x()] + n;
  if (wave == 0 || PLANTED(0, 1)) __builtin_amdgcn_s_barrier();  // fault: barrier
}
