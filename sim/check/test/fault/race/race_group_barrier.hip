#include "../fault.h"

/* Waves of one workgroup exchange data through global memory. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  (void)unwritten;
  int t = lane_x(), *own = out + 256 * group_x();
  own[t] = n;
  sync();
  own[t] = in[t] + n;  // fault: global memory race
  PLANTED((void)0, sync());
  own[128 + t] = own[127 - t];  // fault: global memory race
}
