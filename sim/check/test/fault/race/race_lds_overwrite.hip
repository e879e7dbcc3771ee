#include "../fault.h"

/* A wave may write over what the other has read only after a barrier. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ int box[128];
  (void)unwritten;
  int t = lane_x();
  box[t] = in[t];
  sync();
  int x = box[127 - t];  // fault: LDS race
  PLANTED((void)0, sync());
  box[t] = x + n;  // fault: LDS race
  sync();
  out[item_x()] = box[t ^ 1];
}
