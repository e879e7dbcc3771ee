#include "../fault.h"

/* Each wave reads what the other has written. Whichever runs first, one of the two lines sees the other wave's access. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ int box[128];
  (void)unwritten;
  int t = lane_x();
  box[t] = n;
  sync();
  box[t] = in[t] + n;  // fault: LDS race
  PLANTED((void)0, sync());
  out[item_x()] = box[127 - t];  // fault: LDS race
}
