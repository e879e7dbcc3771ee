#include "device.h"

/* The sum of 256 elements of each workgroup, by halves in LDS. */
KERNEL void reduce(const float *a, const float *unused, float *sums, int n) {
  __shared__ float part[256];
  (void)unused;
  int t = lane_x(), i = item_x();
  part[t] = i < n ? a[i] : 0;
  sync();
  for (int width = 128; width > 0; width /= 2) {
    if (t < width) part[t] += part[t + width];
    sync();
  }
  if (t == 0) sums[group_x()] = part[0];
}
