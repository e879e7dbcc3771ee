#include "../fault.h"

KERNEL void fault(const int *in, int *out, int *unwritten, int n) {
  __shared__ int local[136];
  (void)unwritten, (void)n;
  local[lane_x()] = in[item_x()];
  if (lane_x() < 8) local[128 + lane_x()] = 0;
  sync();
  const volatile int *from = (const volatile int *)((const char *)local + PLANTED(2, 4));
  int value = from[lane_x()];  // fault: misaligned
  out[item_x()] = value;
}
