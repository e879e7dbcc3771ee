#include "device.h"

/* n x n, through tiles of 16 x 16 in LDS, with a column of padding. */
KERNEL void transpose(const float *a, const float *unused, float *t, int n) {
  __shared__ float tile[16][17];
  (void)unused;
  int x = group_x() * 16 + lane_x(), y = group_y() * 16 + lane_y();
  if (x < n && y < n) tile[lane_y()][lane_x()] = a[y * n + x];
  sync();
  x = group_y() * 16 + lane_x();
  y = group_x() * 16 + lane_y();
  if (x < n && y < n) t[y * n + x] = tile[lane_x()][lane_y()];
}
