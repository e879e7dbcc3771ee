#include "../fault.h"

/* A buffer that the host forgot to fill; sums, shifts and masks carry what is undefined in it. */
KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  const int *from = PLANTED(unwritten, in);
  int known = from[item_x()] & 0;
  out[item_x() + 1024] = known + n;
  int sum = (from[item_x()] + in[item_x()]) << 3;
  out[item_x()] = sum ^ n;  // fault: uninitialised
}
